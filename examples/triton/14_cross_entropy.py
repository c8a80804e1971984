"""triton/14_cross_entropy: a row of logits in chunks, with a running maximum and sum.

The vocabulary is too long for registers. A first kernel gives each chunk of a row to a program, which finds the chunk's maximum
    and its sum of exponentials relative to that. A second kernel combines the chunks: sums are scaled by how far their maximum
    lies below the largest.
Stops at: memory bandwidth; the logits are read once.
Not for: vocabularies of a few thousand, where one program has the row (03_softmax.py), or logits that need not exist: a fused
    kernel makes them tile by tile from the last layer.
"""
import numpy as np
import triton
import triton.language as tl

from common import arguments, check, epsilon, poisoned, timed, to_device


@triton.jit
def sum_chunks(logits, highest, sums, vocabulary, CHUNK: tl.constexpr):
    row, chunk = tl.program_id(1), tl.program_id(0)
    i = chunk * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(logits + row.to(tl.int64) * vocabulary + i, mask=i < vocabulary, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    at = row * tl.num_programs(0) + chunk
    tl.store(highest + at, top)
    tl.store(sums + at, tl.sum(tl.exp(x - top), axis=0))


@triton.jit
def cross_entropy(logits, targets, highest, sums, losses, vocabulary, chunks, CHUNKS: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, CHUNKS)
    tops = tl.load(highest + row * chunks + k, mask=k < chunks, other=-float("inf"))
    parts = tl.load(sums + row * chunks + k, mask=k < chunks, other=0.0)
    top = tl.max(tops, axis=0)
    total = tl.sum(parts * tl.exp(tops - top), axis=0)
    target = tl.load(targets + row)
    x = tl.load(logits + row.to(tl.int64) * vocabulary + target).to(tl.float32)
    tl.store(losses + row, tl.log(total) + top - x)


def main():
    asked, chunk = arguments(rows=19, vocabulary=10007), 2048
    rng = np.random.default_rng(1)
    x = (5 * rng.standard_normal((asked.rows, asked.vocabulary))).astype(np.float16)
    wanted = rng.integers(0, asked.vocabulary, asked.rows, dtype=np.int64)
    chunks = triton.cdiv(asked.vocabulary, chunk)
    a, targets = to_device(x, wanted)
    highest, sums, losses = poisoned((asked.rows, chunks)), poisoned((asked.rows, chunks)), poisoned(asked.rows)

    def launch():
        sum_chunks[(chunks, asked.rows)](a, highest, sums, asked.vocabulary, CHUNK=chunk)
        cross_entropy[(asked.rows, )](a, targets, highest, sums, losses, asked.vocabulary, chunks,
                                      CHUNKS=triton.next_power_of_2(chunks), num_warps=1)

    if timed(asked, launch):
        return
    launch()
    exact = x.astype(np.float64)
    top = exact.max(axis=1, keepdims=True)
    expected = np.log(np.exp(exact - top).sum(axis=1)) + top[:, 0] - exact[np.arange(asked.rows), wanted]
    check("cross_entropy", losses, expected, 64 * epsilon(np.float32) * np.abs(expected).max())


if __name__ == "__main__":
    main()
