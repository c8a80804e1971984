import torch

OPERATORS = {"reverse": lambda t, p: lambda: torch.flip(t["in"], (0,))}
