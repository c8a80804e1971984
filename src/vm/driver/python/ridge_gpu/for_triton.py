"""Triton on the software GPU: its driver, whose arguments are tensors on the CPU and NumPy arrays."""
import importlib
import os
import sys

from ridge_gpu import arrays, device, notes, refuse_after_fork, say

OLDEST = (3, 4)


def prepare(triton):
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    if version < OLDEST:
        raise ImportError(f"Triton {triton.__version__} is too old for the software GPU, which needs {OLDEST[0]}.{OLDEST[1]} "
                          f"or newer: {sys.executable} -m pip install --upgrade triton")
    importlib.import_module("triton.runtime.driver")._create_driver = create_driver
    take_numpy(triton.runtime.jit.JITFunction)
    triton.testing.do_bench = do_bench
    triton.testing.do_bench_cudagraph = do_bench_cudagraph


def create_driver():
    nvidia = importlib.import_module("triton.backends.nvidia.driver")
    find_compiler()

    class SoftwareGpu(nvidia.CudaDriver):
        """CudaDriver without PyTorch's idea of the device."""

        def __init__(self):
            device.make_ready()
            self.utils = nvidia.CudaUtils()
            properties = self.utils.get_device_properties
            self.utils.get_device_properties = lambda index: properties(index or 0)  # of torch.device("cpu"): None
            self.launcher_cls = launcher_of(nvidia.CudaLauncher)
            self.get_device_capability = lambda _=0: device.capability()
            self.get_current_device = current_device
            self.set_current_device = lambda _: None
            self.get_current_stream = current_stream

        @staticmethod
        def is_active():
            return True

        def get_active_torch_device(self):
            import torch
            return torch.device("cpu")

        def get_device_interface(self):
            from ridge_gpu import for_torch
            return for_torch

        def get_benchmarker(self):
            return do_bench

        def get_empty_cache_for_benchmark(self):
            return None  # the model of time begins with a cold L2 cache

        def clear_cache(self, cache):
            pass

    # Triton's own checks ask for one of these names.
    SoftwareGpu.__name__ = "CudaDriver"
    return SoftwareGpu()


def find_compiler():
    """Triton compiles its launcher with a C compiler, once."""
    import shutil
    if os.environ.get("CC") or any(shutil.which(name) for name in ("clang", "gcc", "cc")):
        return
    raise RuntimeError("Triton needs a C compiler for its launcher: install gcc, or name one in CC")


def current_device():
    device.make_ready()
    return 0


def current_stream(_=0):
    device.make_ready()
    torch_side = sys.modules.get("ridge_gpu.for_torch")
    return torch_side.current.handle or 0 if torch_side else 0


def launcher_of(base):
    class Launcher(base):
        def __init__(self, src, metadata):
            super().__init__(src, metadata)
            launch = self.launch

            def launch_and_wait(*arguments):  # while what was allocated for the launch is still there
                launch(*arguments)
                device.drain()

            self.launch = launch_and_wait
            self.names = list(src.fn.arg_names)
            signature = list(src.signature.values())
            self.kinds = signature
            self.has_maps = bool(getattr(metadata, "tensordesc_meta", None))
            self.title = title_of(src, metadata).encode()
            self.own_arguments = [k for k, kind in enumerate(signature) if kind != "constexpr"]

        def __call__(self, grid_x, grid_y, grid_z, stream, function, kernel_metadata, launch_metadata, enter, leave, *args):
            refuse_after_fork()
            found = []
            count = 0
            for k in self.own_arguments:
                count = note(self.names[k], self.kinds[k], args[k], count, self.has_maps, found)
            table = (device.Argument * len(found))(*found)
            device.cuda.ridge_vm_next_launch(self.title, table, len(found))
            super().__call__(grid_x, grid_y, grid_z, stream, function, kernel_metadata, launch_metadata, enter, leave, *args)

    return Launcher


def title_of(src, metadata):
    """`matmul_kernel[BLOCK_M=64, num_warps=8]`: what tells the variants of a kernel apart."""
    names = src.fn.arg_names
    signature = list(src.signature.values())
    constants = []
    for path, value in src.constants.items():
        path = path if isinstance(path, tuple) else (names.index(path),)
        parameter = src.fn.params[path[0]]
        if len(path) == 1 and parameter.is_constexpr and signature[path[0]] == "constexpr":
            text = getattr(value, "__name__", None) or str(value)
            constants.append(f"{names[path[0]]}={text if len(text) <= 24 else text[:23] + '…'}")
    constants += [f"{name}={getattr(metadata, name)}" for name, usual in (("num_warps", 4), ("num_stages", 3))
                  if getattr(metadata, name, usual) != usual]
    return src.fn.__name__ + (f"[{', '.join(constants)}]" if constants else "")


def note(name, kind, value, count, has_maps, found):
    """Notes the tensors of one argument, whose first parameter of the kernel is `count`. Returns the next one's."""
    if isinstance(kind, tuple):
        for k, inner in enumerate(kind):
            count = note(f"{name}[{k}]", inner, value[k], count, has_maps, found)
        return count
    if kind == "constexpr":
        return count
    if kind.startswith("tensordesc"):
        dimensions = len(value.shape)
        open_for_kernels(value.base, name)
        return count + (1 if has_maps else 1 + 2 * dimensions + 2) + 2 * dimensions
    if kind.startswith("*") and hasattr(value, "data_ptr"):
        text = open_for_kernels(value, name)
        address, size = arrays.extent(value) if hasattr(value, "stride") else (value.data_ptr(), 0)
        if size:
            found.append(device.Argument(count, address, size, text.encode()))
    return count + 1


def open_for_kernels(value, name):
    text = f"{name}: {arrays.described(value)}" if hasattr(value, "shape") else name
    if isinstance(value, arrays.View):
        arrays.open_storage(value.array, text)
    elif hasattr(value, "untyped_storage"):
        if value.device.type != "cpu":
            raise ValueError(f"'{name}' is a tensor on {value.device}; the software GPU takes tensors on the CPU")
        arrays.open_storage(value, text)
    else:
        base = getattr(value, "base", None)  # reinterpreted
        return open_for_kernels(base, name) if base is not None and base is not value else name
    return text


def take_numpy(function):
    """NumPy arrays as arguments, also inside tuples and as the base of a tensor descriptor."""
    plain = function.run

    def run(self, *args, **kwargs):
        if "numpy" in sys.modules:
            args = tuple(taken(x) for x in args)
            kwargs = {name: taken(x) for name, x in kwargs.items()}
        kernel = plain(self, *args, **kwargs)
        if notes.FILE and kernel is not None:
            notes.note(kernel, title_of(kernel.src, kernel.metadata))
        return kernel

    function.run = run


def taken(x):
    if type(x).__name__ == "TensorDescriptor" and arrays.is_numpy(x.base):
        import copy
        x = copy.copy(x)
        x.base = arrays.as_argument(x.base)
        return x
    return arrays.as_argument(x)


def summarise(times, quantiles, return_mode):
    import triton
    return triton.testing._summarize_statistics(times, quantiles, return_mode)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """triton.testing.do_bench with the clock of the model of time (docs/model.md). Only the blocks run that the model
    needs. What launches no kernel is timed by the host's clock."""
    import time
    if device.checking:
        fn()
    begin = time.perf_counter()
    result = device.modelled(fn)
    us = result.us if result else (time.perf_counter() - begin) * 1e6
    if not result:
        tell_once("do_bench: what launches no kernel is timed by this machine's clock, the kernels by the model's")
    return summarise([us / 1e3], quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    return do_bench(fn, quantiles=quantiles, return_mode=return_mode)


told = set()


def tell_once(text):
    if text not in told:
        told.add(text)
        say(text)
