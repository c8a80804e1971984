"""Matrix products with tl.dot, which Triton makes of wgmma on an H200, launched through Triton's own launcher on whatever
libcuda.so.1 is found, and checked. Tiles are loaded by pointers, or by tensor descriptors, which become tensor copies;
the descriptors are the host's, or made by the kernel.

  ridge run --device vm --gpu h200 /path/to/python -- dot.py

Without Triton it says so and exits with 77.
"""
import sys

sys.dont_write_bytecode = True  # nothing is left beside the sources

try:
    import triton
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import random

from device import Buffer

M, N, K = 256, 128, 256
ROWS, COLUMNS, DEPTH = 128, 128, 64  # of a tile


@triton.jit
def dot_by_pointers(a, b, out, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(0, k, DEPTH):
        depth = first + tl.arange(0, DEPTH)
        x = tl.load(a + rows[:, None] * k + depth[None, :])
        y = tl.load(b + columns[None, :] * k + depth[:, None])  # B by columns
        total = tl.dot(x, y, total)
    tl.store(out + rows[:, None] * n + columns[None, :], total)


@triton.jit
def dot_by_descriptors(a, b, out, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(0, k, DEPTH):
        total = tl.dot(a.load([row, first]), b.load([column, first]).T, total)
    rows, columns = row + tl.arange(0, ROWS), column + tl.arange(0, COLUMNS)
    tl.store(out + rows[:, None] * n + columns[None, :], total)


@triton.jit
def dot_by_own_descriptors(a, b, out, m, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    a = tl.make_tensor_descriptor(a, [m, k], [k, 1], [ROWS, DEPTH])
    b = tl.make_tensor_descriptor(b, [n, k], [k, 1], [COLUMNS, DEPTH])
    out = tl.make_tensor_descriptor(out, [m, n], [n, 1], [ROWS, COLUMNS])
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for first in range(0, k, DEPTH):
        total = tl.dot(a.load([row, first]), b.load([column, first]).T, total)
    out.store([row, column], total)


def check(what, compiled, result, a, b, *instructions):
    for instruction in ("wgmma.mma_async", *instructions):
        assert instruction in compiled.asm["ptx"], f"{what}: Triton has not used {instruction}"
    for i in random.sample(range(M * N), 500):
        x, y = a[i // N * K:(i // N + 1) * K], b[i % N * K:(i % N + 1) * K]
        expected = sum(p * q for p, q in zip(x, y))
        # Integers: the sums are exact in every format.
        assert result[i] == expected, f"{what}: {result[i]} instead of {expected} at {i}"
    print(f"{what}: {M} x {N} x {K} is right")


def main():
    triton.runtime.driver.active.get_current_device()  # makes its context current
    triton.runtime.driver.active.get_current_stream(0)
    random.seed(1)
    a, b = ([float(random.randint(-4, 4)) for _ in range(size)] for size in (M * K, N * K))
    grid, tile = (M // ROWS, N // COLUMNS), dict(ROWS=ROWS, COLUMNS=COLUMNS, DEPTH=DEPTH, num_warps=8)
    triton.set_allocator(lambda size, alignment, stream: Buffer([0.0] * (size // 4)))
    for dtype in ("bf16", "fp16", "fp8e4nv"):
        device_a, device_b, out = Buffer(a, dtype), Buffer(b, dtype), Buffer([0.0] * (M * N))
        compiled = dot_by_pointers[grid](device_a, device_b, out, N, K, **tile)
        check(f"{dtype} by pointers", compiled, out.values(), a, b)
        x, y = (TensorDescriptor(buffer, [rows, K], [K, 1], [block, DEPTH])
                for buffer, rows, block in ((device_a, M, ROWS), (device_b, N, COLUMNS)))
        out = Buffer([0.0] * (M * N))
        compiled = dot_by_descriptors[grid](x, y, out, N, K, **tile)
        check(f"{dtype} by descriptors", compiled, out.values(), a, b, "cp.async.bulk.tensor")
        out = Buffer([0.0] * (M * N))
        compiled = dot_by_own_descriptors[grid](device_a, device_b, out, M, N, K, **tile)
        check(f"{dtype} by the kernel's descriptors", compiled, out.values(), a, b, "tensormap.replace")


if __name__ == "__main__":
    main()
