import torch
import torch.nn.functional as F


def by_channels(x, p):
    """PyTorch's order of dimensions: (N, C, …), a view, so that channels may lie last in memory."""
    return x.movedim(int(p["axis"]), 1)


def batch_norm(t, p):
    x, mean, variance = by_channels(t["x"], p), t.get("running_mean"), t.get("running_variance")
    if "mean" in t or "rstd" in t:
        raise NotImplementedError("PyTorch's batch_norm does not give out what backward needs")
    gamma, beta, results = t.get("gamma"), t.get("beta"), []
    if mean is not None:
        results = [mean, variance]

    def run():
        y = F.batch_norm(x, mean, variance, gamma, beta, True, p["momentum"], p["epsilon"])
        return [*results, y.movedim(1, int(p["axis"]))]

    return run


def batch_norm_infer(t, p):
    x = by_channels(t["x"], p)
    mean, variance, gamma, beta = t["running_mean"], t["running_variance"], t.get("gamma"), t.get("beta")
    return lambda: [F.batch_norm(x, mean, variance, gamma, beta, False, 0.0, p["epsilon"]).movedim(1, int(p["axis"]))]


def batch_norm_backward(t, p):
    x, dy, f = by_channels(t["x"], p), by_channels(t["dy"], p), torch.ops.aten.native_batch_norm_backward

    def run():
        dx, dgamma, dbeta = f(dy, x, t.get("gamma"), None, None, t["mean"], t["rstd"], True, 0.0, [True, True, True])
        return [dx.movedim(1, int(p["axis"])), dgamma, dbeta]

    return run


def rounded_statistics(t, p):
    """The statistics are f32 with PyTorch, too; dgamma and dbeta have the format of gamma, where there is one."""
    if t["x"].dtype == torch.float32:
        return None
    unit = torch.finfo(t["x"].dtype).eps
    x, dy = by_channels(t["x"], p).float(), by_channels(t["dy"], p).float()
    view = (1, -1) + (1,) * (x.dim() - 2)
    h = (x - t["mean"].view(view)) * t["rstd"].view(view)
    sums = tuple(d for d in range(x.dim()) if d != 1)
    return (torch.zeros_like(t["x"], dtype=torch.float32), unit * (dy * h).sum(sums).abs(), unit * dy.sum(sums).abs())


OPERATORS = {"batch_norm": batch_norm, "batch_norm_infer": batch_norm_infer, "batch_norm_backward": batch_norm_backward}
ROUNDS = {"batch_norm_backward": rounded_statistics}
