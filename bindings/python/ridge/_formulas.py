"""Gradients of operators that have no operator for them: by other operators of Ridge, or by PyTorch's arithmetic."""
from __future__ import annotations

from typing import Any, Callable

import torch


# An operator's tensors and parameters by name; "needs" has the names of the inputs whose gradients are wanted.
Values = dict[str, Any]

# Of the values, and the gradients of the outputs by name (those that are used): the gradients of the inputs by name.
Gradients = dict[str, torch.Tensor]
Formula = Callable[[Values, Gradients], Gradients]


def run(name: str, *arguments: Any) -> Any:
    return getattr(torch.ops.ridge, name).default(*arguments)


# ---- elements, and their order ----------------------------------------------------------------------------------------

def _add(v: Values, g: Gradients) -> Gradients:
    return {"a": g["out"], "b": g["out"]}


def _same_on_gradient(name: str) -> Formula:
    return lambda v, g: {"in": run(name, g["out"])}


def _interleave(v, g):
    return {"a": g["out"][..., 0::2], "b": g["out"][..., 1::2]}


def _placed(like: torch.Tensor, at: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """Zeros, and the gradient of what was taken from `at` along the last dimension."""
    return torch.zeros_like(like, memory_format=torch.contiguous_format).scatter(-1, at.long(), gradient)


def _topk(v, g):
    return {"x": _placed(v["x"], v["indices"], g["values"])}


def _sort(v, g):
    at = torch.sort(v["keys"], stable=True, descending=bool(v["descending"])).indices
    return {name: _placed(v[name], at, g["sorted_" + name]) for name in ("keys", "values")
            if "sorted_" + name in g and v[name].is_floating_point()}


def _compact(v, g):
    kept = v["flags"] != 0
    at = torch.cumsum(kept, 0) - 1
    return {"x": torch.where(kept, g["out"][at.clamp_min(0)], 0)}


# ---- sums, extremes, products, norms ----------------------------------------------------------------------------------

def _reduced(of: Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Any], torch.Tensor]) -> tuple[Formula, Formula]:
    """The formulas for all elements and along an axis, from one of x, the result and its gradient that are broadcast."""
    def whole(v, g):
        return {"x": of(v["x"], v["out"], g["out"], None)}

    def along_axis(v, g):
        return {"x": of(v["x"], v["out"].unsqueeze(v["axis"]), g["out"].unsqueeze(v["axis"]), v["axis"])}
    return whole, along_axis


def _of_sum(x, out, g, axis):
    return g.expand(x.shape)


def _of_mean(x, out, g, axis):
    return (g / max(x.numel() if axis is None else x.shape[axis], 1)).expand(x.shape)


def _of_extreme(x, out, g, axis):  # equal extremes share it
    equal = x == out
    return torch.where(equal, g / (equal.sum() if axis is None else equal.sum(axis, keepdim=True)), 0).to(x.dtype)


def _of_product(x, out, g, axis):  # the product of all others, which a division would not give where there are zeros
    line = x.flatten() if axis is None else x.movedim(axis, -1)
    one = torch.ones_like(line[..., :1])
    before = torch.cat([one, line[..., :-1]], -1).cumprod(-1)
    behind = torch.cat([line[..., 1:], one], -1).flip(-1).cumprod(-1).flip(-1)
    others = before * behind
    return g * (others.reshape(x.shape) if axis is None else others.movedim(-1, axis))


def _of_norm_l1(x, out, g, axis):
    return g * x.sign()


def _of_norm_l2(x, out, g, axis):
    return torch.where(out == 0, 0, g * x / out)


def _dot(v, g):
    return {"x": g["out"] * v["y"], "y": g["out"] * v["x"]}


def _normalize(norm: Callable[[torch.Tensor], torch.Tensor], slope: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Formula:
    def formula(v, g):
        x, gradient = v["x"].float(), g["out"].float()
        size = norm(x)
        dx = gradient / size.clamp_min(v["epsilon"])
        through_size = slope(x, size) * (gradient * x).sum(-1, keepdim=True) / size.square()
        return {"x": torch.where(size > v["epsilon"], dx - through_size, dx)}
    return formula


def _clip_by_global_norm(v, g):
    x, norm = v["x"].float(), v["norm"]
    slope = torch.where(norm == 0, 0, x / norm)
    result = g["norm"] * slope if "norm" in g else torch.zeros_like(x)
    if "out" in g:
        gradient = g["out"].float()
        factor = v["max_norm"] / (norm + 1e-6)
        clipped = gradient * factor - slope * (gradient * x).sum() * factor / (norm + 1e-6)
        result = result + torch.where(factor < 1, clipped, gradient)
    return {"x": result}


# ---- segments ---------------------------------------------------------------------------------------------------------

def _segments(v: Values) -> tuple[torch.Tensor, torch.Tensor]:
    """The segment of each element, and whether it is in any."""
    offsets = v["offsets"].long()
    of = torch.searchsorted(offsets, torch.arange(v["x"].shape[0], device=offsets.device), right=True) - 1
    inside = (of >= 0) & (of < offsets.shape[0] - 1)
    return of.clamp(0, offsets.shape[0] - 2), inside


def _segmented_sum(v, g):
    of, inside = _segments(v)
    return {"x": torch.where(inside, g["out"][of], 0)}


def _segmented_mean(v, g):
    of, inside = _segments(v)
    return {"x": torch.where(inside, (g["out"] / v["offsets"].diff())[of], 0)}


def _segmented_extreme(v, g):
    of, inside = _segments(v)
    equal = inside & (v["x"] == v["out"][of])
    count = torch.zeros_like(g["out"], dtype=torch.float32).index_add(0, of, equal.float())
    return {"x": torch.where(equal, g["out"][of] / count[of], 0)}


# ---- scans ------------------------------------------------------------------------------------------------------------

def _scan(name: str) -> Formula:
    """The same scan from the other end."""
    return lambda v, g: {"in": run("reverse", run(name, run("reverse", g["out"])))}


def _inclusive_max_scan(v, g):
    at = torch.cummax(v["in"], 0).indices
    return {"in": torch.zeros_like(v["in"]).index_add(0, at, g["out"])}


def _exclusive_max_scan(v, g):
    at = torch.cummax(v["in"], 0).indices
    return {"in": torch.zeros_like(v["in"]).index_add(0, at[:-1], g["out"][1:])}


def _segmented_scan(name: str) -> Formula:
    def formula(v, g):  # a segment begins where it ended
        ends = torch.ones_like(v["heads"])
        ends[:-1] = v["heads"][1:]
        return {"in": run("reverse", run(name, run("reverse", g["out"]), ends.flip(0)))}
    return formula


def _scan_by_key(name: str) -> Formula:
    return lambda v, g: {"in": run("reverse", run(name, run("reverse", g["out"]), v["keys"].flip(0)))}


def _gae(v, g):
    """The recurrence of the advantages, from the first step to the last."""
    axis = v["axis"]
    kept = (v["done"] == 0).float()
    steps = kept.shape[axis]
    first = torch.zeros_like(kept.narrow(axis, 0, 1))
    before = torch.cat([first, kept.narrow(axis, 0, steps - 1)], axis)  # whether the step before lets through
    gradient = sum(g[name] for name in ("advantages", "returns") if name in g)
    delta = run("linear_recurrence", v["gamma"] * v["decay"] * before, gradient, None, axis)
    of_next = v["gamma"] * kept * delta  # of the value behind each step
    values = torch.cat([first, of_next.narrow(axis, 0, steps - 1)], axis) - delta
    if "returns" in g:
        values = values + g["returns"]
    return {"rewards": delta, "values": values, "next_value": of_next.select(axis, steps - 1)}


# ---- products of matrices ---------------------------------------------------------------------------------------------

def _matmul(a: torch.Tensor, b: torch.Tensor, alpha: float = 1.0, precision: int = 0) -> torch.Tensor:
    return run("gemm", a, b, None, alpha, 0.0, precision)


def _gemm(v, g):
    d = g["d"].to(v["a"].dtype)
    return {"a": _matmul(d, v["b"].mT, v["alpha"], v["precision"]), "b": _matmul(v["a"].mT, d, v["alpha"], v["precision"]),
            "c": g["d"] * v["beta"]}


ACTIVATIONS = (None, "relu", "gelu", "gelu_tanh", "silu")  # of gemm_fused, in the order of its choices


def _gemm_fused(v, g):
    made = {"c": g["d"] * v["beta"]}
    d = g["d"].float()
    if name := ACTIVATIONS[v["activation"]]:  # what went into it is not stored, and so computed again
        before = run("gemm_fused", v["a"].float(), v["b"].float(), None if v["bias"] is None else v["bias"].float(), v["row_scale"],
                     v["col_scale"], None, v["alpha"], 0.0, 0)[0]
        d = run(name + "_backward", before, d)
    made["bias"] = d.sum(-2)
    rows = 1.0 if v["row_scale"] is None else v["row_scale"].unsqueeze(-1)
    cols = 1.0 if v["col_scale"] is None else v["col_scale"].unsqueeze(-2)
    if v["needs"] & {"row_scale", "col_scale"}:
        product = d * _matmul(v["a"].float(), v["b"].float(), v["alpha"])
        made |= {"row_scale": (product * cols).sum(-1), "col_scale": (product * rows).sum(-2)}
    d = (d * rows * cols).to(v["a"].dtype)
    return made | {"a": _matmul(d, v["b"].mT, v["alpha"]), "b": _matmul(v["a"].mT, d, v["alpha"])}


def _gemm_swiglu(v, g):
    both = run("gemm_fused", v["a"], v["b"], v["bias"], None, None, None, v["alpha"], 0.0, 0)[0]
    d = run("interleave", *run("swiglu_backward", both[..., 0::2].contiguous(), both[..., 1::2].contiguous(),
                               g["d"].to(both.dtype)))
    return {"bias": d.sum(-2), "a": _matmul(d, v["b"].mT, v["alpha"]), "b": _matmul(v["a"].mT, d, v["alpha"])}


def _outer(a: torch.Tensor, b: torch.Tensor, alpha: float) -> torch.Tensor:
    return _matmul(a.unsqueeze(1), b.unsqueeze(0), alpha)


def _gemv(v, g):
    return {"a": _outer(g["y"], v["x"], v["alpha"]), "x": run("gemv_t", v["a"], g["y"], v["alpha"], 0.0)}


def _gemv_t(v, g):
    return {"a": _outer(v["x"], g["y"], v["alpha"]), "x": run("gemv", v["a"], g["y"], v["alpha"], 0.0)}


def _gemv_quantised(name: str, scales: tuple[str, ...]) -> Formula:
    def formula(v, g):  # of x; weights that are quantised have none
        weights = run("dequantise_" + name, v["q"], *(v[scale] for scale in scales))
        return {"x": run("gemv_t", weights, g["y"].float(), 1.0, 0.0)}
    return formula


def _matmul_by_shuffles(v, g):
    return {"a": run("matmul_by_shuffles", g["c"], v["b"].mT.contiguous()),
            "b": run("matmul_by_shuffles", v["a"].mT.contiguous(), g["c"])}


# ---- convolutions -----------------------------------------------------------------------------------------------------

def _conv(directions: int, channels_last: bool = False) -> Formula:
    names = ["stride", "padding", "dilation"]
    first, last = (0, *range(2, directions + 2), 1), (0, directions + 1, *range(1, directions + 1))
    further = ("height", "width")[2 - (directions - 1):] if directions > 1 else ()

    def formula(v, g):
        x, w, dy = ((v["x"].permute(last), v["w"].permute(last).contiguous(), g["y"].permute(last)) if channels_last else
                    (v["x"], v["w"], g["y"]))
        parameters = [v[name] for name in (*names, "groups", *(f"{name}_{of}" for of in further for name in names))]
        made = {}
        if "x" in v["needs"]:
            made["x"] = run(f"conv{directions}d_backward_data", dy, w, *parameters, *x.shape[1:])
        if v["needs"] & {"w", "bias"}:
            made["w"], made["bias"] = run(f"conv{directions}d_backward_weights", dy, x, *parameters, *w.shape[2:], w.shape[1])
        if channels_last:
            made = {name: value if name == "bias" else value.permute(first) for name, value in made.items()}
        return made
    return formula


def _jacobi(directions: int) -> Formula:
    inner = (slice(1, -1),) * directions

    def formula(v, g):  # each iteration's matrix, transposed: an inner element gives its gradient to its neighbours
        gradient = g["y"]
        if min(gradient.shape) < 3:
            return {"x": gradient}
        for _ in range(v["iterations"]):
            given = torch.zeros_like(gradient)
            given[inner] = gradient[inner] / (2 * directions)
            gradient = gradient.clone()
            gradient[inner] = 0
            for axis in range(directions):
                size = gradient.shape[axis]
                gradient.narrow(axis, 0, size - 1).add_(given.narrow(axis, 1, size - 1))
                gradient.narrow(axis, 1, size - 1).add_(given.narrow(axis, 0, size - 1))
        return {"x": gradient}
    return formula


# ---- normalization ----------------------------------------------------------------------------------------------------

def _batch_norm_infer(v, g):
    axis = v["axis"] % v["x"].dim()
    shape = [-1 if d == axis else 1 for d in range(v["x"].dim())]
    others = [d for d in range(v["x"].dim()) if d != axis]
    rstd = (v["running_variance"] + v["epsilon"]).rsqrt().view(shape)
    gradient = g["y"].float()
    centred = (v["x"].float() - v["running_mean"].view(shape)) * rstd

    def along(x):
        return x.sum(others) if others else x

    return {"x": gradient * rstd * (1.0 if v["gamma"] is None else v["gamma"].float().view(shape)),
            "gamma": along(gradient * centred), "beta": along(gradient)}


# ---- losses -----------------------------------------------------------------------------------------------------------

NO_REDUCTION = 2  # of cross_entropy's choices


def _cross_entropy(v, g):
    def backward(loss, losses, reduction):
        return run("cross_entropy_backward", v["logits"], v["targets"], v["lse"], loss, losses, reduction, v["label_smoothing"],
                   v["ignore_index"])
    parts = []
    if "loss" in g and v["reduction"] != NO_REDUCTION:
        parts.append(backward(g["loss"], None, v["reduction"]))
    if "losses" in g:
        parts.append(backward(None, g["losses"], NO_REDUCTION))
    return {"logits": sum(parts)} if parts else {"logits": torch.zeros_like(v["logits"])}


def _cross_entropy_with_gradient(v, g):
    def backward(reduction):
        return run("cross_entropy_with_gradient", v["logits"], v["targets"], None, reduction, v["label_smoothing"],
                   v["ignore_index"], 1.0)[2]
    parts = []
    if "loss" in g and v["reduction"] != NO_REDUCTION:
        parts.append(backward(v["reduction"]) * g["loss"])
    if "losses" in g:
        parts.append(backward(NO_REDUCTION) * g["losses"].unsqueeze(-1))
    return {"logits": sum(parts)} if parts else {"logits": torch.zeros_like(v["logits"])}


def _linear_cross_entropy(v, g):
    factor = g["loss"] / v["scale"]
    return {"hidden": v["dhidden"] * factor, "weight": v["dweight"] * factor}


def _mse_loss(v, g):
    dx = run("mse_loss_backward", v["x"], v["target"], g["loss"], v["reduction"])
    return {"x": dx, "target": -dx}


def _kl_div(v, g):
    x, target = v["x"].float(), v["target"].float()
    made = {"x": run("kl_div_backward", v["target"], g["loss"], v["reduction"], v["log_target"])}
    if "target" in v["needs"]:
        slope = target.exp() * (target - x + 1) if v["log_target"] else torch.where(target > 0, target.log() + 1 - x, 0)
        elements = (x.numel(), 1, x.shape[0] if x.dim() else 1)[v["reduction"]]
        made["target"] = slope * (g["loss"] / max(elements, 1))
    return made


def _ppo_loss(v, g):
    total, policy, value, entropy = g["losses"].unbind()
    dvalues, weight = v["dvalues"], v["value_weight"]
    if weight == 0:  # then it says nothing of the value loss itself
        arguments = [v[name] for name in ("logp", "old_logp", "advantages", "values", "returns", "old_values", "entropy", "mask")]
        dvalues, weight = run("ppo_loss", *arguments, v["clip"], v["value_clip"], 1.0, v["entropy_weight"])[2], 1.0
    made = {"logp": v["dlogp"] * (total + policy), "values": dvalues * (total * (v["value_weight"] / weight) + value / weight)}
    if v["entropy"] is not None:
        counts = torch.ones_like(v["entropy"]) if v["mask"] is None else (v["mask"] != 0).to(v["entropy"].dtype)
        made["entropy"] = counts * (entropy - v["entropy_weight"] * total) / counts.sum().clamp_min(1)
    return made


def _dpo_loss(v, g):
    return {"chosen": v["dchosen"] * g["loss"], "rejected": v["drejected"] * g["loss"]}


def _grpo_loss(v, g):
    return {"logp": v["dlogp"] * g["loss"]}


# ---- all of them ------------------------------------------------------------------------------------------------------

FORMULAS: dict[str, Formula] = {
    "add": _add, "vector_add_streamed": _add,
    "copy": _same_on_gradient("copy"), "transpose": _same_on_gradient("transpose"), "reverse": _same_on_gradient("reverse"),
    "interleave": _interleave, "topk": _topk, "sort_keys": _sort, "sort_pairs": _sort, "compact": _compact,
    "dot": _dot,
    "l1_normalize": _normalize(lambda x: x.abs().sum(-1, keepdim=True), lambda x, size: x.sign()),
    "l2_normalize": _normalize(lambda x: x.norm(dim=-1, keepdim=True), lambda x, size: x / size),
    "clip_by_global_norm": _clip_by_global_norm,
    "segmented_sum": _segmented_sum, "segmented_mean": _segmented_mean,
    "segmented_max": _segmented_extreme, "segmented_min": _segmented_extreme,
    "inclusive_scan": _scan("inclusive_scan"), "exclusive_scan": _scan("exclusive_scan"),
    "inclusive_max_scan": _inclusive_max_scan, "exclusive_max_scan": _exclusive_max_scan,
    "inclusive_segmented_scan": _segmented_scan("inclusive_segmented_scan"),
    "exclusive_segmented_scan": _segmented_scan("exclusive_segmented_scan"),
    "inclusive_scan_by_key": _scan_by_key("inclusive_scan_by_key"),
    "exclusive_scan_by_key": _scan_by_key("exclusive_scan_by_key"),
    "gae": _gae,
    "gemm": _gemm, "gemm_fused": _gemm_fused, "gemm_swiglu": _gemm_swiglu, "gemv": _gemv, "gemv_t": _gemv_t,
    "matmul_by_shuffles": _matmul_by_shuffles,
    "conv1d": _conv(1), "conv2d": _conv(2), "conv3d": _conv(3), "conv2d_nhwc": _conv(2, channels_last=True),
    "jacobi2d": _jacobi(2), "jacobi3d": _jacobi(3),
    "batch_norm_infer": _batch_norm_infer,
    "cross_entropy": _cross_entropy, "cross_entropy_with_gradient": _cross_entropy_with_gradient,
    "linear_cross_entropy": _linear_cross_entropy, "mse_loss": _mse_loss, "kl_div": _kl_div,
    "ppo_loss": _ppo_loss, "dpo_loss": _dpo_loss, "grpo_loss": _grpo_loss,
    # The rows of a warp.
    "warp_sum": lambda v, g: {"in": g["out"].unsqueeze(-1).expand(v["in"].shape)},
    "warp_scan": lambda v, g: {"in": run("warp_scan", g["out"].flip(-1)).flip(-1)},
    "occupancy_vs_ilp": lambda v, g: {"x": g["y"] * (2 - 2 * 0.5 ** v["steps"])},
}
for _name, _of in (("sum", _of_sum), ("mean", _of_mean), ("max", _of_extreme), ("min", _of_extreme), ("product", _of_product),
                   ("norm_l1", _of_norm_l1), ("norm_l2", _of_norm_l2)):
    FORMULAS[_name], FORMULAS[_name + "_axis"] = _reduced(_of)
for _name in ("int8_rows", "int8_cols", "int8_tensor", "fp8_tensor", "fp8_1x128", "fp8_128x128", "mxfp8", "mxfp4", "nvfp4", "nf4",
              "nf4_double"):
    FORMULAS["gemv_" + _name] = _gemv_quantised(_name, {"nvfp4": ("scales", "tensor_scale"),
                                                        "nf4_double": ("scales", "group_scales", "mean")}.get(_name, ("scales",)))
