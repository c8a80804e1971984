"""triton/11_matmul_corner_turned: B lies by columns, and its tile is turned on the way.

Triton sees from the arithmetic of the addresses which dimension is contiguous, here the one along K, and gives neighbouring
    lanes neighbouring addresses. tl.trans then turns the tile: no values move, only what shared memory holds is read in the
    other order.
Stops at: what 10_matmul.py stops at.
Not for: a B that is used often and could be stored by rows once and for all, if another kernel wants it so.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def matmul_corner_turned(a, b, c, m, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    own = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, k, DEPTH):
        across = first + tl.arange(0, DEPTH)[None, :]
        x = tl.load(a + rows * k + across, mask=(rows < m) & (across < k), other=0.0)
        y = tl.load(b + own[:, None] * k + across, mask=(own[:, None] < n) & (across < k), other=0.0)
        total = tl.dot(x, tl.trans(y), total)
    columns = own[None, :]
    tl.store(c + rows * n + columns, total.to(tl.float16), mask=(rows < m) & (columns < n))


def main():
    asked = arguments(m=131, n=136, k=203)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((asked.m, asked.k)).astype(np.float16)
    y = rng.standard_normal((asked.n, asked.k)).astype(np.float16)  # B's columns
    a, b, out = *to_device(x, y), poisoned((asked.m, asked.n), np.float16)

    def launch():
        matmul_corner_turned[(triton.cdiv(asked.n, 64), triton.cdiv(asked.m, 64))](a, b, out, asked.m, asked.n, asked.k,
                                                                                  ROWS=64, COLUMNS=64, DEPTH=32)

    if timed(asked, launch):
        return
    launch()
    expected = x.astype(np.float64) @ y.T.astype(np.float64)
    check("matmul_corner_turned", out, expected, epsilon(np.float16) * np.abs(expected).max())


if __name__ == "__main__":
    main()
