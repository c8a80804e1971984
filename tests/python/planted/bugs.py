"""What the planted bugs share. A program has three; the one to run is its argument. The line with the bug ends with
`# twin: …`, the line that is right. test_planted.py makes the twin from it."""
import sys

import numpy as np
import triton
import triton.language as tl

ALL = {}


def bug(*kinds):
    """The kinds of findings that are expected, one of which names the line."""
    def note(function):
        ALL[function.__name__] = function
        return function

    return note


def ones(shape, dtype=np.float32):
    return np.ones(shape, dtype)


def empty(shape, dtype=np.float32):
    return np.empty(shape, dtype)


def run():
    ALL[sys.argv[1]]()


__all__ = ["np", "triton", "tl", "bug", "ones", "empty", "run"]
