"""Arguments for the operators of torch.ops.ridge: small tensors of odd sizes that every operator takes, made from the
descriptions."""
import torch

from ridge import _shapes
from ridge.torch import DTYPES

SIZES = {"rows": 3, "cols": 7, "n": 11, "k": 4, "m": 5, "length": 5, "dim": 8, "segments": 4, "bins": 9, "frames": 2, "height": 5,
         "width": 6, "heads": 3, "kv_heads": 2, "seq": 4, "positions": 6, "vocab": 10, "chains": 33, "batch": 2}
PACKS = {"n": (3, 5), "rows": (2, 3), "outer": (2,), "inner": (3,), "batch": (2,), "tokens": (2, 3)}
SIZES_OF = {"topk": {"k": 3}, "gemm": {"k": 7, "n": 6}, "gemm_fused": {"k": 7, "n": 6}, "gemm_swiglu": {"k": 7, "n": 6}}
# Parameters that have no default, or whose default does nothing.
PARAMETERS = {"rainbow_table": {"rounds": 2}, "occupancy_vs_ilp": {"steps": 3}, "launch_overhead": {"steps": 2},
              "gemm": {"alpha": 0.5, "beta": 2.0}, "gemv": {"alpha": 0.5}, "gemv_t": {"alpha": 0.5}, "dropout": {"seed": 7},
              "dropout_backward": {"seed": 7}, "clip_by_global_norm": {"max_norm": 0.5}}


def _values(name, op, dtype, shape, sizes, generator):
    def whole(low, high):
        return torch.randint(low, high, shape, generator=generator).to(DTYPES[dtype])
    if name == "offsets":
        # No segment is empty: the mean of one is NaN, which opcheck does not find equal to itself.
        return torch.linspace(0, sizes["n"], sizes["segments"] + 1).floor().to(DTYPES[dtype])
    if name == "tokens":
        return whole(0, sizes["vocab"])
    if name in ("flags", "heads"):
        return whole(0, 2)
    if DTYPES[dtype].is_floating_point:
        values = torch.randn(shape, generator=generator)
        if name in ("rstd", "v", "row_scale", "col_scale"):
            values = values.abs() + 0.5
        if op["name"] in ("sort_keys", "sort_pairs", "topk"):
            values = torch.randperm(values.numel(), generator=generator).reshape(shape) / 4.0
        return values.to(DTYPES[dtype])
    return whole(0, 5)


def arguments(variant, dtype=None, with_optional=True, seed=1):
    """The arguments of one of torch.ops.ridge, in its order. `dtype`: of the tensors with a choice of formats."""
    op, generator = variant.op, torch.Generator().manual_seed(seed)
    sizes = {}
    packs = {e.name for t in op["tensors"] for e in _shapes.parse(t["shape"]) if e.pack}
    for dimension in op["dimensions"]:
        name = dimension["name"]
        sizes[name] = PACKS[name] if name in packs else SIZES_OF.get(op["name"], {}).get(name, SIZES.get(name, 1))
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
        shape = _shapes.shape_of(tensor["shape"], sizes)
        given.append(_values(tensor["name"], op, formats[tensor["name"]], shape, sizes, generator) if is_there else None)
    for parameter in op["parameters"]:
        value = PARAMETERS.get(op["name"], {}).get(parameter["name"], parameter["default"])
        if parameter["name"] == "beta" and not with_optional and any(t["name"] == "c" for t in op["tensors"]):
            value = 0  # of a c that is not there
        given.append({"number": float, "flag": bool}.get(parameter["type"], int)(value))
    return tuple(given) + tuple(sizes[name] for name in variant.sizes)
