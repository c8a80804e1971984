"""Shapes in named sizes, as the descriptions write them, for shapes whose sizes are symbols.

libridge evaluates the notation for real tensors (src/operator/shape.h explains it). torch.compile also needs it for sizes
that are not known yet, so it is here once more; `opcheck` compares the two on every operator.
"""
from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

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
