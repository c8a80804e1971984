"""triton/07_rms_norm: layer norm without the mean, in half precision.

Values are loaded as float16 and computed in float32: halves move half the bytes, and sums of squares do not overflow.
Stops at: memory bandwidth.
Not for: a row that the next kernel reads and nobody else: fuse the norm into that kernel's load.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def rms_norm(x, weight, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v) / columns + eps)
    w = tl.load(weight + i, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * columns + i, (v * scale * w).to(out.dtype.element_ty), mask=inside)


def main():
    asked, eps = arguments(rows=53, cols=1537), 1e-6
    rng = np.random.default_rng(1)
    x = (100 * rng.standard_normal((asked.rows, asked.cols))).astype(np.float16)
    weight = rng.standard_normal(asked.cols).astype(np.float16)
    a, w, out = *to_device(x, weight), poisoned(x.shape, np.float16)
    block = triton.next_power_of_2(asked.cols)

    def launch():
        rms_norm[(asked.rows, )](a, w, out, asked.cols, eps, BLOCK=block, num_warps=min(max(block // 512, 1), 8))

    if timed(asked, launch):
        return
    launch()
    exact = x.astype(np.float64)
    expected = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + eps) * weight
    check("rms_norm", out, expected, epsilon(np.float16) * np.abs(expected).max())


if __name__ == "__main__":
    main()
