import torch
import torch.nn.functional as F


def by_channels(x, p):
    """PyTorch's order of dimensions: (N, C, …), a view, so that channels may lie last in memory."""
    return x.movedim(int(p["axis"]), 1)


def weights(t):
    """f32, as the statistics are: PyTorch takes no other mixture with 16-bit inputs."""
    return [t[name].float() if name in t else None for name in ("gamma", "beta")]


def batch_norm(t, p):
    x, mean, variance = by_channels(t["x"], p), t.get("running_mean"), t.get("running_variance")
    if "mean" in t or "rstd" in t:
        raise NotImplementedError("PyTorch's batch_norm does not give out what backward needs")
    gamma, beta = weights(t)
    results = [statistic for statistic in (mean, variance) if statistic is not None]

    def run():
        y = F.batch_norm(x, mean, variance, gamma, beta, True, p["momentum"], p["epsilon"])
        return [*results, y.movedim(1, int(p["axis"]))]

    return run


def batch_norm_infer(t, p):
    x, mean, variance = by_channels(t["x"], p), t["running_mean"], t["running_variance"]
    gamma, beta = weights(t)
    return lambda: [F.batch_norm(x, mean, variance, gamma, beta, False, 0.0, p["epsilon"]).movedim(1, int(p["axis"]))]


def batch_norm_backward(t, p):
    x, dy, f = by_channels(t["x"], p), by_channels(t["dy"], p), torch.ops.aten.native_batch_norm_backward
    gamma = weights(t)[0]

    def run():
        of_all = f(dy, x, gamma, None, None, t["mean"], t["rstd"], True, 0.0, [True, True, True])  # of x, gamma, beta
        return [of_all[0].movedim(1, int(p["axis"])), of_all[1], of_all[2]]

    return run


OPERATORS = {"batch_norm": batch_norm, "batch_norm_infer": batch_norm_infer, "batch_norm_backward": batch_norm_backward}
