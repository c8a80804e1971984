"""triton/04_dropout: the mask is computed again from a seed, and never stored.

tl.rand gives each element a number that depends on the seed and on the element's index only (Philox). The backward kernel
    can make the same mask again, so nothing of the size of the array is kept between the two.
Stops at: memory bandwidth; the ten rounds of Philox hide behind it.
Not for: a mask that is used many times, by kernels that have no multiplications to spare.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + i, mask=inside)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, v / (1 - p), 0.0), mask=inside)


def philox(seed, counters):
    """The first word of Philox4x32-10, as it is published: Salmon et al., Parallel Random Numbers, 2011."""
    low = np.uint64(0xFFFFFFFF)
    c = [counters.astype(np.uint64)] + [np.zeros_like(counters, dtype=np.uint64) for _ in range(3)]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> np.uint64(32)) ^ c[1] ^ key[0], second & low, (first >> np.uint64(32)) ^ c[3] ^ key[1], first & low]
        key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
    return c[0].astype(np.uint32)


def uniform(words):
    """As tl.rand makes a number of [0, 1) of a word."""
    signed = words.view(np.int32).astype(np.int64)
    return (np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)).astype(np.float64)


def main():
    asked, p, seed = arguments(n=30011), 0.25, 123
    x = np.random.default_rng(1).standard_normal(asked.n, dtype=np.float32)
    a, out = to_device(x), poisoned(asked.n)

    def launch():
        dropout[(triton.cdiv(asked.n, 1024), )](a, out, asked.n, p, seed, BLOCK=1024)

    if timed(asked, launch):
        return
    launch()
    keep = uniform(philox(seed, np.arange(asked.n))) > p
    check("dropout", out, np.where(keep, x.astype(np.float64) / (1 - p), 0), 8 * epsilon(np.float32) * np.abs(x).max())
    print(f"{keep.mean():.1%} were kept")


if __name__ == "__main__":
    main()
