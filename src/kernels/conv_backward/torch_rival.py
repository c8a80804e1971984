import torch


def call(t, p, weights, convert):
    dy = convert(t["dy"])
    x = convert(t["x"]) if weights else torch.empty(t["dx"].shape, dtype=dy.dtype, device=dy.device)
    w = torch.empty(t["dw"].shape, dtype=dy.dtype, device=dy.device) if weights else convert(t["w"])
    directions = x.dim() - 2
    names = ("depth", "height", "width")[3 - directions :]

    def each(name, least):
        own = [p[f"{name}_{n}"] if f"{name}_{n}" in p else -1 for n in names]
        return [o if o >= least else p[name] for o in own]

    steps, pads, gaps = each("stride", 1), each("padding", 0), each("dilation", 1)
    wanted = [not weights, weights, "dbias" in t]
    sizes = [w.shape[0]] if "dbias" in t else None
    f = torch.ops.aten.convolution_backward

    def run():
        all_three = f(dy, x, w, sizes, steps, pads, gaps, False, [0] * directions, p["groups"], wanted)  # of x, w, bias
        return [all_three[i] for i, is_wanted in enumerate(wanted) if is_wanted]

    return run


def gradients(weights):
    def make(t, p):
        torch.backends.cudnn.benchmark = True  # its fastest algorithm
        torch.backends.cudnn.allow_tf32 = False  # ours computes f32, too
        return call(t, p, weights, lambda x: x)

    return make


def rounded(t, p):
    """PyTorch's dw and dbias have the format of x; ours are f32."""
    unit = torch.finfo(t["dy"].dtype).eps if t["dy"].dtype != torch.float32 else 0
    return [unit * g.abs() for g in call(t, p, True, lambda x: x.float())()]


OPERATORS, ROUNDS = {}, {}
for directions in (1, 2, 3):
    OPERATORS[f"conv{directions}d_backward_data"] = gradients(False)
    OPERATORS[f"conv{directions}d_backward_weights"] = gradients(True)
    ROUNDS[f"conv{directions}d_backward_weights"] = rounded
