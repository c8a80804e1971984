"""triton/09_transpose: tl.trans turns a tile, and the compiler takes it through shared memory.

Both the load and the store are along rows. Between them Triton converts the tile from the layout that is good for the load
    into the one that is good for the store; it chooses the padding or swizzle of shared memory for that. `ridge profile` shows
    the conversion as accesses to shared memory in the line of the store.
Stops at: memory bandwidth.
Not for: a matrix whose reader could take it transposed (11_matmul_corner_turned.py).
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, poisoned, timed, to_device


@triton.jit
def transpose(x, out, rows, columns, TILE: tl.constexpr):
    y = tl.program_id(1) * TILE + tl.arange(0, TILE)
    c = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + y[:, None] * columns + c[None, :], mask=(y[:, None] < rows) & (c[None, :] < columns))
    tl.store(out + c[:, None] * rows + y[None, :], tl.trans(tile), mask=(c[:, None] < columns) & (y[None, :] < rows))


def main():
    asked = arguments(rows=203, cols=157)
    x = np.random.default_rng(1).standard_normal((asked.rows, asked.cols), dtype=np.float32)
    a, out = to_device(x), poisoned((asked.cols, asked.rows))

    def launch():
        transpose[(triton.cdiv(asked.cols, 64), triton.cdiv(asked.rows, 64))](a, out, asked.rows, asked.cols, TILE=64)

    if timed(asked, launch):
        return
    launch()
    check("transpose", out, x.T.astype(np.float64), 0.0)


if __name__ == "__main__":
    main()
