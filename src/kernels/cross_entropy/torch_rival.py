import torch
import torch.nn.functional as F

REDUCTIONS = ("mean", "sum", "none")


def settings(p):
    return {"reduction": REDUCTIONS[int(p["reduction"])], "label_smoothing": p["label_smoothing"],
            "ignore_index": int(p["ignore_index"])}


def flat(t):
    return t["logits"].reshape(-1, t["logits"].shape[-1]), t["targets"].reshape(-1).long()


def forward(t, p, wrap):
    if "lse" in t:
        raise NotImplementedError("PyTorch keeps all log-probabilities for backward, not one number per row")
    if "loss" in t and "losses" in t:
        raise NotImplementedError("PyTorch gives the losses or their mean, not both")
    x, targets = flat(t)
    f = wrap(lambda x, targets: F.cross_entropy(x.float(), targets, **settings(p)))
    return lambda: f(x, targets)


def gradient(x, targets, lse, scale, p):
    """The formula, since PyTorch's own backward takes the log-probabilities, which are as large as the logits."""
    counted = torch.ne(targets, int(p["ignore_index"]))
    if REDUCTIONS[int(p["reduction"])] == "mean":
        scale = scale / counted.sum()
    smoothing, columns = p["label_smoothing"], torch.arange(x.shape[-1], device=x.device)
    hot = torch.eq(columns, targets.unsqueeze(-1)) * (1 - smoothing) + smoothing / x.shape[-1]
    g = (torch.exp(x.float() - lse.unsqueeze(-1)) - hot) * scale.reshape(-1, 1)
    return torch.where(counted.unsqueeze(-1), g, 0).to(x.dtype)


def backward(t, p, wrap):
    x, targets = flat(t)
    f = wrap(lambda x, targets, lse, scale: gradient(x, targets, lse, scale, p))
    scale = t["dloss"] if "dloss" in t else t["dlosses"].reshape(-1)
    return lambda: f(x, targets, t["lse"].reshape(-1), scale)


def with_gradient(t, p, wrap):
    if "loss" not in t or "losses" in t:
        raise NotImplementedError("PyTorch has a gradient of one number")
    x, targets = flat(t)
    x.requires_grad_(True)
    f = wrap(lambda x, targets: F.cross_entropy(x.float(), targets, **settings(p)))

    def both():
        with torch.enable_grad():
            loss = f(x, targets)
            dlogits = torch.autograd.grad(loss * p["scale"] * t.get("dloss", 1), x)[0]
        return loss.detach(), dlogits

    return both


FUSED = {
    "cross_entropy": forward,
    "cross_entropy_backward": backward,
    "cross_entropy_with_gradient": with_gradient,
}
