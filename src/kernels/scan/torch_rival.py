import torch

OPERATORS = {
    "inclusive_scan": lambda t, p: lambda: torch.cumsum(t["in"], 0, dtype=t["in"].dtype, out=t["out"]),
}
