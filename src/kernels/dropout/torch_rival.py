import torch
import torch.nn.functional as F


def backward(t, p):
    scale = 1 / (1 - p["probability"])
    mask = torch.rand(t["dy"].shape, device=t["dy"].device) >= p["probability"]
    return lambda: torch.ops.aten.native_dropout_backward(t["dy"], mask, scale)


def check_dropped(name):
    """PyTorch has random numbers of its own: what is kept has to be right, and the share of it."""
    def check(t, p, results):
        x, y = t[name].float(), results[0].float()
        kept = y != 0
        share = 1 - kept.sum().item() / max(kept.numel(), 1)
        if abs(share - p["probability"]) > 0.01:
            return f"{share:.3f} of the elements were dropped, not {p['probability']:.3f}"
        wanted = (x / (1 - p["probability"])).to(results[0].dtype).float()
        error = ((y - wanted).abs() / wanted.abs().clamp(min=1e-30))[kept]
        if not bool((error <= 4 * torch.finfo(results[0].dtype).eps).all()):
            return "elements that were kept are not divided by 1 - probability"
        return ""
    return check


OPERATORS = {"dropout": lambda t, p: lambda: F.dropout(t["x"], p["probability"]), "dropout_backward": backward}
CHECKS = {"dropout": check_dropped("x"), "dropout_backward": check_dropped("dy")}
