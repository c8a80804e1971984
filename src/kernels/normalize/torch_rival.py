import torch
import torch.nn.functional as F


def of_rows(order):
    def make(t, p, wrap):
        epsilon = p["epsilon"]
        f = wrap(lambda x: F.normalize(x, p=order, dim=-1, eps=epsilon))
        return lambda: f(t["x"])
    return make


def clip_by_global_norm(t, p, wrap):
    most = p["max_norm"]

    def clipped(x):
        norm = torch.linalg.vector_norm(x, dtype=torch.float32)
        return x * torch.clamp(most / (norm + 1e-6), max=1), norm

    f = wrap(clipped)
    return lambda: f(t["x"])


FUSED = {"l1_normalize": of_rows(1), "l2_normalize": of_rows(2), "clip_by_global_norm": clip_by_global_norm}
