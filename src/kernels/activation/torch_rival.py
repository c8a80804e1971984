import torch
import torch.nn.functional as F

FUNCTIONS = {  # of a tensor and the parameters
    "relu": lambda x, p: F.relu(x),
    "leaky_relu": lambda x, p: F.leaky_relu(x, p["slope"]),
    "hardtanh": lambda x, p: F.hardtanh(x, p["low"], p["high"]),
    "clip": lambda x, p: torch.clamp(x, p["low"], p["high"]),
    "sigmoid": lambda x, p: torch.sigmoid(x),
    "tanh": lambda x, p: torch.tanh(x),
    "gelu": lambda x, p: F.gelu(x),
    "gelu_tanh": lambda x, p: F.gelu(x, approximate="tanh"),
    "silu": lambda x, p: F.silu(x),
    "elu": lambda x, p: F.elu(x, p["alpha"]),
    "softplus": lambda x, p: F.softplus(x, p["sharpness"], p["threshold"]),
}


def forward(f):
    return lambda t, p: lambda: f(t["x"], p)


def backward(f):
    def make(t, p):
        with torch.enable_grad():
            x = t["x"].detach().requires_grad_()
            y = f(x, p)
        return lambda: torch.autograd.grad(y, x, t["dy"], retain_graph=True)
    return make


OPERATORS = {name: forward(f) for name, f in FUNCTIONS.items()}
OPERATORS |= {name + "_backward": backward(f) for name, f in FUNCTIONS.items()}


def roundoff(x):
    return torch.finfo(x.dtype).eps


def size(x):
    return x.float().abs()


EPSILON = 2.0**-23  # of f32
# 1 + erf(x) and 1 + tanh(x) leave little of themselves where x is far below 0, and so does exp(x) - 1 near 0. The
# gradients of sigmoid and tanh come from 1 - y, with a y that was rounded to its format.
ROUNDS = {
    "gelu": lambda t, p: [EPSILON * size(t["x"])],
    "gelu_tanh": lambda t, p: [EPSILON * size(t["x"])],
    "gelu_backward": lambda t, p: [EPSILON * size(t["dy"]) * (1 + size(t["x"]))],
    "gelu_tanh_backward": lambda t, p: [EPSILON * size(t["dy"]) * (1 + size(t["x"]))],
    "elu": lambda t, p: [EPSILON * p["alpha"] * torch.ones_like(t["x"])],
    "sigmoid_backward": lambda t, p: [roundoff(t["x"]) * size(t["dy"])],
    "tanh_backward": lambda t, p: [roundoff(t["x"]) * size(t["dy"])],
}
