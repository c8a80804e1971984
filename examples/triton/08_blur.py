"""triton/08_blur: a box blur, with one load for each neighbour.

A program has a tile of pixels. It loads the tile shifted to each of the (2R + 1)² neighbours; pixels outside the picture count
    as nothing, and the sum is divided by how many there were. Triton has no shared memory to manage: the repeated loads are
    served by the L1 cache.
Stops at: requests to L1, for each pixel is loaded (2R + 1)² times.
Not for: large radii, which want two passes, first along rows and then along columns.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def blur(picture, out, height, width, R: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    y = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    x = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    count = tl.zeros((ROWS, COLUMNS), tl.float32)
    for dy in range(-R, R + 1):
        for dx in range(-R, R + 1):
            inside = (y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width)
            total += tl.load(picture + (y + dy) * width + x + dx, mask=inside, other=0.0)
            count += inside.to(tl.float32)
    tl.store(out + y * width + x, total / count, mask=(y < height) & (x < width))


def main():
    asked, r = arguments(height=45, width=131), 2
    picture = np.random.default_rng(1).random((asked.height, asked.width), dtype=np.float32)
    a, out = to_device(picture), poisoned(picture.shape)

    def launch():
        blur[(triton.cdiv(asked.width, 64), triton.cdiv(asked.height, 8))](a, out, asked.height, asked.width, R=r, ROWS=8,
                                                                          COLUMNS=64)

    if timed(asked, launch):
        return
    launch()
    padded = np.pad(picture.astype(np.float64), r)
    ones = np.pad(np.ones_like(picture, dtype=np.float64), r)
    sums, counts = (sum(p[dy:dy + asked.height, dx:dx + asked.width] for dy in range(2 * r + 1) for dx in range(2 * r + 1))
                    for p in (padded, ones))
    check("blur", out, sums / counts, (2 * r + 1)**2 * epsilon(np.float32))


if __name__ == "__main__":
    main()
