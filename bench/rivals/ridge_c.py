"""Ridge for Python: cases as `ridge_ladders export` writes them, and operators through ridge/c.h."""
import ctypes
import functools
import json
import pathlib
import subprocess

MAX_RANK = 8


class Tensor(ctypes.Structure):  # RidgeTensor
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint8), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK),
                ("rest", ctypes.c_uint8 * 128)]  # room for fields that are added at the end; 0 is none


class Workspace(ctypes.Structure):  # RidgeWorkspace
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("wanted", ctypes.POINTER(ctypes.c_size_t))]


def tensor_of(argument, pointer):
    """The contiguous tensor of an exported argument."""
    tensor = Tensor(pointer, argument["dtype_number"], len(argument["shape"]))
    stride = 1
    for d in reversed(range(tensor.rank)):
        tensor.shape[d], tensor.strides[d] = argument["shape"][d], stride
        stride *= argument["shape"][d]
    return tensor


class Call:
    """One operator on tensors in device memory, ready to be launched."""

    def __init__(self, library, case, pointers):
        arguments = case["arguments"]
        self.library, self.name = library, case["operator"].encode()
        self.kept = [a and tensor_of(a, pointers[a["name"]]) for a in arguments["tensors"]]
        self.tensors = (ctypes.POINTER(Tensor) * len(self.kept))(*[t and ctypes.pointer(t) for t in self.kept])
        values = [p["value"] for p in arguments["parameters"]]
        self.parameters = (ctypes.c_double * max(len(values), 1))(*values)
        self.parameter_count = len(values)
        self.workspace = Workspace()

    def run(self, workspace, stream):
        code = self.library.ridge_run(self.name, self.tensors, len(self.kept), self.parameters, self.parameter_count,
                                      ctypes.byref(workspace), ctypes.c_void_p(stream))
        if code:
            raise RuntimeError(self.library.ridge_error().decode())

    def workspace_bytes(self):
        wanted = ctypes.c_size_t(0)
        self.run(Workspace(None, 0, ctypes.pointer(wanted)), None)
        return wanted.value

    def launch(self, stream):
        self.run(self.workspace, stream)


class Ridge:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.ladders = self.build / "programs" / "ridge_ladders"

    @functools.cached_property
    def library(self):
        library = ctypes.CDLL(str(self.build / "library" / "libridge.so"))
        library.ridge_error.restype = ctypes.c_char_p
        return library

    def ask(self, *words):
        """What ridge_ladders answers, one object per line."""
        done = subprocess.run([str(self.ladders), *words], stdout=subprocess.PIPE, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode or not lines:
            raise RuntimeError(lines[-1].get("error", "") if lines else f"ridge_ladders ended with {done.returncode}")
        return lines

    def export(self, case, folder, shape=None):
        """Writes the files of a case to a folder; without a shape, at a size for the software GPU."""
        words = ["export", case["operator"], "--folder", str(folder), "--dtype", case["dtype"]]
        words += ["--shape", shape] if shape else []
        for name, dtype in case.get("formats", {}).items():
            words += ["--dtype", f"{name}={dtype}"]
        for name, value in case.get("parameters", {}).items():
            words += ["--set", f"{name}={value}"]
        words += ["--distribution", case["distribution"]] if "distribution" in case else []
        for name in case.get("with", []):
            words += ["--with", name]
        words += ["--seed", str(case["seed"])] if "seed" in case else []
        return self.ask(*words)[0]
