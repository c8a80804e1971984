"""triton/01_vector_add: a program adds a block of elements.

A Triton program works on blocks of values. The compiler decides which thread has which of them, and makes 16-byte vectors of
    loads where alignment allows. The mask keeps the last program inside the arrays.
Stops at: memory bandwidth, as every addition of arrays does.
Not for: arrays that a neighbouring kernel reads or writes anyway: fuse the addition there.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    total = tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)
    tl.store(out + i, total, mask=inside)


def main():
    asked = arguments(n=98431)
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(asked.n, dtype=np.float32) for _ in range(2))
    a, b, out = *to_device(x, y), poisoned(asked.n)

    def launch():
        vector_add[(triton.cdiv(asked.n, 1024), )](a, b, out, asked.n, BLOCK=1024)

    if timed(asked, launch):
        return
    launch()
    check("vector_add", out, x.astype(np.float64) + y, epsilon(np.float32) / 2 * 16)


if __name__ == "__main__":
    main()
