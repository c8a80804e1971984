import torch
import torch.nn.functional as F

GATES = {"swiglu": F.silu, "geglu": F.gelu}


def forward(f):
    def make(t, p, wrap):
        unit = wrap(lambda gate, up: f(gate) * up)
        return lambda: unit(t["gate"], t["up"])
    return make


def forward_packed(f):
    def unit_of_halves(x):
        gate, up = x.chunk(2, -1)
        return f(gate) * up

    def make(t, p, wrap):
        unit = wrap(unit_of_halves)
        return lambda: unit(t["x"])
    return make


def backward(f):
    def make(t, p):
        with torch.enable_grad():
            gate, up = (t[name].detach().requires_grad_() for name in ("gate", "up"))
            y = f(gate) * up
        return lambda: torch.autograd.grad(y, (gate, up), t["dy"], retain_graph=True)
    return make


def backward_packed(f):
    def make(t, p):
        with torch.enable_grad():
            x = t["x"].detach().requires_grad_()
            gate, up = x.chunk(2, -1)
            y = f(gate) * up
        return lambda: torch.autograd.grad(y, x, t["dy"], retain_graph=True)
    return make


OPERATORS, FUSED = {}, {}
for name, gate in GATES.items():
    FUSED[name] = forward(gate)
    FUSED[name + "_packed"] = forward_packed(gate)
    OPERATORS[name + "_backward"] = backward(gate)
    OPERATORS[name + "_packed_backward"] = backward_packed(gate)


EPSILON = 2.0**-23  # of f32


def sizes(t):
    gate, up = (t["gate"], t["up"]) if "gate" in t else t["x"].chunk(2, -1)
    return gate.float().abs(), up.float().abs()


def forward_errors(t, p):
    gate, up = sizes(t)
    return [EPSILON * gate * up]


def backward_errors(t, p):
    gate, up = sizes(t)
    dy = EPSILON * t["dy"].float().abs()
    dgate, dup = dy * up * (1 + gate), dy * gate
    return [dgate, dup] if "gate" in t else [torch.cat((dgate, dup), -1)]


# 1 + erf(x) leaves little of itself where x is far below 0.
ROUNDS = {name: forward_errors for name in ("geglu", "geglu_packed")}
ROUNDS |= {name: backward_errors for name in ("geglu_backward", "geglu_packed_backward")}
