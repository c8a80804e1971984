import torch


def counted(t, p):
    """torch.bincount makes its result itself, and waits for the largest value."""
    bins = t["counts"].numel()
    return lambda: torch.bincount(t["x"].to(torch.int32), minlength=bins)[:bins]


OPERATORS = {
    "histogram": counted,
    "histogram_even": lambda t, p: lambda: torch.histc(t["x"], t["counts"].numel(), p["lower"], p["upper"]),
}
