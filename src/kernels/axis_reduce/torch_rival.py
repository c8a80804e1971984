import torch

REDUCTIONS = {
    "sum_axis": torch.sum,
    "mean_axis": torch.mean,
    "max_axis": torch.amax,
    "min_axis": torch.amin,
    "product_axis": torch.prod,
    "argmax_axis": torch.argmax,
    "norm_l1_axis": lambda x, dim: torch.linalg.vector_norm(x, 1, dim=dim),
    "norm_l2_axis": lambda x, dim: torch.linalg.vector_norm(x, 2, dim=dim),
}


def along_axis(f):
    return lambda t, p: lambda: f(t["x"], dim=int(p["axis"]))


OPERATORS = {name: along_axis(f) for name, f in REDUCTIONS.items()}
