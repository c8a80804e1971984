"""A mask is missing, or covers one dimension only."""
from bugs import *


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)  # twin: v = tl.load(x + i, mask=i < n)
    tl.store(out + i, 2 * v, mask=i < n)


@bug("out-of-bounds")
def load():
    x, out = ones(1000), ones(1000)
    scale[(4, )](x, out, 1000, BLOCK=256)


@triton.jit
def fill(out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, i.to(tl.float32))  # twin: tl.store(out + i, i.to(tl.float32), mask=i < n)


@bug("out-of-bounds")
def store():
    fill[(3, )](empty(700), 700, BLOCK=256)


@triton.jit
def row_sums(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    v = tl.load(x + i * columns + j, mask=j < columns, other=0)  # twin: v = tl.load(x + i * columns + j, mask=(j < columns) & (i < rows), other=0)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tl.store(out + row, tl.sum(v, axis=1), mask=row < rows)


@bug("out-of-bounds")
def one_dimension():
    row_sums[(2, )](ones((29, 50)), empty(29), 29, 50, ROWS=16, COLUMNS=64)


run()
