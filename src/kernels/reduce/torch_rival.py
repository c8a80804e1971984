import torch


def into_out(f):
    """Written where ours writes; PyTorch wants an axis for that."""
    return lambda t, p: lambda: f(t["x"].view(-1), dim=0, out=t["out"].view(()))


def dot(t, p):
    if not t["x"].dtype.is_floating_point:
        raise NotImplementedError("PyTorch's dot product of i32 is i32, and wraps around")
    return lambda: torch.dot(t["x"].view(-1), t["y"].view(-1))


OPERATORS = {
    "sum": into_out(torch.sum),
    "mean": into_out(torch.mean),
    "max": lambda t, p: lambda: torch.max(t["x"]),
    "min": lambda t, p: lambda: torch.min(t["x"]),
    "product": lambda t, p: lambda: torch.prod(t["x"]),
    "argmax": lambda t, p: lambda: torch.argmax(t["x"]),
    "norm_l1": lambda t, p: lambda: torch.linalg.vector_norm(t["x"], 1),
    "norm_l2": lambda t, p: lambda: torch.linalg.vector_norm(t["x"], 2),
    "dot": dot,
    "count_equal": lambda t, p: lambda: torch.count_nonzero(t["x"] == p["value"]),
}
