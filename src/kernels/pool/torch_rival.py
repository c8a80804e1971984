import torch
import torch.nn.functional as F

MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
MEAN = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def pooled(directions, mean, p):
    kernel, stride, padding = int(p["kernel"]), int(p["stride"] or p["kernel"]), int(p["padding"])
    if mean:
        return lambda x: MEAN[directions](x, kernel, stride, padding, count_include_pad=bool(p["count_padding"]))
    return lambda x: MAX[directions](x, kernel, stride, padding)


def planes(x, directions):
    return x.reshape((-1, 1) + x.shape[x.dim() - directions :])


def forward(directions, mean):
    def make(t, p):
        f, x = pooled(directions, mean, p), planes(t["x"], directions)
        return lambda: [f(x)]

    return make


def backward(directions, mean):
    def make(t, p):
        of = t["x"] if not mean else torch.zeros(t["dx"].shape, dtype=t["dy"].dtype, device=t["dy"].device)
        x = planes(of, directions).detach().requires_grad_()
        y, dy = pooled(directions, mean, p)(x), planes(t["dy"], directions)
        return lambda: torch.autograd.grad(y, x, dy, retain_graph=True)

    return make


OPERATORS = {}
for directions in (1, 2, 3):
    for name, mean in (("max_pool", False), ("avg_pool", True)):
        OPERATORS[f"{name}{directions}d"] = forward(directions, mean)
        OPERATORS[f"{name}{directions}d_backward"] = backward(directions, mean)
