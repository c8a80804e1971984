"""An address is computed with another stride than the array has."""
from bugs import *


@triton.jit
def copy_rows(x, out, rows, columns, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, COLUMNS)
    v = tl.load(x + row * rows + j, mask=j < columns)  # twin: v = tl.load(x + row * columns + j, mask=j < columns)
    tl.store(out + row * columns + j, v, mask=j < columns)


@bug("out-of-bounds")
def rows_for_columns():
    copy_rows[(70, )](ones((70, 40)), empty((70, 40)), 70, 40, COLUMNS=64)


@triton.jit
def row_norms(x, out, columns, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, COLUMNS)
    v = tl.load(x + row * COLUMNS + j, mask=j < columns, other=0)  # twin: v = tl.load(x + row * columns + j, mask=j < columns, other=0)
    tl.store(out + row, tl.sum(v * v))


@bug("out-of-bounds")
def block_for_columns():
    row_norms[(33, )](ones((33, 100)), empty(33), 100, COLUMNS=128)


@triton.jit
def copy_view(x, out, stride_0, stride_1, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    inside = (i < rows) & (j < columns)
    v = tl.load(x + i * stride_1 + j * stride_1, mask=inside)  # twin: v = tl.load(x + i * stride_0 + j * stride_1, mask=inside)
    tl.store(out + i * columns + j, v, mask=inside)


@bug("out-of-bounds")
def transposed_view():
    x = ones((40, 24)).T  # 24 rows whose elements lie 24 apart
    copy_view[(1, )](x, empty((24, 40)), x.strides[0] // 4, x.strides[1] // 4, 24, 40, ROWS=32, COLUMNS=64)


run()
