"""The way from an operator's function to the device."""
from __future__ import annotations

from typing import Any

from ridge import _core


def _nothing_compiles() -> bool:
    return False


# ridge.torch sets both, once PyTorch is there.
is_compiling = _nothing_compiles
traced: Any = None


def call(op: int, tensors: tuple, parameters: tuple, sizes: tuple | None) -> Any:
    if is_compiling():  # torch.compile follows Python, but not the calls below it
        return traced(op, tensors, parameters, sizes)
    return _core.run(op, tensors, parameters, sizes)


def choice(op: str, name: str, value: str, words: tuple[str, ...]) -> int:
    if value in words:
        return words.index(value)
    from ridge._errors import ArgumentError
    raise ArgumentError(f"{op}: {name} is {value!r}; it can be {', '.join(words)}")
