"""Programs add to the same place without an atomic."""
from bugs import *


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0))
    tl.store(out, tl.load(out) + part)  # twin: tl.atomic_add(out, part)


@bug("race")
def sum_of_all():
    total[(8, )](ones(2000), np.zeros(1, np.float32), 2000, BLOCK=256)


@triton.jit
def bias_gradient(dy, db, columns, COLUMNS: tl.constexpr):
    j = tl.arange(0, COLUMNS)
    v = tl.load(dy + tl.program_id(0) * columns + j, mask=j < columns)
    old = tl.load(db + j, mask=j < columns)
    tl.store(db + j, old + v, mask=j < columns)  # twin: tl.atomic_add(db + j, v, mask=j < columns)


@bug("race")
def gradient():
    bias_gradient[(16, )](ones((16, 100)), np.zeros(100, np.float32), 100, COLUMNS=128)


@triton.jit
def count(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bin = tl.load(x + i, mask=i < n)
    tl.store(counts + bin, tl.load(counts + bin, mask=i < n) + 1, mask=i < n)  # twin: tl.atomic_add(counts + bin, 1, mask=i < n)


@bug("race")
def histogram():
    x = (np.arange(1000) * 7 % 16).astype(np.int32)
    count[(4, )](x, np.zeros(16, np.int32), 1000, BLOCK=256)


run()
