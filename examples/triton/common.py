"""What the Triton examples share: arrays for whichever device is there, and the check of a result against float64."""
import argparse
import os
import sys

import numpy as np

# `ridge run` sets it: kernels on the software GPU take NumPy arrays as they are.
ON_SOFTWARE_GPU = "RIDGE_GPU" in os.environ


def to_device(*arrays):
    """The arrays as arguments of kernels: themselves, or copies as PyTorch's CUDA tensors where there is a GPU."""
    if ON_SOFTWARE_GPU:
        return arrays if len(arrays) > 1 else arrays[0]
    import torch
    tensors = [torch.from_numpy(array).cuda() for array in arrays]
    return tensors if len(tensors) > 1 else tensors[0]


def to_host(x):
    return x if isinstance(x, np.ndarray) else x.cpu().numpy()


def poisoned(shape, dtype=np.float32):
    """An output: what a kernel forgets to write stays NaN, or -1."""
    return to_device(np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -1, dtype))


def check(what, got, expected, tolerance):
    """`expected` is computed in float64. The tolerance is absolute: the callers derive it from format and length."""
    got = to_host(got).astype(np.float64)
    if got.shape != expected.shape:
        sys.exit(f"{what}: the result has the shape {got.shape}, not {expected.shape}")
    error = float(np.max(np.abs(got - expected), initial=0.0))
    if not error <= tolerance:  # also NaN
        at = np.unravel_index(int(np.argmax(~(np.abs(got - expected) <= tolerance))), got.shape)
        sys.exit(f"{what} is wrong: {got[at]} instead of {expected[at]} at {tuple(map(int, at))}; the error is {error:.3g}, "
                 f"at most {tolerance:.3g} is allowed")
    print(f"{what}: right, the largest error is {error:.2g} of {tolerance:.2g}")


def epsilon(dtype):
    return float(np.finfo(dtype).eps)


def arguments(**sizes):
    """The sizes of the problem, as flags with these defaults: --rows 61. Of words, one may be asked for; None: all of them."""
    parser = argparse.ArgumentParser()
    for name, usual in sizes.items():
        words = usual if isinstance(usual, tuple) else None
        parser.add_argument(f"--{name}", type=str if words else int, choices=words, default=None if words else usual)
    parser.add_argument("--time", action="store_true", help="say how long the kernel takes, in µs, and check nothing")
    return parser.parse_args()


def timed(asked, launch):
    """With --time: says how long the kernel takes, and checks nothing. On the software GPU this is the model's time."""
    if asked.time and ON_SOFTWARE_GPU:
        from ridge_gpu import device
        time = device.modelled(launch)
        print(f"time_us {time.us:.3f} {time.low_us:.3f} {time.high_us:.3f} {time.graph_us:.3f} {time.bound.decode()} "
              f"{time.why.decode()}")
    elif asked.time:
        import triton
        print(f"time_us {triton.testing.do_bench(launch) * 1e3:.3f}")
    return asked.time
