"""A vector is broadcast along, or a result stored along, the wrong axis."""
from bugs import *


@triton.jit
def add_bias(x, bias, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    inside = (i < rows) & (j < columns)
    b = tl.load(bias + i, mask=i < rows)  # twin: b = tl.load(bias + j, mask=j < columns)
    tl.store(out + i * columns + j, tl.load(x + i * columns + j, mask=inside) + b, mask=inside)


@bug("out-of-bounds")
def bias_of_rows():
    add_bias[(1, )](ones((50, 20)), ones(20), empty((50, 20)), 50, 20, ROWS=64, COLUMNS=32)


@triton.jit
def sums(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    v = tl.load(x + i[:, None] * columns + j[None, :], mask=(i[:, None] < rows) & (j[None, :] < columns), other=0)
    tl.store(out + j, tl.sum(v, axis=0), mask=j < columns)  # twin: tl.store(out + i, tl.sum(v, axis=1), mask=i < rows)


@bug("out-of-bounds")
def sum_of_columns():
    sums[(1, )](ones((16, 60)), empty(16), 16, 60, ROWS=16, COLUMNS=64)


@triton.jit
def divide(x, norms, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    inside = (row[:, None] < rows) & (j[None, :] < columns)
    v = tl.load(x + row[:, None] * columns + j[None, :], mask=inside)
    norm = tl.load(norms + j, mask=j < columns)[None, :]  # twin: norm = tl.load(norms + row, mask=row < rows)[:, None]
    tl.store(out + row[:, None] * columns + j[None, :], v / norm, mask=inside)


@bug("out-of-bounds")
def norms_of_columns():
    divide[(3, )](ones((23, 100)), ones(23), empty((23, 100)), 23, 100, ROWS=8, COLUMNS=128)


run()
