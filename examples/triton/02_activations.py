"""triton/02_activations: one kernel, and a constant that chooses the function.

KIND is a constant of the kernel, so the branches that are not taken do not exist in its code: Triton compiles a kernel for
    each value. The tanh of gelu is made of exp, because Triton has no tanh of its own.
Stops at: memory bandwidth; gelu costs some twenty instructions per element more than relu and takes the same time.
Not for: a function behind a matrix product: apply it to the accumulator there (10_matmul.py), and the array is never read.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def activation(x, out, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + i, mask=inside)
    if KIND == "relu":
        v = tl.maximum(v, 0.0)
    elif KIND == "silu":
        v = v * tl.sigmoid(v)
    elif KIND == "gelu":
        v = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    elif KIND == "gelu_tanh":
        v = 0.5 * v * (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)))
    else:
        tl.static_assert(False, "KIND is relu, silu, gelu or gelu_tanh")
    tl.store(out + i, v, mask=inside)


def reference(kind, x):
    from math import erf
    x = x.astype(np.float64)
    return {"relu": lambda: np.maximum(x, 0), "silu": lambda: x / (1 + np.exp(-x)),
            "gelu": lambda: 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2))),
            "gelu_tanh": lambda: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))}[kind]()


def main():
    kinds = ("relu", "silu", "gelu", "gelu_tanh")
    asked = arguments(n=20011, kind=kinds)
    x = 3 * np.random.default_rng(1).standard_normal(asked.n, dtype=np.float32)
    a, out = to_device(x), poisoned(asked.n)
    for kind in kinds if asked.kind is None else (asked.kind, ):
        def launch():
            activation[(triton.cdiv(asked.n, 1024), )](a, out, asked.n, KIND=kind, BLOCK=1024)

        if timed(asked, launch):
            return
        launch()
        check(kind, out, reference(kind, x), 32 * epsilon(np.float32) * np.abs(x).max())


if __name__ == "__main__":
    main()
