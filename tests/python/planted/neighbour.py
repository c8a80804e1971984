"""An overrun ends in another tensor of the same allocation, which no GPU notices."""
from bugs import *


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i)  # twin: a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, a + b, mask=i < n)


@bug("out-of-bounds")
def read():
    both = ones(2000)
    add[(4, )](both[:1000], both[1000:], empty(1000), 1000, BLOCK=256)


@triton.jit
def negate(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = -tl.load(x + i, mask=i < n)
    tl.store(x + i + 1, v, mask=i < n)  # twin: tl.store(x + i, v, mask=i < n)


@bug("out-of-bounds")
def write():
    weights = ones(64 + 192)  # two parameters in one flat array
    negate[(1, )](weights[:64], 64, BLOCK=64)


@triton.jit
def matmul(a, b, c, k, SIZE: tl.constexpr, DEPTH: tl.constexpr):
    i = tl.arange(0, SIZE)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for first in range(0, k, DEPTH):
        d = first + tl.arange(0, DEPTH)
        x = tl.load(a + i[:, None] * k + d[None, :])  # twin: x = tl.load(a + i[:, None] * k + d[None, :], mask=d[None, :] < k, other=0)
        y = tl.load(b + d[:, None] * SIZE + i[None, :], mask=d[:, None] < k, other=0)
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * SIZE + i[None, :], total)


@bug("out-of-bounds")
def tile_of_a_product():
    both = ones(32 * 80 + 80 * 32, np.float16)
    matmul[(1, )](both[:32 * 80], both[32 * 80:], empty((32, 32)), 80, SIZE=32, DEPTH=32)


run()
