import torch
import torch.nn.functional as F


def flat(weights):
    return None if weights is None else weights.reshape(-1)


def group_norm(t, p):
    if "mean" in t or "rstd" in t:
        raise NotImplementedError("PyTorch's group_norm does not give out what backward needs")
    x, groups = t["x"].flatten(1, 2), t["x"].shape[1]
    gamma, beta = flat(t.get("gamma")), flat(t.get("beta"))
    return lambda: F.group_norm(x, groups, gamma, beta, p["epsilon"])


def group_norm_backward(t, p):
    x, dy = t["x"].flatten(1, 2), t["dy"].flatten(1, 2)
    n, channels, groups = x.shape[0], x.shape[1], t["x"].shape[1]
    gamma, f = flat(t.get("gamma")), torch.ops.aten.native_group_norm_backward
    mean, rstd = t["mean"].to(x.dtype), t["rstd"].to(x.dtype)
    inner = x[0, 0].numel() if x.numel() else 0
    return lambda: f(dy, x, mean, rstd, gamma, n, channels, inner, groups, [True, True, True])


def rounded(t, p):
    """PyTorch takes mean and rstd in x's format, and gives dgamma and dbeta in gamma's; ours are f32."""
    if t["x"].dtype == torch.float32:
        return None
    unit = torch.finfo(t["x"].dtype).eps
    x, dy = t["x"].float().flatten(3), t["dy"].float().flatten(3)
    mean, rstd = t["mean"][:, :, None, None], t["rstd"][:, :, None, None]
    g = dy * t["gamma"].float()[None, :, :, None] if "gamma" in t else dy
    h = (x - mean) * rstd
    off = unit * (h.abs() + (mean * rstd).abs())  # of h
    product = (g * h).mean((2, 3), keepdim=True)
    of_product = (g.abs() * off).mean((2, 3), keepdim=True)
    dx = rstd * (off * product.abs() + h.abs() * of_product + unit * (g.abs() + (h * product).abs()))
    sums = (0, 3)
    dgamma = (dy.abs() * off).sum(sums) + unit * (dy * h).sum(sums).abs()
    return (dx.reshape(t["x"].shape), dgamma, unit * dy.sum(sums).abs())


OPERATORS = {"group_norm": group_norm, "group_norm_backward": group_norm_backward}
ROUNDS = {"group_norm_backward": rounded}
