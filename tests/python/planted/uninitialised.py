"""A kernel reads what nobody has written."""
from bugs import *


@triton.jit
def accumulate(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    v += tl.load(out + i, mask=i < n)  # twin: v += v
    tl.store(out + i, v, mask=i < n)


@bug("uninitialised")
def adds_to_output():
    accumulate[(4, )](ones(1000), empty(1000), 1000, BLOCK=256)


@triton.jit
def add_up(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0))
    tl.atomic_add(out + 1, part)  # twin: tl.atomic_add(out, part)


@bug("uninitialised")
def atomic_on_output():
    out = empty(2)
    out[0] = 0
    add_up[(4, )](ones(1000), out, 1000, BLOCK=256)


@triton.jit
def halves(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 0.5 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def reverse(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + n - i, mask=i < n)  # twin: v = tl.load(x + n - 1 - i, mask=i < n)
    tl.store(out + i, v, mask=i < n)


@bug("uninitialised")
def other_kernels_gap():
    middle = empty(1024)  # of which the first kernel writes 1000
    halves[(4, )](ones(1000), middle, 1000, BLOCK=256)
    reverse[(4, )](middle, empty(1000), 1000, BLOCK=256)


run()
