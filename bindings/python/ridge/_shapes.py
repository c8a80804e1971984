"""Shapes in named sizes, as the descriptions write them, for shapes whose sizes are symbols.

libridge evaluates the notation for real tensors (src/operator/shape.h explains it). torch.compile also needs it for sizes
that are not known yet, so it is here once more; `opcheck` compares the two on every operator.
"""
from __future__ import annotations

import dataclasses
import functools
import math
import re
from typing import Any, Callable

# Two elements of these formats lie in one byte, which is what arrays have.
PACKED = ("e2m1", "nf4")
# Formats that few array libraries have: bytes stand for the first of a tensor's formats, if it is one of these.
RARE = ("e4m3", "e5m2", "ue4m3", "ue8m0", *PACKED)

TERM = re.compile(r"(?:(?P<number>\d+)|(?P<up>ceil\()?(?:(?P<times>\d+)\*)?(?P<name>[a-z_]+)(?:/(?P<over>\d+))?"
                  r"(?:\+(?P<plus>\d+))?\)?(?P<pack>\.\.\.)?)")


@dataclasses.dataclass(frozen=True)
class Extent:
    name: str  # of a dimension; empty: a number, `plus`
    pack: bool = False  # any number of dimensions
    times: int = 1
    over: int = 1
    plus: int = 0
    up: bool = False  # the division rounds up

    def of(self, size: Any) -> Any:
        if not self.name:
            return self.plus
        if self.over != 1:
            return (size * self.times + (self.over - 1 if self.up else 0)) // self.over + self.plus
        return size * self.times + self.plus if self.times != 1 or self.plus else size


def bytes_as(tensor: dict[str, Any]) -> str:
    """What an array of bytes stands for as this tensor; "": bytes."""
    first = tensor.get("formats", ["f32"])[0]
    return first if first in RARE else ""


def is_packed(tensor: dict[str, Any]) -> bool:
    return bytes_as(tensor) in PACKED


@functools.cache
def parse(shape: str) -> tuple[Extent, ...]:
    extents = []
    for term in filter(None, (t.strip() for t in shape.split(","))):
        match = TERM.fullmatch(term)
        if not match:
            raise ValueError(f"cannot read the shape '{shape}'")
        extents.append(Extent(match["name"] or "", bool(match["pack"]), int(match["times"] or 1), int(match["over"] or 1),
                              int(match["plus"] or match["number"] or 0), bool(match["up"])))
    return tuple(extents)


def learn(shape: str, tensor: tuple, axis: int, sizes: dict[str, Any]) -> None:
    """Adds the sizes that a tensor of this shape has; a pack's are a tuple."""
    pattern = parse(shape)
    if shape == "1":
        return
    packs = sum(e.pack for e in pattern)
    left = len(tensor) - (len(pattern) - packs)
    if left < 0 or (packs == 0 and left > 0):
        raise ValueError(f"a tensor has {len(tensor)} dimensions; it has to be ({shape})")
    at, first = 0, True
    for extent in pattern:
        if not extent.pack:
            if extent.name:
                size = tensor[at] - extent.plus if extent.plus else tensor[at]
                sizes.setdefault(extent.name, size * extent.over // extent.times
                                 if extent.over != 1 or extent.times != 1 else size)
            at += 1
            continue
        rank = left
        if packs == 2:  # the first ends at the axis
            before = min(max(axis + len(tensor) if axis < 0 else axis, 0), left)
            rank = before if first else left - before
        first = False
        sizes.setdefault(extent.name, tuple(tensor[at:at + rank]))
        at += rank


def is_known(shape: str, sizes: dict[str, Any]) -> bool:
    return all(not e.name or e.name in sizes for e in parse(shape))


def shape_of(shape: str, sizes: dict[str, Any]) -> tuple:
    if shape == "1":
        return ()
    made: list[Any] = []
    for extent in parse(shape):
        if extent.pack:
            made.extend(sizes[extent.name])
        else:
            made.append(extent.of(sizes.get(extent.name, 0)))
    return tuple(made)


# ---- of a description's tensors: as shapes of arrays ----------------------------------------------------------------

def learn_from(tensor: dict[str, Any], shape: tuple, axis: int, sizes: dict[str, Any]) -> None:
    learn(tensor["shape"], (*shape[:-1], shape[-1] * 2) if is_packed(tensor) and shape else shape, axis, sizes)


def array_shape(tensor: dict[str, Any], sizes: dict[str, Any]) -> tuple:
    shape = shape_of(tensor["shape"], sizes)
    return (*shape[:-1], (shape[-1] + 1) // 2) if is_packed(tensor) else shape


# ---- sizes that follow from others ----------------------------------------------------------------------------------

def _conv(name: str, sizes: dict[str, Any], p: dict[str, Any]) -> Any:
    if name == "group_channels":
        return sizes["channels"] // p["groups"]
    if name.startswith("kernel_"):
        return next(size for dimension, size in sizes.items() if dimension.startswith("kernel_"))
    direction = name.removeprefix("out_")

    def own(what: str, least: int) -> Any:
        mine = p.get(f"{what}_{direction}")
        return p[what] if mine is None or mine < least else mine

    kernel = sizes["kernel"] if "kernel" in sizes else sizes[f"kernel_{direction}"]
    room = sizes[direction] + 2 * own("padding", 0) - own("dilation", 1) * (kernel - 1) - 1
    return room // own("stride", 1) + 1


def _pool(name: str, sizes: dict[str, Any], p: dict[str, Any]) -> Any:
    return (sizes[name.removeprefix("out_")] + 2 * p["padding"] - p["kernel"]) // (p["stride"] or p["kernel"]) + 1


def _groups(name: str, sizes: dict[str, Any], p: dict[str, Any]) -> Any:
    rows = math.prod(sizes["rows"]) if isinstance(sizes["rows"], tuple) else sizes["rows"]
    return (rows * ((sizes["cols"] + 63) // 64) + 255) // 256


FOLLOWS: dict[str, Callable[[str, dict[str, Any], dict[str, Any]], Any]] = {
    "conv": _conv, "conv_backward": _conv, "pool": _pool, "quantisation": _groups, "gemv_quantised": _groups}


def following(op: dict[str, Any], known: set[str]) -> list[str]:
    """The sizes that follow from those that come before them, where these are known."""
    found = []
    for dimension in op["dimensions"]:
        if dimension["name"] in known:
            continue
        if not dimension.get("optional") or op["family"] not in FOLLOWS:
            break
        found.append(dimension["name"])
    return found


def follow(op: dict[str, Any], sizes: dict[str, Any], parameters: dict[str, Any]) -> None:
    """Adds them. The library does the same for real tensors (src/ops/outputs.cpp), by the functions of the description."""
    for name in following(op, set(sizes)):
        sizes[name] = FOLLOWS[op["family"]](name, sizes, parameters)
