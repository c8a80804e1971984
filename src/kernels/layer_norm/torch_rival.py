import torch
import torch.nn.functional as F


def rms(x, gamma, epsilon):
    return F.rms_norm(x, (x.shape[-1],), gamma, epsilon)


def layer(x, gamma, beta, epsilon):
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, epsilon)


def layer_norm(t, p, wrap):
    f = wrap(lambda x, gamma, beta: layer(x, gamma, beta, p["epsilon"]))
    return lambda: f(t["x"], t.get("gamma"), t.get("beta"))


def rms_norm(t, p, wrap):
    f = wrap(lambda x, gamma: rms(x, gamma, p["epsilon"]))
    return lambda: f(t["x"], t.get("gamma"))


def add_layer_norm(t, p, wrap):
    def both(x, residual, gamma, beta):
        total = x + residual
        return total, layer(total, gamma, beta, p["epsilon"])

    f = wrap(both)
    return lambda: f(t["x"], t["residual"], t.get("gamma"), t.get("beta"))


def add_rms_norm(t, p, wrap):
    def both(x, residual, gamma):
        total = x + residual
        return total, rms(total, gamma, p["epsilon"])

    f = wrap(both)
    return lambda: f(t["x"], t["residual"], t.get("gamma"))


def gradients(x, dy, gamma, mean, rstd):
    n = (x.float() - mean.unsqueeze(-1)) * rstd.unsqueeze(-1) if mean is not None else x.float() * rstd.unsqueeze(-1)
    g = dy.float() * gamma.float() if gamma is not None else dy.float()
    rows = tuple(range(x.dim() - 1))
    inner = g - n * (g * n).mean(-1, keepdim=True)
    if mean is not None:
        inner = inner - g.mean(-1, keepdim=True)
    return (inner * rstd.unsqueeze(-1)).to(x.dtype), (dy.float() * n).sum(rows), dy.float().sum(rows)


def layer_norm_backward(t, p, wrap):
    if "dsum" in t:
        raise NotImplementedError("PyTorch adds a gradient in a launch of its own")
    if wrap(layer) is layer:  # eager: one kernel for dx, others for the sums
        f, x, shape = torch.ops.aten.native_layer_norm_backward, t["x"], t["x"].shape[-1:]
        beta = torch.zeros(shape, dtype=x.dtype, device=x.device)
        view = t["mean"].shape + (1,)
        mean, rstd = t["mean"].view(view), t["rstd"].view(view)
        return lambda: f(t["dy"], x, shape, mean, rstd, t.get("gamma"), beta, [True, "gamma" in t, True])
    f = wrap(gradients)
    return lambda: f(t["x"], t["dy"], t.get("gamma"), t["mean"], t["rstd"])


def rms_norm_backward(t, p, wrap):
    if "dsum" in t:
        raise NotImplementedError("PyTorch adds a gradient in a launch of its own")
    f = wrap(lambda x, dy, gamma, rstd: gradients(x, dy, gamma, None, rstd)[:2])
    return lambda: f(t["x"], t["dy"], t.get("gamma"), t["rstd"])


def rounded_sums(t, p):
    """PyTorch's dgamma and dbeta have the format of gamma; ours are f32."""
    unit = torch.finfo(t["x"].dtype).eps if t["x"].dtype != torch.float32 else 0
    dx, dgamma, dbeta = gradients(t["x"], t["dy"], t.get("gamma"), t.get("mean"), t["rstd"])
    sums = (unit * dgamma.abs(), unit * dbeta.abs())
    return (torch.zeros_like(dx, dtype=torch.float32), *(sums if "mean" in t else sums[:1]))


FUSED = {
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "add_layer_norm": add_layer_norm,
    "add_rms_norm": add_rms_norm,
    "layer_norm_backward": layer_norm_backward,
    "rms_norm_backward": rms_norm_backward,
}
ROUNDS = {"layer_norm_backward": rounded_sums}
