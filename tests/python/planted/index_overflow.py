"""An index does not fit into its type."""
from bugs import *


@triton.jit
def last_rows(x, out, first, columns, COLUMNS: tl.constexpr):
    row = first + tl.program_id(0)
    j = tl.arange(0, COLUMNS)
    v = tl.load(x + row * columns + j)  # twin: v = tl.load(x + row.to(tl.int64) * columns + j)
    tl.store(out + tl.program_id(0) * COLUMNS + j, v)


@bug("out-of-bounds")
def more_than_2_to_31():
    rows, columns = 32769 + 8, 65536
    x = np.zeros((rows, columns), np.uint8)  # 2 GiB of addresses; only what is read has memory
    last_rows[(8, )](x, empty((8, 256), np.uint8), rows - 8, columns, COLUMNS=256)


@triton.jit
def gather(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i.to(tl.int8))  # twin: v = tl.load(x + i.to(tl.int16))
    tl.store(out + i, v)


@bug("out-of-bounds")
def int8():
    gather[(1, )](ones(256), empty(256), BLOCK=256)


@triton.jit
def diagonal(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int16)
    v = tl.load(x + i * 201, mask=i < n)  # twin: v = tl.load(x + i.to(tl.int32) * 201, mask=i < n)
    tl.store(out + i, v, mask=i < n)


@bug("out-of-bounds")
def int16():
    diagonal[(1, )](ones((200, 200)), empty(200), 200, BLOCK=256)


run()
