"""triton/13_dequantise: numbers of 4 bits become float16, with a scale for each group of them.

A program has some groups of one row. It loads each byte once and makes two numbers of it; tl.join and reshape put them side by
    side, so that the store is contiguous. The zero point is 8.
Stops at: memory bandwidth: 4 bits are read and 16 written for each number.
Not for: weights of a product: dequantise the tile inside the kernel of the product, and the 16 bits are never written.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device

GROUP = 32  # numbers with one scale


@triton.jit
def dequantise(packed, scales, out, groups, GROUPS: tl.constexpr, GROUP: tl.constexpr):
    group = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)[:, None]
    byte = tl.arange(0, GROUP // 2)[None, :]
    inside = group < groups
    pair = tl.load(packed + group * (GROUP // 2) + byte, mask=inside)
    scale = tl.load(scales + group, mask=inside).to(tl.float32)
    low = ((pair & 15).to(tl.float32) - 8) * scale
    high = ((pair >> 4).to(tl.float32) - 8) * scale
    numbers = tl.reshape(tl.join(low, high), (GROUPS, GROUP)).to(tl.float16)
    column = tl.arange(0, GROUP)[None, :]
    tl.store(out + group * GROUP + column, numbers, mask=inside)


def main():
    asked = arguments(groups=1013)
    rng = np.random.default_rng(1)
    packed = rng.integers(0, 256, (asked.groups, GROUP // 2), dtype=np.uint8)
    scales = rng.random(asked.groups).astype(np.float16)
    a, s, out = *to_device(packed, scales), poisoned((asked.groups, GROUP), np.float16)

    def launch():
        dequantise[(triton.cdiv(asked.groups, 16), )](a, s, out, asked.groups, GROUPS=16, GROUP=GROUP)

    if timed(asked, launch):
        return
    launch()
    nibbles = np.stack([packed & 15, packed >> 4], axis=2).reshape(asked.groups, GROUP)
    expected = (nibbles.astype(np.float64) - 8) * scales.astype(np.float64)[:, None]
    check("dequantise", out, expected, epsilon(np.float16) / 2 * np.abs(expected).max())


if __name__ == "__main__":
    main()
