"""triton/06_layer_norm: mean and variance of a row that stays in registers.

The variance is computed from the differences to the mean, in a second sweep over registers: no cancellation, and memory is
    read once. Mean and reciprocal deviation are kept for the backward pass.
Stops at: memory bandwidth, until rows fill the registers of a block.
Not for: rows beyond some 16 Ki columns.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def layer_norm(x, weight, bias, out, means, deviations, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=0.0)
    mean = tl.sum(v) / columns
    difference = tl.where(inside, v - mean, 0.0)
    deviation = tl.rsqrt(tl.sum(difference * difference) / columns + eps)
    tl.store(means + row, mean)
    tl.store(deviations + row, deviation)
    result = difference * deviation * tl.load(weight + i, mask=inside) + tl.load(bias + i, mask=inside)
    tl.store(out + row * columns + i, result, mask=inside)


def main():
    asked, eps = arguments(rows=67, cols=999), 1e-5
    rng = np.random.default_rng(1)
    x = (7 + rng.standard_normal((asked.rows, asked.cols))).astype(np.float32)
    weight, bias = (rng.standard_normal(asked.cols, dtype=np.float32) for _ in range(2))
    a, w, b = to_device(x, weight, bias)
    out, means, deviations = poisoned(x.shape), poisoned(asked.rows), poisoned(asked.rows)
    block = triton.next_power_of_2(asked.cols)

    def launch():
        layer_norm[(asked.rows, )](a, w, b, out, means, deviations, asked.cols, eps, BLOCK=block,
                                   num_warps=min(max(block // 256, 1), 8))

    if timed(asked, launch):
        return
    launch()
    exact = x.astype(np.float64)
    mean, deviation = exact.mean(axis=1), 1 / np.sqrt(exact.var(axis=1) + eps)
    expected = (exact - mean[:, None]) * deviation[:, None] * weight + bias
    unit = epsilon(np.float32)
    check("layer_norm", out, expected, 64 * unit * np.abs(expected).max())
    check("its means", means, mean, 8 * unit * np.abs(mean).max())
    check("its deviations", deviations, deviation, 64 * unit * deviation.max())


if __name__ == "__main__":
    main()
