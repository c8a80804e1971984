import torch
import torch.nn.functional as F


def convolution(f, names):
    def make(t, p):
        stride, padding, dilation = p["stride"], p["padding"], p["dilation"]
        steps = tuple((p.get("stride_" + n) or stride) if i else stride for i, n in enumerate(names))
        pads = tuple(padding if not i or p["padding_" + n] < 0 else p["padding_" + n] for i, n in enumerate(names))
        gaps = tuple((p.get("dilation_" + n) or dilation) if i else dilation for i, n in enumerate(names))
        torch.backends.cudnn.benchmark = True  # its fastest algorithm
        torch.backends.cudnn.allow_tf32 = False  # ours computes f32, too
        x, w, bias = t["x"], t["w"], t.get("bias")
        return lambda: [f(x, w, bias, steps, pads, gaps, p["groups"])]

    return make


def channels_last(t, p):
    last = dict(t, x=t["x"].permute(0, 3, 1, 2), w=t["w"].permute(0, 3, 1, 2))
    plain = convolution(F.conv2d, ("height", "width"))(last, p)
    return lambda: [plain()[0].permute(0, 2, 3, 1)]


OPERATORS = {
    "conv1d": convolution(F.conv1d, ("length",)),
    "conv2d": convolution(F.conv2d, ("height", "width")),
    "conv3d": convolution(F.conv3d, ("depth", "height", "width")),
    "conv2d_nhwc": channels_last,
}
