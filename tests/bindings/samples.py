"""Arguments for the operators of torch.ops.ridge: small tensors of odd sizes that every operator takes, made from the
descriptions."""
import torch

from ridge import _shapes
from ridge.torch import DTYPES

SIZES = {"rows": 3, "cols": 7, "n": 11, "k": 4, "m": 5, "length": 5, "dim": 8, "segments": 4, "bins": 9, "frames": 2, "height": 5,
         "width": 6, "heads": 3, "kv_heads": 2, "seq": 4, "positions": 6, "vocab": 10, "chains": 33, "batch": 2, "state": 3,
         "channels": 4, "filters": 6, "depth": 4, "groups": 2, "vertices": 6, "edges": 11, "kernel": 3, "kernel_depth": 2,
         "kernel_height": 3, "kernel_width": 3}
PACKS = {"n": (3, 5), "rows": (2, 3), "outer": (2,), "inner": (3,), "batch": (2,), "tokens": (2, 3)}
# More of it where four bits are an element: an even number.
SIZES_OF = {"topk": {"k": 3}, "gemm": {"k": 7, "n": 6}, "gemm_fused": {"k": 7, "n": 6}, "gemm_swiglu": {"k": 7, "n": 6},
            "causal_conv1d": {"width": 3}, "causal_conv1d_backward": {"width": 3},
            "group_norm": {"n": 3, "depth": 2}, "group_norm_backward": {"n": 3, "depth": 2},
            **{f"{verb}_{name}": {"cols": 70} for verb in ("quantise", "dequantise", "gemv")
               for name in ("mxfp4", "nvfp4", "nf4", "nf4_double")}}
# Parameters that have no default, or whose default does nothing.
POOL = {"kernel": 3, "stride": 2, "padding": 1}
CONV = {"stride": 2, "padding": 1, "groups": 2}
PARAMETERS = {"rainbow_table": {"rounds": 2}, "occupancy_vs_ilp": {"steps": 3}, "launch_overhead": {"steps": 2},
              "gemm": {"alpha": 0.5, "beta": 2.0}, "gemm_fused": {"alpha": 0.5, "beta": 2.0, "activation": 2},
              "gemm_swiglu": {"alpha": 0.5}, "gemv": {"alpha": 0.5}, "gemv_t": {"alpha": 0.5}, "dropout": {"seed": 7},
              "dropout_backward": {"seed": 7}, "clip_by_global_norm": {"max_norm": 0.5}, "jacobi2d": {"iterations": 2},
              "jacobi3d": {"iterations": 2}, "kl_div": {"reduction": 2}, "kl_div_backward": {"reduction": 2},
              "dpo_loss": {"label_smoothing": 0.1}, "cross_entropy": {"label_smoothing": 0.1},
              "fake_quantise": {"low": -8, "high": 7}, "fake_quantise_rows": {"low": -8, "high": 7},
              **{name: {"axis": 1} for name in ("linear_recurrence", "linear_recurrence_backward", "gae")},
              **{f"{kind}_pool{d}d{end}": POOL for kind in ("max", "avg") for d in (1, 2, 3) for end in ("", "_backward")},
              **{f"conv{d}{end}": CONV for d in ("1d", "2d", "3d") for end in ("", "_backward_data", "_backward_weights")},
              "conv2d_nhwc": CONV}
# Optional tensors that go with a parameter, not with the others.
ALWAYS, NEVER = {("cross_entropy_backward", "dloss")}, {("cross_entropy_backward", "dlosses")}


def _values(tensor, op, dtype, sizes, generator):
    name, shape = tensor["name"], _shapes.array_shape(tensor, sizes)

    def whole(low, high, dtype=DTYPES[dtype]):
        return torch.randint(low, high, shape, generator=generator).to(dtype)
    if name == "offsets":
        # No segment is empty: the mean of one is NaN, which opcheck does not find equal to itself.
        last, parts = (sizes["n"], sizes["segments"]) if "segments" in sizes else (sizes["edges"], sizes["vertices"])
        return torch.linspace(0, last, parts + 1).floor().to(DTYPES[dtype])
    if name == "tokens":
        return whole(0, sizes["vocab"])
    if name == "targets":
        return whole(0, sizes["cols"] if "cols" in sizes else sizes["vertices"])
    if name in ("flags", "heads", "done", "mask"):
        some = whole(0, 2)
        some[..., 0] = 1
        return some
    if _shapes.is_packed(tensor):
        return whole(0, 256, torch.uint8)
    if dtype in _shapes.RARE:  # as bytes: what opcheck does with tensors, PyTorch cannot do with these formats
        values = torch.randn(shape, generator=generator)
        return (values.abs() + 0.5 if name != "q" else values).to(DTYPES[dtype]).view(torch.uint8)
    if DTYPES[dtype].is_floating_point:
        values = torch.randn(shape, generator=generator)
        if name in ("rstd", "v", "row_scale", "col_scale", "scale", "scales", "running_variance", "group_scales"):
            values = values.abs() + 0.5
        if op["name"].startswith("kl_div"):
            values = values.softmax(-1) if name == "target" else values.log_softmax(-1) if name == "x" else values
        if op["name"] in ("sort_keys", "sort_pairs", "topk"):
            values = torch.randperm(values.numel(), generator=generator).reshape(shape) / 4.0
        return values.to(DTYPES[dtype])
    return whole(0, 5)


def arguments(variant, dtype=None, with_optional=True, seed=1):
    """The arguments of one of torch.ops.ridge, in its order. `dtype`: of the tensors with a choice of formats."""
    op, generator = variant.op, torch.Generator().manual_seed(seed)
    parameters = {p["name"]: PARAMETERS.get(op["name"], {}).get(p["name"], p["default"]) for p in op["parameters"]}
    if "c" in (t["name"] for t in op["tensors"]) and "beta" in parameters and not with_optional:
        parameters["beta"] = 0  # of a c that is not there
    parameters = {p["name"]: {"number": float, "flag": bool}.get(p["type"], int)(parameters[p["name"]]) for p in op["parameters"]}
    sizes = {}
    packs = {e.name for t in op["tensors"] for e in _shapes.parse(t["shape"]) if e.pack}
    for dimension in op["dimensions"]:
        name = dimension["name"]
        if not dimension.get("optional") or op["family"] not in _shapes.FOLLOWS:
            sizes[name] = PACKS[name] if name in packs else SIZES_OF.get(op["name"], {}).get(name, SIZES.get(name, 1))
    _shapes.follow(op, sizes, parameters)
    formats, given = {}, []
    for tensor in op["tensors"]:
        if "like" in tensor:
            formats[tensor["name"]] = formats[tensor["like"]]
        else:
            usual = formats.get(tensor.get("usually_like", ""))
            formats[tensor["name"]] = usual or (dtype if dtype in tensor["formats"] else tensor["formats"][0])
        if tensor not in variant.given:
            continue
        is_there = not tensor.get("optional") or with_optional
        if tensor["name"] == "master":  # of adamw: bf16 weights have one, and no others
            is_there = formats["weight"] == "bf16"
        is_there = (is_there or (op["name"], tensor["name"]) in ALWAYS) and (op["name"], tensor["name"]) not in NEVER
        given.append(_values(tensor, op, formats[tensor["name"]], sizes, generator) if is_there else None)
    return (*given, *parameters.values(), *(sizes[name] for name in variant.sizes))
