"""Two Triton kernels: vector_add and softmax_row.

kernels.py --ptx FOLDER   writes their PTX for sm_90, and that of a product of dot.py, compiled without a GPU: the .ptx
                          files beside this one
kernels.py                launches them through Triton's own launcher on whatever libcuda.so.1 is found, and checks them
                          (ridge run --device vm /path/to/python -- kernels.py)

Without Triton it says so and exits with 77.
"""
import math
import pathlib
import random
import sys

sys.dont_write_bytecode = True  # nothing is left beside the sources

try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from device import Buffer
from dot import dot_by_pointers


@triton.jit
def vector_add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(a + i, mask=mask) + tl.load(b + i, mask=mask), mask=mask)


@triton.jit
def softmax_row(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    values = tl.load(x + row * columns + i, mask=mask, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + i, weights / tl.sum(weights, axis=0), mask=mask)


BLOCK = 256
# Their arguments, and which of them are constants.
KERNELS = {
    vector_add: ({"a": "*fp32", "b": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": BLOCK}),
    softmax_row: ({"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": BLOCK}),
    dot_by_pointers: ({"a": "*bf16", "b": "*bf16", "out": "*fp32", "n": "i32", "k": "i32"},
                      {"ROWS": 64, "COLUMNS": 32, "DEPTH": 32}),
}


def write_ptx(folder):
    triton.knobs.compilation.disable_line_info = True  # it would hold paths of this machine
    for kernel, (arguments, constants) in KERNELS.items():
        signature = {**arguments, **{name: "constexpr" for name in constants}}
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
        compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"ptx_version": 90})
        path = pathlib.Path(folder, kernel.__name__ + ".ptx")
        text = compiled.asm["ptx"]
        path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
        metadata = compiled.metadata
        print(f"{path.name}: {metadata.num_warps} warps, {metadata.shared} bytes of dynamic shared memory")


def launch():
    triton.runtime.driver.active.get_current_device()  # makes its context current
    triton.runtime.driver.active.get_current_stream(0)
    random.seed(1)
    n = 1000
    a, b = [random.random() for _ in range(n)], [random.random() for _ in range(n)]
    device_a, device_b, out = Buffer(a), Buffer(b), Buffer([0.0] * n)
    vector_add[(triton.cdiv(n, BLOCK),)](device_a, device_b, out, n, BLOCK=BLOCK)
    expected = [x + y for x, y in zip(device_a.values(), device_b.values())]
    assert all(abs(x - y) <= 1e-7 for x, y in zip(out.values(), expected))
    print(f"vector_add: {n} sums are right")

    rows, columns = 5, 200
    x = [random.uniform(-5, 5) for _ in range(rows * columns)]
    device_x, out = Buffer(x), Buffer([0.0] * len(x))
    softmax_row[(rows,)](device_x, out, columns, BLOCK=BLOCK)
    result = out.values()
    for row in range(rows):
        weights = [math.exp(v) for v in x[row * columns:(row + 1) * columns]]
        total = sum(weights)
        for column, weight in enumerate(weights):
            assert abs(result[row * columns + column] - weight / total) <= 1e-6
    print(f"softmax_row: {rows} rows are right")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ptx"]:
        write_ptx(sys.argv[2])
    else:
        launch()
