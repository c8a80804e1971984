import torch


def adamw(t, p):
    if t["weight"].dtype != torch.float32:
        raise NotImplementedError("PyTorch's fused AdamW keeps no f32 master of bf16 weights")
    weights, grads, m, v = ([t[name]] for name in ("weight", "grad", "m", "v"))
    steps = [torch.full((), float(p["step"]), device=t["weight"].device)]

    def step():
        torch._fused_adamw_(weights, grads, m, v, [], steps, lr=p["lr"], beta1=p["beta1"], beta2=p["beta2"],
                            weight_decay=p["weight_decay"], eps=p["eps"], amsgrad=False, maximize=False)
        return weights[0], m[0], v[0]
    return step


OPERATORS = {"adamw": adamw}
