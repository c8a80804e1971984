"""Arrays that Ridge makes itself, for callers who give it arrays of NumPy or plain buffers."""
from __future__ import annotations

import math
from typing import Any

try:
    import numpy
except ImportError:
    numpy = None

LETTERS = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "u32": "I", "u8": "B", "i8": "b"}
NUMPY_NAMES = {"f32": "float32", "f16": "float16", "f64": "float64", "i32": "int32", "i64": "int64", "u32": "uint32",
               "u8": "uint8", "i8": "int8"}
ML_NAMES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "ue4m3": "float8_e4m3fn",
            "ue8m0": "float8_e8m0fnu"}
BYTES = ("e4m3", "e5m2", "ue4m3", "ue8m0")  # what stands for them without ml_dtypes: u8


def empty(shape: tuple[int, ...], dtype: str) -> Any:
    """A new array of NumPy; where NumPy is not installed, a memoryview."""
    if numpy is not None:
        if dtype in ML_NAMES:
            try:
                import ml_dtypes
            except ImportError:  # of bf16 there was an array, so there is the package
                return numpy.empty(shape, "uint8")
            return numpy.empty(shape, getattr(ml_dtypes, ML_NAMES[dtype]))
        return numpy.empty(shape, NUMPY_NAMES[dtype])
    if dtype in BYTES:
        dtype = "u8"
    if dtype not in LETTERS:
        raise TypeError(f"an array of {dtype} needs NumPy: pip install numpy")
    view = memoryview(bytearray(max(math.prod(shape), 1) * memoryview(bytes(8)).cast(LETTERS[dtype]).itemsize))
    if math.prod(shape) == 0:  # what memoryview.cast cannot make
        return view.cast(LETTERS[dtype])[:0]
    return view.cast(LETTERS[dtype], shape)


def permuted(array: Any, order: tuple[int, ...]) -> Any:
    """The same array with its dimensions in another order."""
    return array.permute(order) if hasattr(array, "permute") else array.transpose(order)


def set_to_zero(array: Any) -> None:
    if hasattr(array, "zero_"):  # PyTorch's
        array.zero_()
    elif hasattr(array, "fill"):
        array.fill(0)
    else:
        flat = memoryview(array).cast("B")
        flat[:] = bytes(len(flat))
