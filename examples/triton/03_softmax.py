"""triton/03_softmax: a program has a whole row in registers.

The row is read once and written once. tl.max and tl.sum go through shuffles within a warp and through shared memory between
    warps; `ridge profile` shows these as lines of the Python file. Lanes behind the end of the row hold minus infinity, which
    changes neither.
Stops at: memory bandwidth, until a row fills the registers of a block: at some 16 Ki columns they spill.
Not for: rows longer than that (an online softmax over chunks, as in 14_cross_entropy.py), or very short ones: a block per row
    of 32 columns leaves most lanes idle.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    values = tl.load(x + row * columns + i, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + i, weights / tl.sum(weights, axis=0), mask=inside)


def main():
    asked = arguments(rows=61, cols=781)
    x = 4 * np.random.default_rng(1).standard_normal((asked.rows, asked.cols), dtype=np.float32)
    a, out = to_device(x), poisoned(x.shape)
    block = triton.next_power_of_2(asked.cols)

    def launch():
        softmax[(asked.rows, )](a, out, asked.cols, BLOCK=block, num_warps=min(max(block // 256, 1), 16))

    if timed(asked, launch):
        return
    launch()
    weights = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    check("softmax", out, weights / weights.sum(axis=1, keepdims=True), 64 * epsilon(np.float32))


if __name__ == "__main__":
    main()
