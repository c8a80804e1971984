import torch


def kept(x, p):
    """Which tokens may be drawn, and the scaled logits."""
    x = x.float()
    ordered, columns = torch.sort(x, dim=-1, descending=True, stable=True)
    keep = torch.ones_like(ordered, dtype=torch.bool)
    if p["top_k"]:
        keep = torch.logical_and(keep, torch.arange(x.shape[-1], device=x.device) < p["top_k"])
    probabilities = torch.softmax((ordered / p["temperature"]).masked_fill(torch.logical_not(keep), -float("inf")), -1)
    if p["top_p"] < 1:
        before = probabilities.cumsum(-1) - probabilities
        first = torch.eq(torch.arange(x.shape[-1], device=x.device), 0)
        keep = torch.logical_and(keep, torch.logical_or(before < p["top_p"], first))
    keep = torch.logical_and(keep, probabilities >= p["min_p"] * probabilities[..., :1])
    return torch.zeros_like(keep).scatter(-1, columns, keep), x / p["temperature"]


def sample(t, p, wrap):
    if p["temperature"] == 0:
        return lambda: t["logits"].argmax(-1)

    def draw(logits):
        keep, x = kept(logits, p)
        probabilities = torch.softmax(x.masked_fill(torch.logical_not(keep), -float("inf")), -1)
        return (probabilities / torch.empty_like(probabilities).exponential_()).argmax(-1)

    f = wrap(draw)
    return lambda: f(t["logits"])


def check(t, p, results):
    """PyTorch has random numbers of its own: what it draws has to be one of the tokens that are kept."""
    if p["temperature"] == 0:
        return ""
    keep, _ = kept(t["logits"], p)
    drawn = torch.gather(keep, -1, results[0].long().unsqueeze(-1))
    return "" if bool(drawn.all()) else "a token was drawn that is not kept"


FUSED = {"sample": sample}
CHECKS = {"sample": check}
