"""Ridge: GPU kernels for arrays of NumPy and PyTorch, on a GPU or without one.

    import numpy, ridge
    x = numpy.random.rand(4, 1000).astype("float32")
    y = ridge.softmax(x)

Without a GPU, the operators run on Ridge's software GPU, in this process. docs/bindings.md explains the rest.
"""
from __future__ import annotations

import os as _os
import sys as _sys

from ridge import _core
from ridge import _descriptions, _errors, _library, _shapes
from ridge._errors import ArgumentError, CompileError, Error, ForkError, KernelError, MissingError

_core.set_errors(_errors)
_core.set_wishes(_library.libridge(), str(_library.folders()[1]),
                 [str(folder / "lib") for folder in _library.nvidia_packages()])
for _op in _descriptions.ALL:
    _core.add_operator(_op["name"],
                       tuple((t["name"], t["role"], bool(t.get("optional")), bool(t.get("on_host")),
                              _shapes.bytes_as(t)) for t in _op["tensors"]),
                       len(_op["parameters"]), len(_op["dimensions"]))

from ridge._operators import *  # noqa: E402,F403
from ridge import _operators  # noqa: E402
from ridge._inline import load_inline  # noqa: E402


def use(device: str, *, gpu: str | None = None) -> None:
    """Says where the operators run, before the first of them is called.

    Args:
        device: "auto" takes a GPU where there is one; "gpu" insists on it; "vm" takes the software GPU
        gpu: which GPU the software GPU is: "h200", "a100", "t4"; `ridge device --all` lists them
    """
    if device not in ("auto", "gpu", "vm"):
        raise ArgumentError(f"use: device is {device!r}; it can be auto, gpu, vm")
    if _core.is_loaded():
        raise Error(f"the operators run on {device_name()} already; call ridge.use before the first of them")
    _core.set_device(device)
    if gpu is not None:
        _os.environ["RIDGE_GPU"] = gpu


def device_name() -> str:
    """What the operators run on: the GPU's name, or the software GPU and which GPU it is."""
    return ("the software GPU as " if _core.is_software() else "") + _core.device_name()


def _start_torch() -> None:
    """Called when the first tensor is seen."""
    if "torch" in _sys.modules:
        import ridge.torch  # noqa: F401


_core.set_torch_start(_start_torch)
if "torch" in _sys.modules:
    _start_torch()

__all__ = [*_operators.__all__, "load_inline", "use", "device_name", "Error", "ArgumentError", "KernelError",
           "CompileError", "MissingError", "ForkError"]
