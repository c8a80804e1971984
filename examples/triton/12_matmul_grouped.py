"""triton/12_matmul_grouped: programs that run together share tiles in the L2 cache.

Programs start in the order of their numbers. Row by row, the programs under way need one row of tiles of A and all of B. In
    groups of GROUP rows, going down first, they need GROUP rows of A and a few columns of B, which stay in the L2 cache.
Stops at: what a tile of this size can do per byte that it loads; larger tiles need wgmma and tensor copies.
Not for: matrices that fit into the L2 cache whole: any order will do.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def tile_of(number, tiles_down, tiles_across, GROUP: tl.constexpr):
    """Which tile the program with this number has."""
    group = number // (GROUP * tiles_across)
    height = min(tiles_down - group * GROUP, GROUP)  # of the last group, maybe less
    within = number % (GROUP * tiles_across)
    return group * GROUP + within % height, within // height


@triton.jit
def matmul_grouped(a, b, c, m, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, GROUP: tl.constexpr):
    down, across = tile_of(tl.program_id(0), tl.cdiv(m, ROWS), tl.cdiv(n, COLUMNS), GROUP)
    rows = down * ROWS + tl.arange(0, ROWS)[:, None]
    columns = across * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, k, DEPTH):
        i = first + tl.arange(0, DEPTH)[None, :]
        j = first + tl.arange(0, DEPTH)[:, None]
        x = tl.load(a + rows * k + i, mask=(rows < m) & (i < k), other=0.0)
        y = tl.load(b + j * n + columns, mask=(j < k) & (columns < n), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + rows * n + columns, total.to(tl.float16), mask=(rows < m) & (columns < n))


def main():
    asked = arguments(m=331, n=136, k=96)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((asked.m, asked.k)).astype(np.float16)
    y = rng.standard_normal((asked.k, asked.n)).astype(np.float16)
    a, b, out = *to_device(x, y), poisoned((asked.m, asked.n), np.float16)

    def launch():
        grid = (triton.cdiv(asked.m, 64) * triton.cdiv(asked.n, 64), )
        matmul_grouped[grid](a, b, out, asked.m, asked.n, asked.k, ROWS=64, COLUMNS=64, DEPTH=32, GROUP=4)

    if timed(asked, launch):
        return
    launch()
    expected = x.astype(np.float64) @ y.astype(np.float64)
    check("matmul_grouped", out, expected, epsilon(np.float16) * np.abs(expected).max())


if __name__ == "__main__":
    main()
