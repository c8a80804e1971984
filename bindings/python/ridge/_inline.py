"""ridge.load_inline: CUDA C++ in a Python program, compiled by nvcc, with or without a GPU."""
from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any, Callable, Mapping, Sequence

from ridge import _core, _library
from ridge._errors import ArgumentError, CompileError, MissingError

HEADER = _library.PACKAGE / "include"


class Function:
    """A host function of a source. Its arguments are arrays and numbers, by the types of its parameters."""

    def __init__(self, name: str, address: int, letters: str):
        self.__name__, self._address, self._letters = name, address, letters

    def __call__(self, *arguments: Any) -> Any:
        return _core.call_inline(self._address, self.__name__, self._letters, arguments, ())

    def __repr__(self) -> str:
        return f"<function {self.__name__} of ridge.load_inline>"


class Kernel(Function):
    """A kernel of a source: kernel[blocks, threads](arguments…), or kernel[blocks, threads, bytes of shared memory](…)."""

    def __call__(self, *arguments: Any) -> Any:
        raise ArgumentError(f"{self.__name__} is a kernel: call it as {self.__name__}[blocks, threads](…)")

    def __getitem__(self, launch: Any) -> Callable[..., None]:
        if not isinstance(launch, tuple) or len(launch) not in (2, 3):
            raise ArgumentError(f"{self.__name__}[…] takes blocks, threads per block and, if any, bytes of shared memory")
        sizes = (*_three(self.__name__, launch[0]), *_three(self.__name__, launch[1]), launch[2] if len(launch) == 3 else 0)
        return lambda *arguments: _core.call_inline(self._address, self.__name__, self._letters, arguments, sizes)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__} of ridge.load_inline>"


class Module:
    """What load_inline has compiled: its functions are attributes."""

    def __init__(self, functions: Mapping[str, Function], source: pathlib.Path):
        self.__dict__.update(functions)
        self._source = source  # findings name lines of it

    def __repr__(self) -> str:
        return f"<module of {self._source}>"


def _three(name: str, size: Any) -> tuple[int, int, int]:
    sizes = size if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(sizes) <= 3:
        raise ArgumentError(f"{name}[…]: {size!r} has to be one to three numbers")
    return tuple([*map(int, sizes), 1, 1][:3])  # type: ignore[return-value]


def load_inline(cuda_source: str, functions: Sequence[str] | Mapping[str, str], *, flags: Sequence[str] = ()) -> Module:
    """Compiles CUDA C++ and gives its functions.

        module = ridge.load_inline('''
            __global__ void scale(const float* x, float* y, float factor, int n) {
              const int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i < n) y[i] = factor * x[i];
            }''', ["scale"])
        module.scale[4, 256](x, y, 2.0, len(x))

    A kernel takes its numbers of blocks and threads in brackets. A host function, which may launch kernels, is called as it
    is. A pointer takes an array of its type, `ridge::Tensor` takes an array with its shape, and a cudaStream_t takes nothing:
    it is the stream that PyTorch works on. The result is kept in ~/.cache/ridge, so the same source is compiled once.

    Args:
        cuda_source: the text of a .cu file
        functions: names of kernels and host functions; for a template, or for other names in Python, a dict:
            {"scale_f32": "scale<float>"}
        flags: further arguments for nvcc

    Raises:
        CompileError: nvcc refuses the source
        MissingError: there is no nvcc
    """
    names = dict(functions) if isinstance(functions, Mapping) else {name: name for name in functions}
    for name in names:
        if not name.isidentifier():
            raise ArgumentError(f"load_inline: {name!r} is no name for Python; give a dict, as {{\"name\": {name!r}}}")
    kernels = {name: _is_kernel(cuda_source, spelling) for name, spelling in names.items()}
    text = cuda_source + _wrapper(names, kernels)
    source, library = _compiled(text, list(flags))
    handle = _core.open_library(str(library))
    made = {}
    for i, name in enumerate(names):
        address = _core.symbol(handle, f"ridge_inline_{i}")
        letters = _core.text_at(_core.symbol(handle, f"ridge_inline_letters_{i}"))
        made[name] = (Kernel if kernels[name] else Function)(name, address, letters)
    return Module(made, source)


def _is_kernel(text: str, spelling: str) -> bool:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    name = re.escape(spelling.split("<")[0].split("::")[-1])
    if not re.search(rf"\b{name}\s*\(", text):
        raise ArgumentError(f"load_inline: the source has no function {spelling}")
    return bool(re.search(rf"__global__[^;{{}}]*?\b{name}\s*\(", text))


def _wrapper(names: Mapping[str, str], kernels: Mapping[str, bool]) -> str:
    text = "\n"
    for i, (name, spelling) in enumerate(names.items()):
        visible = 'extern "C" __attribute__((visibility("default")))'
        how = "launch" if kernels[name] else "run"
        text += (f"{visible} int ridge_inline_{i}(ridge::inlined::Call* call) {{\n"
                 f"  return ridge::inlined::{how}(&{spelling}, *call);\n}}\n"
                 f"{visible} constexpr auto ridge_inline_letters_{i} = ridge::inlined::letters(&{spelling});\n")
    return text


def _nvcc() -> str:
    homes = [os.environ[v] for v in ("CUDA_HOME", "CUDA_PATH") if v in os.environ] + ["/usr/local/cuda"]
    homes += [str(folder) for folder in _library.nvidia_packages()]
    for nvcc in filter(None, [shutil.which("nvcc"), *(shutil.which(home + "/bin/nvcc") for home in homes)]):
        return nvcc
    raise MissingError("load_inline compiles with nvcc, and there is none on PATH, in $CUDA_HOME or in /usr/local/cuda. "
                       "`pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-cccl` gets one; it needs no GPU")


def _command(nvcc: str, flags: list[str]) -> list[str]:
    capability = _core.compute_capability()
    arch = f"{capability}a" if capability >= 90 else str(capability)
    code = f"compute_{arch}" if _core.is_software() else f"sm_{arch}"
    # The runtime by its name alone: which library of that name is loaded decides on the device.
    runtime = _library.folders()[1] / "libcudart.so.13"
    includes = [f"-I{folder}" for folder in (HEADER, *_library.headers())]
    return [nvcc, "-shared", "-std=c++20", "-O3", "-lineinfo", "-Xcompiler", "-fPIC,-g1,-fvisibility=hidden", "-cudart", "none",
            "-gencode", f"arch=compute_{arch},code={code}", *includes, "-include", "ridge_inline.h", *flags,
            "-Xlinker", f"--no-as-needed,{runtime}"]


def _compiled(text: str, flags: list[str]) -> tuple[pathlib.Path, pathlib.Path]:
    command = _command(_nvcc(), flags)
    key = hashlib.sha256("\0".join([text, (HEADER / "ridge_inline.h").read_text("utf-8"), *command,
                                    str(os.stat(command[0]).st_mtime_ns)]).encode()).hexdigest()[:16]
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = base / "ridge" / "inline" / key
    source, library = folder / "inline.cu", folder / "inline.so"
    if library.exists():
        return source, library
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:  # two processes may compile the same
        new = pathlib.Path(temporary) / "inline.so"
        _replace(source, text)
        done = subprocess.run([*command, "-o", str(new), str(source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode:
            lines = done.stdout.strip().splitlines()
            more = [f"… {len(lines) - 40} more lines"] if len(lines) > 40 else []
            raise CompileError("\n".join([f"nvcc refuses the source, which is in {source}:", *lines[:40], *more]))
        os.replace(new, library)
    return source, library


def _replace(file: pathlib.Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as new:
        new.write(text)
    os.replace(new.name, file)
