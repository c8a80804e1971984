"""triton/05_batch_norm: a program has one channel of all images.

An image's channel is contiguous, and its images lie apart. The program walks over them twice: for mean and variance together
    (the sum and the sum of squares, from the first value of the channel, so that they do not cancel), and for the results.
Stops at: the number of channels: with fewer channels than SMs a part of the GPU idles.
Not for: few channels of large images, which want several programs per channel and a second kernel for their sums.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def batch_norm(x, weight, bias, out, images, channels, pixels, eps, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    shift = tl.load(x + channel * pixels)
    total = tl.zeros((BLOCK, ), tl.float32)
    squares = tl.zeros((BLOCK, ), tl.float32)
    for image in range(images):
        start = (image * channels + channel) * pixels
        for first in range(0, pixels, BLOCK):
            i = first + tl.arange(0, BLOCK)
            v = tl.load(x + start + i, mask=i < pixels, other=shift) - shift
            total += v
            squares += v * v
    n = images * pixels
    mean = tl.sum(total) / n
    scale = tl.load(weight + channel) * tl.rsqrt(tl.sum(squares) / n - mean * mean + eps)
    offset = tl.load(bias + channel)
    for image in range(images):
        start = (image * channels + channel) * pixels
        for first in range(0, pixels, BLOCK):
            i = first + tl.arange(0, BLOCK)
            v = tl.load(x + start + i, mask=i < pixels) - shift
            tl.store(out + start + i, (v - mean) * scale + offset, mask=i < pixels)


def main():
    asked, eps = arguments(images=3, channels=17, pixels=35 * 29), 1e-5
    shape = (asked.images, asked.channels, asked.pixels)
    rng = np.random.default_rng(1)
    x = (50 + 2 * rng.standard_normal(shape)).astype(np.float32)
    weight, bias = (rng.standard_normal(asked.channels, dtype=np.float32) for _ in range(2))
    a, w, b, out = *to_device(x, weight, bias), poisoned(shape)

    def launch():
        batch_norm[(asked.channels, )](a, w, b, out, *shape, eps, BLOCK=512)

    if timed(asked, launch):
        return
    launch()
    exact = x.astype(np.float64)
    mean, variance = exact.mean(axis=(0, 2), keepdims=True), exact.var(axis=(0, 2), keepdims=True)
    expected = (exact - mean) / np.sqrt(variance + eps) * weight[:, None] + bias[:, None]
    check("batch_norm", out, expected, 256 * epsilon(np.float32) * np.abs(expected).max())


if __name__ == "__main__":
    main()
