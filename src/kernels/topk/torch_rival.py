import torch

OPERATORS = {
    "topk": lambda t, p: lambda: torch.topk(t["x"], t["values"].shape[-1], dim=-1, largest=bool(p["largest"]),
                                            sorted=bool(p["sorted"])),
}


def check(t, p, results):
    """PyTorch may take any of equal elements: the values have to be right, and stand where the indices say."""
    values, indices = results
    k = t["values"].shape[-1]
    ordered = torch.sort(t["x"].float(), dim=-1, descending=bool(p["largest"])).values[..., :k]
    got = values.float() if p["sorted"] else torch.sort(values.float(), dim=-1, descending=bool(p["largest"])).values
    if not torch.equal(got.nan_to_num(nan=1e38), ordered.nan_to_num(nan=1e38)):
        return "the values are not the best of their row"
    if not torch.equal(torch.gather(t["x"], -1, indices).float().nan_to_num(nan=1e38), values.float().nan_to_num(nan=1e38)):
        return "the indices do not point to the values"
    return ""


CHECKS = {"topk": check}
