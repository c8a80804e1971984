"""triton/15_flash_forward: attention without the matrix of scores.

A program has a tile of queries and walks over the keys and values, tile by tile. It keeps the running maximum and sum of each
    row, and scales what it has added up when the maximum rises (the online softmax). Scores exist in registers only. With
    CAUSAL it ends at the diagonal.
Stops at: exponentials: they take as long as the products between which they stand, and Triton does not overlap the two as well
    as kernels with specialised warps do.
Not for: a handful of queries against long keys (decoding), which want the keys split among programs.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def flash_forward(q, k, v, out, length, scale, WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
                  CAUSAL: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * length * WIDTH
    row = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    d = tl.arange(0, WIDTH)
    queries = tl.load(q + head + row[:, None] * WIDTH + d[None, :], mask=row[:, None] < length, other=0.0)
    top = tl.full((QUERIES, ), -float("inf"), tl.float32)
    total = tl.zeros((QUERIES, ), tl.float32)
    result = tl.zeros((QUERIES, WIDTH), tl.float32)
    end = tl.minimum(length, (tl.program_id(0) + 1) * QUERIES) if CAUSAL else length
    for first in range(0, end, KEYS):
        column = first + tl.arange(0, KEYS)
        keys = tl.load(k + head + column[:, None] * WIDTH + d[None, :], mask=column[:, None] < length, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * (scale * 1.4426950408889634)  # for exp2
        seen = column[None, :] < length
        if CAUSAL:
            seen = seen & (column[None, :] <= row[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(top - higher)
        total = total * shrink + tl.sum(weights, axis=1)
        values = tl.load(v + head + column[:, None] * WIDTH + d[None, :], mask=column[:, None] < length, other=0.0)
        result = tl.dot(weights.to(tl.float16), values, result * shrink[:, None])
        top = higher
    result = result / total[:, None]
    tl.store(out + head + row[:, None] * WIDTH + d[None, :], result.to(tl.float16), mask=row[:, None] < length)


def reference(q, k, v, scale, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.einsum("hid,hjd->hij", q, k) * scale
    if causal:
        scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.einsum("hij,hjd->hid", weights / weights.sum(axis=2, keepdims=True), v)


def main():
    asked, width = arguments(heads=3, length=139), 64
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((asked.heads, asked.length, width)).astype(np.float16) for _ in range(3))
    a, b, c, out = *to_device(q, k, v), poisoned(q.shape, np.float16)
    scale = width**-0.5
    for causal in (False, True):
        def launch():
            flash_forward[(triton.cdiv(asked.length, 64), asked.heads)](a, b, c, out, asked.length, scale, WIDTH=width,
                                                                       QUERIES=64, KEYS=32, CAUSAL=causal)

        if timed(asked, launch):
            return
        launch()
        # The weights are rounded to float16, at most 1 each; they and their sum carry that error.
        check(f"flash_forward, {'causal' if causal else 'all keys'}", out, reference(q, k, v, scale, causal),
              2 * epsilon(np.float16) * np.abs(v).max())


if __name__ == "__main__":
    main()
