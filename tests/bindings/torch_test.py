"""The operators in PyTorch: torch.library.opcheck of every one of them, gradcheck of all that have a gradient, torch.compile.

    torch_test.py [-v] [TEST…]    RIDGE_BUILD is the build folder
"""
import importlib.util
import math
import os
import pathlib
import sys
import unittest
import warnings

BUILD = pathlib.Path(os.environ["RIDGE_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(BUILD / "python"))
NO_MODULE = 77  # what ctest knows as "skipped"
for module, how in (("torch", "pip install torch"), ("nanobind", "pip install nanobind, and build again")):
    if not importlib.util.find_spec(module):
        print(f"skipped: {module} is not installed; {how}")
        sys.exit(NO_MODULE)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import ridge  # noqa: E402
import ridge.torch as operators  # noqa: E402
import samples  # noqa: E402

torch.set_num_threads(1)  # tensors are small; threads that wait for each other are slow on a busy machine
DEVICE = "cpu" if ridge._core.is_software() else "cuda"
VARIANTS = {v.name: v for v in operators.PLAIN + operators.MUTATING if v}


def moved(arguments):
    return tuple(a.to(DEVICE) if isinstance(a, torch.Tensor) else a for a in arguments)


def placed(variant, arguments):
    return arguments if any(t.get("on_host") for t in variant.tensors) else moved(arguments)


def wanting_gradients(variant, arguments):
    fixed = NOT_DIFFERENTIATED.get(variant.name, ())
    return tuple(a.clone().requires_grad_() if isinstance(a, torch.Tensor) and a.dtype in FLOATS and not (
        i < len(variant.given) and variant.given[i]["name"] in fixed) else a for i, a in enumerate(arguments))


FLOATS = (torch.float32, torch.float16, torch.bfloat16)


class Opcheck(unittest.TestCase):
    """The schema, the fake function, the registration of the gradient, and AOTAutograd with symbolic sizes."""

    def check(self, name):
        variant = VARIANTS[name]
        formats = variant.op["formats"] if variant.op["formats"] else [None]
        for dtype in formats[:3]:
            for with_optional in (True, False):
                if not with_optional and not any(t.get("optional") for t in variant.given):
                    continue
                arguments = placed(variant, samples.arguments(variant, dtype, with_optional))
                torch.library.opcheck(variant.function, arguments)
                if not variant.mutates and variant.given and variant.formula:
                    torch.library.opcheck(variant.function, wanting_gradients(variant, arguments))


for _name in VARIANTS:
    setattr(Opcheck, f"test_{_name}", lambda self, name=_name: self.check(name))


# ---- gradients ------------------------------------------------------------------------------------------------------

def rivals():
    """PyTorch's formula of each operator, from the families' folders: name → make(tensors, parameters)."""
    found = {}
    for file in sorted(ROOT.glob("src/kernels/*/torch_rival.py")):
        spec = importlib.util.spec_from_file_location(f"rival_{file.parent.name}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= getattr(module, "OPERATORS", {})
    return found


def rope(t, p):
    positions = torch.arange(t["q"].shape[1], dtype=torch.float64, device=t["q"].device) + p["first_position"]
    half = t["q"].shape[-1] // 2
    if t.get("cos") is not None:
        cos, sin = (t[n].double()[p["first_position"]:][:t["q"].shape[1]] for n in ("cos", "sin"))
    else:
        angles = positions[:, None] * p["base"] ** (-torch.arange(half, dtype=torch.float64, device=t["q"].device) / half)
        cos, sin = angles.cos(), angles.sin()
    cos, sin = cos[:, None, :], sin[:, None, :]

    def turned(x):
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
    return tuple(turned(t[n]) for n in ("q", "k") if t[n] is not None)


def layer_norm(x, gamma, beta, epsilon):
    y = (x - x.mean(-1, keepdim=True)) * (x.var(-1, unbiased=False, keepdim=True) + epsilon).rsqrt()
    return y * (1 if gamma is None else gamma) + (0 if beta is None else beta)


def rms_norm(x, gamma, epsilon):
    return x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * (1 if gamma is None else gamma)


def with_sum(norm):
    def formula(t, p):
        total = t["x"] + t["residual"]
        return total, norm(total, t, p)
    return formula


def dropout(t, p):  # of which elements stay, our own operator decides
    ones = torch.ones(t["x"].shape, dtype=torch.float32, device=t["x"].device)
    return t["x"] * ridge.dropout(ones, probability=p["probability"], seed=p["seed"], offset=p["offset"]).double()


def normalized(x, axis, epsilon, gamma, beta):
    others = [d for d in range(x.dim()) if d != axis % x.dim()]
    return affine((x - x.mean(others, keepdim=True)) * (x.var(others, unbiased=False, keepdim=True) + epsilon).rsqrt(),
                  gamma, beta, axis)


def affine(x, gamma, beta, axis):
    shape = [-1 if d == axis % x.dim() else 1 for d in range(x.dim())]
    return x * (1 if gamma is None else gamma.view(shape)) + (0 if beta is None else beta.view(shape))


def batch_norm_infer(t, p):
    shape = [-1 if d == p["axis"] % t["x"].dim() else 1 for d in range(t["x"].dim())]
    mean, variance = (t[n].double().view(shape) for n in ("running_mean", "running_variance"))
    return affine((t["x"] - mean) * (variance + p["epsilon"]).rsqrt(), t["gamma"], t["beta"], p["axis"])


def group_norm(t, p):
    x = t["x"].flatten(2)
    y = ((x - x.mean(-1, keepdim=True)) * (x.var(-1, unbiased=False, keepdim=True) + p["epsilon"]).rsqrt()).view(t["x"].shape)
    shape = (1, *t["x"].shape[1:3], *[1] * (t["x"].dim() - 3))
    return y * (1 if t["gamma"] is None else t["gamma"].view(shape)) + (0 if t["beta"] is None else t["beta"].view(shape))


def fake_quantised(t, p, scale, rounded=lambda x: x.round()):
    zero = 0 if t["zero_point"] is None else t["zero_point"].view(scale.shape)
    return (rounded(t["x"] / scale + zero).clamp(p["low"], p["high"]) - zero) * scale


def fake_quantised_fp8(t, p):
    dtype = (torch.float8_e4m3fn, torch.float8_e5m2)[p["format"]]
    largest = torch.finfo(dtype).max
    return (t["x"] / t["scale"]).float().clamp(-largest, largest).to(dtype).double() * t["scale"]


def linear_recurrence(t, p):
    a, b = (t[n].movedim(p["axis"], 0) for n in ("a", "b"))
    h, all_of_them = torch.zeros_like(a[0]) if t["initial"] is None else t["initial"], []
    for step in range(a.shape[0]):
        h = a[step] * h + b[step]
        all_of_them.append(h)
    return torch.stack(all_of_them).movedim(0, p["axis"])


def gae(t, p):
    rewards, values, done = (t[n].double().movedim(p["axis"], 0) for n in ("rewards", "values", "done"))
    kept = (done == 0).double()
    following = torch.zeros_like(values[0]) if t["next_value"] is None else t["next_value"]
    advantage, all_of_them = torch.zeros_like(values[0]), []
    for step in reversed(range(values.shape[0])):
        delta = rewards[step] + p["gamma"] * kept[step] * following - values[step]
        advantage = delta + p["gamma"] * p["decay"] * kept[step] * advantage
        following = values[step]
        all_of_them.insert(0, advantage)
    advantages = torch.stack(all_of_them).movedim(0, p["axis"])
    return advantages, advantages + t["values"]


def selective_scan(t, p):
    delta = t["delta"] + (0 if t["delta_bias"] is None else t["delta_bias"].unsqueeze(-1))  # (batch, dim, length)
    if p["softplus"]:
        delta = F.softplus(delta)
    h, outputs = torch.zeros(*t["u"].shape[:2], t["a"].shape[1], dtype=torch.float64, device=t["u"].device), []
    for step in range(t["u"].shape[2]):
        s, u = delta[..., step, None], t["u"][..., step, None]
        h = torch.exp(s * t["a"]) * h + s * t["b"][:, None, :, step] * u
        outputs.append((h * t["c"][:, None, :, step]).sum(-1))
    y = torch.stack(outputs, -1) + (0 if t["d"] is None else t["d"].unsqueeze(-1) * t["u"])
    return y * (1 if t["z"] is None else F.silu(t["z"]))


def causal_conv1d(t, p):
    x = F.pad(t["x"], (t["w"].shape[1] - 1, 0))
    y = F.conv1d(x, t["w"].unsqueeze(1), t["bias"], groups=t["w"].shape[0])
    return F.silu(y) if p["silu"] else y


def conv(function, directions):
    def reference(t, p):
        def each(what, least):
            of = [None, *("height", "width")[3 - directions:]] if directions > 1 else [None]
            return [p[what] if d is None or p[f"{what}_{d}"] < least else p[f"{what}_{d}"] for d in of]
        return function(t["x"], t["w"], t["bias"], each("stride", 1), each("padding", 0), each("dilation", 1), p["groups"])
    return reference


def conv2d_nhwc(t, p):
    t = t | {n: t[n].permute(0, 3, 1, 2) for n in ("x", "w")}
    return conv(F.conv2d, 2)(t, p).permute(0, 2, 3, 1)


def jacobi(t, p):
    x = t["x"]
    inner = (slice(1, -1),) * x.dim()
    for _ in range(p["iterations"]):
        y = x.clone()
        y[inner] = sum(x.roll(by, axis)[inner] for axis in range(x.dim()) for by in (1, -1)) / (2 * x.dim())
        x = y
    return x


def segments(reduce):
    def reference(t, p):
        offsets = t["offsets"].tolist()
        return torch.stack([reduce(t["x"][a:b]) for a, b in zip(offsets, offsets[1:])])
    return reference


def segmented_scan(starts, exclusive):
    def reference(t, p):
        first, out = 0, []
        for i in range(t["in"].shape[0]):
            if i and starts(t, i):
                first = i
            out.append(t["in"][first:i if exclusive else i + 1].sum())
        return torch.stack(out)
    return reference


def gemm_fused(t, p):
    d = p["alpha"] * t["a"] @ t["b"]
    d = d * (1 if t["row_scale"] is None else t["row_scale"].unsqueeze(-1)) * (
        1 if t["col_scale"] is None else t["col_scale"].unsqueeze(-2))
    d = d + (0 if t["bias"] is None else t["bias"].unsqueeze(-2))
    d = (lambda x: x, F.relu, F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu)[p["activation"]](d)
    return d + (0 if t["c"] is None else p["beta"] * t["c"])


def gemm_swiglu(t, p):
    both = p["alpha"] * t["a"] @ t["b"] + (0 if t["bias"] is None else t["bias"].unsqueeze(-2))
    return F.silu(both[..., 0::2]) * both[..., 1::2]


def gemv_quantised(name, scales):
    """What the numbers of the format are, our own operator says, which operators_test.py compares with float64."""
    def reference(t, p):
        weights = getattr(ridge, "dequantise_" + name)(t["q"], *(t[n] for n in scales))
        return weights.double() @ t["x"]
    return reference


def cross_entropy(t, p):
    losses = F.cross_entropy(t["logits"].flatten(0, -2), t["targets"].flatten().long(), reduction="none",
                             label_smoothing=p["label_smoothing"], ignore_index=p["ignore_index"]).view(t["targets"].shape)
    kept = (t["targets"] != p["ignore_index"]).sum()
    return (losses.sum() / kept if p["reduction"] == 0 else losses.sum()), losses


def linear_cross_entropy(t, p):
    return F.cross_entropy(t["hidden"] @ t["weight"].mT, t["targets"].long(), reduction=("mean", "sum")[p["reduction"]],
                           label_smoothing=p["label_smoothing"], ignore_index=p["ignore_index"])


def kl_div(t, p):
    return F.kl_div(t["x"], t["target"], reduction=("mean", "sum", "batchmean")[p["reduction"]], log_target=bool(p["log_target"]))


def counted_mean(x, mask):
    return x.mean() if mask is None else (x * (mask != 0)).sum() / (mask != 0).sum()


def ppo_loss(t, p):
    ratio = torch.exp(t["logp"] - t["old_logp"])
    policy = -torch.minimum(ratio * t["advantages"], ratio.clamp(1 - p["clip"], 1 + p["clip"]) * t["advantages"])
    value = (t["values"] - t["returns"]).square()
    if t["old_values"] is not None:
        clipped = t["old_values"] + (t["values"] - t["old_values"]).clamp(-p["value_clip"], p["value_clip"])
        value = torch.maximum(value, (clipped - t["returns"]).square())
    entropy = torch.zeros_like(value) if t["entropy"] is None else t["entropy"]
    policy, value, entropy = (counted_mean(x, t["mask"]) for x in (policy, value, entropy))
    value = value / 2
    return torch.stack([policy + p["value_weight"] * value - p["entropy_weight"] * entropy, policy, value, entropy])


def dpo_loss(t, p):
    h = p["beta"] * ((t["chosen"] - t["ref_chosen"]) - (t["rejected"] - t["ref_rejected"]))
    return -((1 - p["label_smoothing"]) * F.logsigmoid(h) + p["label_smoothing"] * F.logsigmoid(-h)).mean()


def grpo_loss(t, p, ratio_to_itself=torch.ones_like):
    ratio = ratio_to_itself(t["logp"]) if t["old_logp"] is None else torch.exp(t["logp"] - t["old_logp"])
    advantage = t["advantages"].unsqueeze(-1)
    clipped = ratio if t["old_logp"] is None else ratio.clamp(1 - p["clip_low"], 1 + p["clip_high"])
    loss = -torch.minimum(ratio * advantage, clipped * advantage)
    if t["ref_logp"] is not None:
        d = t["ref_logp"] - t["logp"]
        loss = loss + p["beta"] * (d.exp() - d - 1)
    mask = torch.ones_like(loss) if t["mask"] is None else (t["mask"] != 0).double()
    if p["average"] == 0:
        return ((loss * mask).sum(-1) / mask.sum(-1)).mean()
    return (loss * mask).sum() / mask.sum()


def clip_by_global_norm(t, p):
    norm = t["x"].norm()
    return t["x"] * (p["max_norm"] / (norm + 1e-6)).clamp(max=1), norm


def sort_pairs(t, p):
    keys, at = torch.sort(t["keys"], stable=True, descending=bool(p["descending"]))
    return keys, t["values"][at]


def compact(t, p):
    kept = t["x"][t["flags"] != 0]
    return torch.cat([kept, torch.zeros(t["x"].numel() - kept.numel(), dtype=kept.dtype, device=kept.device)])


def pool(function, mean):
    def reference(t, p):
        stride = p["stride"] or p["kernel"]
        if mean:
            return function(t["x"], p["kernel"], stride, p["padding"], count_include_pad=bool(p["count_padding"]))
        return function(t["x"], p["kernel"], stride, p["padding"])
    return reference


def along(function):
    return lambda t, p: function(t["x"], p["axis"])


HEAD = lambda t, i: t["heads"][i] != 0  # noqa: E731
KEY = lambda t, i: t["keys"][i] != t["keys"][i - 1]  # noqa: E731

# In float64, of tensors and parameters by name. Differentiated by finite differences. A reference leaves out outputs that are statistics
# or gradients themselves, which come last.
REFERENCES = {
    "softmax": lambda t, p: t["x"].softmax(-1),
    "log_softmax": lambda t, p: t["x"].log_softmax(-1),
    "layer_norm": lambda t, p: layer_norm(t["x"], t["gamma"], t["beta"], p["epsilon"]),
    "rms_norm": lambda t, p: rms_norm(t["x"], t["gamma"], p["epsilon"]),
    "add_layer_norm": with_sum(lambda x, t, p: layer_norm(x, t["gamma"], t["beta"], p["epsilon"])),
    "add_rms_norm": with_sum(lambda x, t, p: rms_norm(x, t["gamma"], p["epsilon"])),
    "batch_norm": lambda t, p: normalized(t["x"], p["axis"], p["epsilon"], t["gamma"], t["beta"]),
    "batch_norm_infer": batch_norm_infer,
    "group_norm": group_norm,
    "swiglu": lambda t, p: F.silu(t["gate"]) * t["up"],
    "geglu": lambda t, p: F.gelu(t["gate"]) * t["up"],
    "swiglu_packed": lambda t, p: F.silu(t["x"].chunk(2, -1)[0]) * t["x"].chunk(2, -1)[1],
    "geglu_packed": lambda t, p: F.gelu(t["x"].chunk(2, -1)[0]) * t["x"].chunk(2, -1)[1],
    "dyt": lambda t, p: t["gamma"] * torch.tanh(t["alpha"] * t["x"]) + t["beta"],
    "rope": rope,
    "dropout": dropout,
    "embedding": lambda t, p: t["table"][t["tokens"].long()],
    "fake_quantise": lambda t, p: fake_quantised(t, p, t["scale"]),
    "fake_quantise_rows": lambda t, p: fake_quantised(t, p, t["scale"].unsqueeze(-1)),
    "fake_quantise_fp8": fake_quantised_fp8,
    "add": lambda t, p: t["a"] + t["b"],
    "vector_add_streamed": lambda t, p: t["a"] + t["b"],
    "copy": lambda t, p: t["in"].clone(),
    "transpose": lambda t, p: t["in"].mT.contiguous(),
    "reverse": lambda t, p: t["in"].flip(0),
    "interleave": lambda t, p: torch.stack([t["a"], t["b"]], -1).flatten(-2),
    "topk": lambda t, p: t["x"].topk(3, -1, bool(p["largest"])).values,
    "sort_keys": lambda t, p: torch.sort(t["keys"], stable=True, descending=bool(p["descending"])).values,
    "sort_pairs": sort_pairs,
    "compact": compact,
    "inclusive_scan": lambda t, p: t["in"].cumsum(0),
    "exclusive_scan": lambda t, p: t["in"].cumsum(0) - t["in"],
    "inclusive_max_scan": lambda t, p: t["in"].cummax(0).values,
    "exclusive_max_scan": lambda t, p: torch.cat([t["in"].new_full((1,), -math.inf), t["in"].cummax(0).values[:-1]]),
    "inclusive_segmented_scan": segmented_scan(HEAD, False),
    "exclusive_segmented_scan": segmented_scan(HEAD, True),
    "inclusive_scan_by_key": segmented_scan(KEY, False),
    "exclusive_scan_by_key": segmented_scan(KEY, True),
    "linear_recurrence": linear_recurrence,
    "gae": gae,
    "selective_scan": selective_scan,
    "sum": lambda t, p: t["x"].sum(),
    "mean": lambda t, p: t["x"].mean(),
    "max": lambda t, p: t["x"].max(),
    "min": lambda t, p: t["x"].min(),
    "product": lambda t, p: t["x"].prod(),
    "norm_l1": lambda t, p: t["x"].abs().sum(),
    "norm_l2": lambda t, p: t["x"].norm(),
    "dot": lambda t, p: (t["x"] * t["y"]).sum(),
    "sum_axis": along(torch.sum), "mean_axis": along(torch.mean), "max_axis": along(torch.amax), "min_axis": along(torch.amin),
    "product_axis": along(torch.prod), "norm_l1_axis": along(lambda x, axis: x.abs().sum(axis)),
    "norm_l2_axis": along(lambda x, axis: x.norm(dim=axis)),
    "l1_normalize": lambda t, p: t["x"] / t["x"].abs().sum(-1, keepdim=True).clamp(p["epsilon"]),
    "l2_normalize": lambda t, p: t["x"] / t["x"].norm(dim=-1, keepdim=True).clamp(p["epsilon"]),
    "clip_by_global_norm": clip_by_global_norm,
    "segmented_sum": segments(torch.sum), "segmented_mean": segments(torch.mean), "segmented_max": segments(torch.max),
    "segmented_min": segments(torch.min),
    "gemm": lambda t, p: p["alpha"] * t["a"] @ t["b"] + (0 if t["c"] is None else p["beta"] * t["c"]),
    "gemm_fused": gemm_fused,
    "gemm_swiglu": gemm_swiglu,
    "gemv": lambda t, p: p["alpha"] * t["a"] @ t["x"],
    "gemv_t": lambda t, p: p["alpha"] * t["a"].mT @ t["x"],
    "matmul_by_shuffles": lambda t, p: t["a"] @ t["b"],
    "conv1d": conv(F.conv1d, 1), "conv2d": conv(F.conv2d, 2), "conv3d": conv(F.conv3d, 3), "conv2d_nhwc": conv2d_nhwc,
    "causal_conv1d": causal_conv1d,
    "max_pool1d": pool(F.max_pool1d, False), "max_pool2d": pool(F.max_pool2d, False), "max_pool3d": pool(F.max_pool3d, False),
    "avg_pool1d": pool(F.avg_pool1d, True), "avg_pool2d": pool(F.avg_pool2d, True), "avg_pool3d": pool(F.avg_pool3d, True),
    "jacobi2d": jacobi, "jacobi3d": jacobi,
    "cross_entropy": cross_entropy,
    "cross_entropy_with_gradient": cross_entropy,
    "linear_cross_entropy": linear_cross_entropy,
    "mse_loss": lambda t, p: F.mse_loss(t["x"], t["target"], reduction=("mean", "sum")[p["reduction"]]),
    "kl_div": kl_div,
    "ppo_loss": ppo_loss, "dpo_loss": dpo_loss, "grpo_loss": grpo_loss,
    "warp_sum": lambda t, p: t["in"].sum(-1),
    "warp_scan": lambda t, p: t["in"].cumsum(-1),
    "occupancy_vs_ilp": lambda t, p: t["x"] * (2 - 2 * 0.5 ** p["steps"]),
}
for _name in ("int8_rows", "int8_cols", "int8_tensor", "fp8_tensor", "fp8_1x128", "fp8_128x128", "mxfp8", "mxfp4", "nf4"):
    REFERENCES["gemv_" + _name] = gemv_quantised(_name, ("scales",))
REFERENCES["gemv_nvfp4"] = gemv_quantised("nvfp4", ("scales", "tensor_scale"))
REFERENCES["gemv_nf4_double"] = gemv_quantised("nf4_double", ("scales", "group_scales", "mean"))
# What is differentiated instead, where the gradient is not the function's own derivative: rounding counts as the identity. Infinities
# have no finite differences.
DIFFERENTIATED = {
    "fake_quantise": lambda t, p: fake_quantised(t, p, t["scale"], lambda x: x),
    "fake_quantise_rows": lambda t, p: fake_quantised(t, p, t["scale"].unsqueeze(-1), lambda x: x),
    "fake_quantise_fp8": lambda t, p: t["x"].clone(),
    # Where the old probabilities are left out they are those of now, as constants: the slope of the ratio is 1.
    "grpo_loss": lambda t, p: grpo_loss(t, p, lambda logp: logp + 1),
    "exclusive_max_scan": lambda t, p: torch.cat([t["in"].new_zeros(1), t["in"].cummax(0).values[:-1]]),
}
RIVALS = rivals()


def reference_of(name, differentiated=False):
    if differentiated and name in DIFFERENTIATED:
        return DIFFERENTIATED[name]
    if name in REFERENCES:
        return REFERENCES[name]
    return lambda t, p: RIVALS[name](t, p)()  # activations


class OursBackward(torch.autograd.Function):
    """Forwards the float64 reference, backwards our operator's gradient in f32."""

    @staticmethod
    def forward(ctx, variant, constants, *inputs):
        ctx.variant, ctx.constants = variant, constants
        ctx.save_for_backward(*inputs)
        tensors, parameters, _ = variant.split(merged(constants, inputs))
        results = reference_of(variant.name, True)(tensors, dict(zip((p["name"] for p in variant.parameters), parameters)))
        return results if isinstance(results, tuple) else (results,)

    @staticmethod
    def backward(ctx, *gradients):
        with torch.enable_grad():
            ours = [i.float().requires_grad_() for i in ctx.saved_tensors]
            results = ctx.variant.function(*merged(ctx.constants, ours))
            results = [r for r in (results if isinstance(results, tuple) else (results,)) if r.requires_grad and r.numel()]
            got = torch.autograd.grad(results, ours, [g.float() for g in gradients[:len(results)]], allow_unused=True)
        return (None, None, *(torch.zeros_like(i) if g is None else g.double() for g, i in zip(got, ctx.saved_tensors)))


def merged(constants, inputs):
    """The arguments: those that are differentiated fill the gaps."""
    rest = iter(inputs)
    return tuple(next(rest) if c is GAP else c for c in constants)


GAP = object()
# Inputs without a gradient, by operator: backward says so for them.
SCALES = ("scale", "scales", "tensor_scale", "group_scales", "mean")
NOT_DIFFERENTIATED = {"rope": ("cos", "sin"), "batch_norm_infer": ("running_mean", "running_variance"),
                      "cross_entropy_with_gradient": ("dloss",), "dpo_loss": ("ref_chosen", "ref_rejected"),
                      "ppo_loss": ("old_logp", "advantages", "returns", "old_values"),
                      "grpo_loss": ("old_logp", "ref_logp", "advantages")}
NOT_DIFFERENTIATED |= {name: SCALES for name in VARIANTS if name.startswith(("fake_quantise", "gemv_")) and name != "gemv_t"}
# f32 has 24 bits; sums here have at most a few dozen terms of about 1.
TOLERANCE = 2e-5


class Gradients(unittest.TestCase):
    def check(self, name, with_optional):
        variant = VARIANTS[name]
        arguments = list(placed(variant, samples.arguments(variant, "f32", with_optional)))
        inputs, constants = [], []
        for i, a in enumerate(arguments):
            fixed = i < len(variant.given) and variant.given[i]["name"] in NOT_DIFFERENTIATED.get(name, ())
            if isinstance(a, torch.Tensor) and a.dtype == torch.float32 and not fixed:
                # Away from the points at which activations have no derivative.
                a = torch.where((a.abs() % 1).lt(0.05) | (a.abs() % 1).gt(0.95), a + 0.2, a)
                inputs.append(a.double().requires_grad_())
                constants.append(GAP)
            else:
                constants.append(a)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that inputs are not in double precision: ours are not
            torch.autograd.gradcheck(lambda *x: OursBackward.apply(variant, tuple(constants), *x), inputs, eps=1e-6,
                                     atol=TOLERANCE, rtol=TOLERANCE, nondet_tol=0.0)
        # The forward results agree, too.
        tensors, parameters, _ = variant.split(merged(constants, [i.detach() for i in inputs]))
        truth = reference_of(name)(tensors, dict(zip((p["name"] for p in variant.parameters), parameters)))
        got = variant.function(*merged(constants, [i.detach().float() for i in inputs]))
        for t, g in zip(truth if isinstance(truth, tuple) else (truth,), got if isinstance(got, tuple) else (got,)):
            torch.testing.assert_close(g.double(), t, atol=TOLERANCE, rtol=TOLERANCE)


for _name, _variant in VARIANTS.items():
    if _variant.mutates or not _variant.given or not _variant.formula:
        continue
    setattr(Gradients, f"test_{_name}", lambda self, name=_name: self.check(name, True))
    if any(t.get("optional") for t in _variant.given):
        setattr(Gradients, f"test_{_name}_without_optional_inputs", lambda self, name=_name: self.check(name, False))


class Behaviour(unittest.TestCase):
    def x(self, *shape, **options):
        return torch.randn(*shape, generator=torch.Generator().manual_seed(3)).to(DEVICE).requires_grad_(**options) if options \
            else torch.randn(*shape, generator=torch.Generator().manual_seed(3)).to(DEVICE)

    def test_no_gradient_says_so(self):
        x = self.x(3, 5, requires_grad=True)
        with self.assertRaisesRegex(ridge.Error, "ridge.relu_backward has no gradient"):
            ridge.relu_backward(x, torch.ones(3, 5, device=DEVICE)).sum().backward()
        scale = torch.ones((), device=DEVICE, requires_grad=True)
        with self.assertRaisesRegex(ridge.Error, "ridge.fake_quantise has no gradient for scale; detach it"):
            ridge.fake_quantise(x, scale).sum().backward()

    def test_running_statistics_and_gradients(self):
        x, gamma = self.x(4, 3, 5, requires_grad=True), torch.ones(3, device=DEVICE, requires_grad=True)
        statistics = [[torch.zeros(3, device=DEVICE), torch.ones(3, device=DEVICE)] for _ in range(3)]
        losses = [F.batch_norm(x, *statistics[0], gamma, training=True).square().mul(x.detach()).sum()]

        def loss(x, gamma, mean, variance):
            return ridge.batch_norm(x, gamma, None, mean, variance)[-1].square().mul(x.detach()).sum()
        losses += [loss(x, gamma, *statistics[1]),
                   torch.compile(loss, fullgraph=True, backend="aot_eager")(x, gamma, *statistics[2])]
        gradients = [torch.autograd.grad(l, (x, gamma)) for l in losses]
        for i in (1, 2):
            torch.testing.assert_close(statistics[i], statistics[0])
            torch.testing.assert_close(gradients[i], gradients[0], atol=1e-4, rtol=1e-4)

    def test_formats_of_few_bits(self):
        x, vector = self.x(4, 64), self.x(64)
        for name, shape, dtype in (("fp8_tensor", (4, 64), torch.float8_e4m3fn), ("mxfp8", (4, 64), torch.float8_e4m3fn),
                                   ("mxfp4", (4, 32), torch.uint8), ("nvfp4", (4, 32), torch.uint8), ("nf4", (4, 32), torch.uint8)):
            q, *scales = getattr(ridge, "quantise_" + name)(x)
            self.assertEqual((q.shape, q.dtype), (shape, dtype))
            back = getattr(ridge, "dequantise_" + name)(q, *scales)
            self.assertLess((back - x).abs().max().item(), 0.5)
            as_bytes = [t.view(torch.uint8) if t.element_size() == 1 else t for t in (q, *scales)]
            torch.testing.assert_close(getattr(ridge, "dequantise_" + name)(*as_bytes), back, atol=0, rtol=0)
            torch.testing.assert_close(getattr(ridge, "gemv_" + name)(vector, q, *scales), back @ vector, atol=1e-4, rtol=1e-4)
        q, *scales = ridge.quantise_nvfp4(x)
        self.assertEqual(scales[0].dtype, torch.float8_e4m3fn)
        pairs = q.view(torch.float4_e2m1fn_x2)
        torch.testing.assert_close(ridge.dequantise_nvfp4(pairs, *scales), ridge.dequantise_nvfp4(q, *scales), atol=0, rtol=0)
        self.assertEqual(ridge.quantise_mxfp8(x)[1].dtype, torch.float8_e8m0fnu)

    def test_convolution_says_its_sizes_itself(self):
        x, w = self.x(2, 4, 9, 8), self.x(6, 2, 3, 3)
        y = ridge.conv2d(x, w, stride=2, padding=1, groups=2)
        torch.testing.assert_close(y, F.conv2d(x, w, stride=2, padding=1, groups=2), atol=1e-4, rtol=1e-4)
        self.assertEqual(ridge.max_pool2d(x, kernel=3, stride=2).shape, (2, 4, 4, 3))
        compiled = torch.compile(lambda x: ridge.conv2d(x, w, stride=2, padding=1, groups=2), fullgraph=True, backend="aot_eager",
                                 dynamic=True)
        torch.testing.assert_close(compiled(x), y)
        self.assertEqual(compiled(self.x(2, 4, 21, 6)).shape, (2, 6, 11, 3))

    def test_results_are_those_of_the_function(self):
        x = self.x(3, 5)
        y = ridge.layer_norm(x)
        self.assertEqual((type(y), y.shape), (torch.Tensor, x.shape))
        y, mean = ridge.layer_norm(x.requires_grad_(), mean=True)
        self.assertEqual(mean.shape, (3,))
        self.assertTrue(y.requires_grad and not mean.requires_grad)

    def test_given_output(self):
        x, out = self.x(3, 5), torch.empty(3, 5, device=DEVICE)
        self.assertIs(ridge.softmax(x, out=out), out)
        torch.testing.assert_close(out, x.softmax(-1))

    def test_in_place(self):
        weight, grad = self.x(7), torch.ones(7, device=DEVICE)
        before = weight.clone()
        version = weight._version
        _, m, v = ridge.adamw(weight, grad, lr=0.1)
        self.assertFalse(torch.equal(weight, before))
        torch.testing.assert_close(m, 0.1 * grad)

    def test_formats(self):
        for dtype in (torch.float16, torch.bfloat16):
            x = self.x(3, 8).to(dtype)
            y = ridge.softmax(x)
            self.assertEqual(y.dtype, dtype)
            torch.testing.assert_close(y, x.softmax(-1), atol=1e-2, rtol=1e-2)

    def test_wrong_strides(self):
        with self.assertRaisesRegex(ridge.ArgumentError, "softmax: x has strides"):
            ridge.softmax(self.x(5, 3).T)

    def test_wrong_format(self):
        with self.assertRaisesRegex(ridge.ArgumentError, "softmax: x is i64; it can be f32, f16, bf16"):
            ridge.softmax(torch.arange(4, device=DEVICE))
        with self.assertRaisesRegex(ridge.ArgumentError, "has a format of numbers that Ridge does not have"):
            ridge.softmax(torch.zeros(4, dtype=torch.complex64, device=DEVICE))

    def test_wrong_device(self):
        if DEVICE == "cuda":
            with self.assertRaisesRegex(ridge.ArgumentError, "x is on the CPU, but the operators run on the GPU"):
                ridge.softmax(torch.zeros(4))
        self.assertTrue(ridge.softmax(torch.zeros(4, device="meta")).is_meta)

    def test_vmap(self):
        x = self.x(2, 3, 4)
        torch.testing.assert_close(torch.vmap(ridge.relu)(x), x.relu())

    def test_compile(self):
        function = torch.compile(lambda x, w: ridge.softmax(ridge.rms_norm(x * 2, w)) + 1, fullgraph=True, backend="aot_eager")
        x, w = self.x(3, 8, requires_grad=True), torch.ones(8, device=DEVICE, requires_grad=True)
        function(x, w).square().sum().backward()
        gradient, x.grad = x.grad, None
        (F.rms_norm(x * 2, (8,), w, 1e-5).softmax(-1) + 1).square().sum().backward()
        torch.testing.assert_close(gradient, x.grad, atol=1e-5, rtol=1e-5)

    def test_compile_in_place(self):
        def step(weight, grad, m, v):
            ridge.adamw(weight, grad, m, v, lr=0.1)
            return weight * 2
        states = [[self.x(7), torch.ones(7, device=DEVICE), torch.zeros(7, device=DEVICE), torch.zeros(7, device=DEVICE)]
                  for _ in range(2)]
        torch.testing.assert_close(torch.compile(step, fullgraph=True, backend="aot_eager")(*states[0]), step(*states[1]))
        torch.testing.assert_close(states[0], states[1])

    def test_threads(self):
        import threading
        x, wrong = self.x(16, 33, requires_grad=True), []

        def work():
            for _ in range(10):
                y = ridge.softmax(x)
                if not torch.allclose(y, x.softmax(-1)):
                    wrong.append(1)
                torch.autograd.grad(y.square().sum(), x)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(wrong)


if __name__ == "__main__":
    unittest.main()
