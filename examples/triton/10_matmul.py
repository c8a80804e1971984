"""triton/10_matmul: a program has a tile of the product, and tl.dot is the tensor cores.

The loop walks along K, tile by tile. Where rows begin on multiples of 16 bytes, Triton pipelines the loads by itself: tiles are
    under way as cp.async copies while others are multiplied. With an odd K, as here, it does not. tl.dot becomes mma.sync on
    an A100 and wgmma on an H200.
Stops at: the L2 cache: neighbouring programs ask for the same tiles at different times (12_matmul_grouped.py).
Not for: matrices of a few rows, whose product is bound by reading the large one.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def matmul(a, b, c, m, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, k, DEPTH):
        across = first + tl.arange(0, DEPTH)[None, :]
        down = first + tl.arange(0, DEPTH)[:, None]
        x = tl.load(a + rows * k + across, mask=(rows < m) & (across < k), other=0.0)
        y = tl.load(b + down * n + columns, mask=(down < k) & (columns < n), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + rows * n + columns, total.to(tl.float16), mask=(rows < m) & (columns < n))


def main():
    asked = arguments(m=197, n=136, k=203)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((asked.m, asked.k)).astype(np.float16)
    y = rng.standard_normal((asked.k, asked.n)).astype(np.float16)
    a, b, out = *to_device(x, y), poisoned((asked.m, asked.n), np.float16)

    def launch():
        matmul[(triton.cdiv(asked.n, 64), triton.cdiv(asked.m, 64))](a, b, out, asked.m, asked.n, asked.k, ROWS=64, COLUMNS=64,
                                                                    DEPTH=32)

    if timed(asked, launch):
        return
    launch()
    expected = x.astype(np.float64) @ y.astype(np.float64)
    check("matmul", out, expected, epsilon(np.float16) * np.abs(expected).max())


if __name__ == "__main__":
    main()
