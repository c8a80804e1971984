"""Launches on two streams use the same memory, and nothing orders them."""
import contextlib
import ctypes

from bugs import *


def stream():
    triton.runtime.driver.active.get_current_stream(0)  # there is a context now
    handle = ctypes.c_void_p()
    ctypes.CDLL("libcuda.so.1").cuStreamCreate(ctypes.byref(handle), 1)
    return handle.value


@contextlib.contextmanager
def on(handle):
    """Launches go to this stream."""
    driver = triton.runtime.driver.active
    before, driver.get_current_stream = driver.get_current_stream, lambda device: handle
    yield
    driver.get_current_stream = before


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + i, 2 * v, mask=i < n)


@triton.jit
def read(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v + 1, mask=i < n)


@triton.jit
def fill(x, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, (value + i).to(tl.float32), mask=i < n)


@bug("race")
def read_of_a_result():
    first, second, x = stream(), stream(), ones(1000)
    with on(first):
        double[(4, )](x, 1000, BLOCK=256)
    with on(second):  # twin: with on(first):
        read[(4, )](x, empty(1000), 1000, BLOCK=256)


@bug("race")
def two_writers():
    first, second, x = stream(), stream(), ones(1000)
    with on(first):
        fill[(4, )](x, 1, 1000, BLOCK=256)
    with on(second):  # twin: with on(first):
        fill[(4, )](x, 2, 1000, BLOCK=256)


@bug("race")
def input_overwritten():
    first, second, x = stream(), stream(), ones(1000)
    with on(first):
        read[(4, )](x, empty(1000), 1000, BLOCK=256)
    with on(second):  # twin: with on(first):
        fill[(4, )](x, 3, 1000, BLOCK=256)


run()
