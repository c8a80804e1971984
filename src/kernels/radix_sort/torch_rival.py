import torch

OPERATORS = {
    "sort_keys": lambda t, p: lambda: torch.sort(t["keys"], stable=True, descending=bool(p["descending"])).values,
}
