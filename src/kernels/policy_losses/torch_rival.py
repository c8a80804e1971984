import torch
import torch.nn.functional as F


def surrogate(ratio, advantage, low, high):
    return torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)


def mean(x, mask):
    return (x * mask).sum() / mask.sum() if mask is not None else x.mean()


def with_gradients(wrap, loss, inputs):
    """The loss and its gradients: inputs are (tensor, whether it has a gradient)."""
    f = wrap(loss)
    leaves = [x.detach().requires_grad_(True) if wanted else x for x, wanted in inputs]

    def run():
        with torch.enable_grad():
            result = f(*leaves)
            total = result[0] if result.dim() else result
            wanted = [x for x, (_, wanted) in zip(leaves, inputs) if wanted]
            gradients = torch.autograd.grad(total, wanted)
        return (result.detach(), *(gradients[i] for i in range(len(wanted))))

    return run


def ppo_loss(t, p, wrap):
    old_values, entropy, mask = t.get("old_values"), t.get("entropy"), t.get("mask")

    def loss(logp, values):
        logp, values, returns = logp.float(), values.float(), t["returns"].float()
        policy = -mean(surrogate(torch.exp(logp - t["old_logp"].float()), t["advantages"].float(), p["clip"], p["clip"]), mask)
        squares = torch.square(values - returns)
        if old_values is not None:
            old = old_values.float()
            clipped = old + (values - old).clamp(-p["value_clip"], p["value_clip"])
            squares = torch.maximum(squares, torch.square(clipped - returns))
        value = 0.5 * mean(squares, mask)
        bonus = mean(entropy.float(), mask) if entropy is not None else torch.zeros_like(value)
        return torch.stack((policy + p["value_weight"] * value - p["entropy_weight"] * bonus, policy, value, bonus))

    return with_gradients(wrap, loss, [(t["logp"], True), (t["values"], True)])


def dpo_loss(t, p, wrap):
    wrong = p["label_smoothing"]

    def loss(chosen, rejected):
        h = p["beta"] * ((chosen.float() - t["ref_chosen"].float()) - (rejected.float() - t["ref_rejected"].float()))
        return (-(1 - wrong) * F.logsigmoid(h) - wrong * F.logsigmoid(-h)).mean()

    return with_gradients(wrap, loss, [(t["chosen"], True), (t["rejected"], True)])


def grpo_loss(t, p, wrap):
    old, ref, mask = t.get("old_logp"), t.get("ref_logp"), t.get("mask")

    def loss(logp):
        logp = logp.float()
        ratio = torch.exp(logp - (old.float() if old is not None else logp.detach()))
        each = -surrogate(ratio, t["advantages"].unsqueeze(-1), p["clip_low"], p["clip_high"])
        if ref is not None:
            d = ref.float() - logp
            each = each + p["beta"] * (torch.expm1(d) - d)
        if p["average"]:
            return mean(each, mask)
        if mask is None:
            return each.mean()
        return ((each * mask).sum(-1) / mask.sum(-1).clamp(min=1)).mean()

    return with_gradients(wrap, loss, [(t["logp"], True)])


FUSED = {"ppo_loss": ppo_loss, "dpo_loss": dpo_loss, "grpo_loss": grpo_loss}
