import torch
import torch.nn.functional as F


def convolved(x, w, bias, silu):
    channels, width = w.shape
    z = F.conv1d(x, w.unsqueeze(1), bias, padding=width - 1, groups=channels)[..., : x.shape[-1]]
    return F.silu(z) if silu else z


def causal_conv1d(t, p, wrap):
    f = wrap(lambda x, w, bias: convolved(x, w, bias, p["silu"]))
    return lambda: [f(t["x"], t["w"], t.get("bias"))]


def causal_conv1d_backward(t, p, wrap):
    def gradients(x, w, bias, dy):
        channels, width = w.shape
        g = dy.float()
        if p["silu"]:
            z = convolved(x.float(), w.float(), bias.float() if bias is not None else None, False)
            s = torch.sigmoid(z)
            g = g * s * (1 + z * (1 - s))
        later = F.pad(g, (0, width - 1))
        earlier = F.pad(x.float(), (width - 1, 0))
        length = x.shape[-1]
        dx = sum(w[:, k, None].float() * later[..., width - 1 - k : width - 1 - k + length] for k in range(width))
        dw = torch.stack([(g * earlier[..., k : k + length]).sum((0, 2)) for k in range(width)], 1)
        return dx.to(x.dtype), dw, g.sum((0, 2))

    f = wrap(gradients)
    return lambda: f(t["x"], t["w"], t.get("bias"), t["dy"])


FUSED = {"causal_conv1d": causal_conv1d, "causal_conv1d_backward": causal_conv1d_backward}
