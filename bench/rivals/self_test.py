"""What can be told of torch_rivals.py without PyTorch and without a GPU.

Every family's formulas run once on placeholders: the operators exist, and so do the tensors and parameters they name, and
there is one result per output. Then our own side runs as it is: a case is exported, launched through the C functions on
whatever device the process has, and held against the truth.
"""
import array
import ctypes
import pathlib
import sys
import tempfile
import types

import ridge_c
import torch_rivals

MEMCPY_DEFAULT = 4
FORMATS = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "u8": "B", "u32": "I"}  # that Python reads


class Placeholder:
    """Anything that PyTorch gives or takes: every operation on it gives another one."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder()

    def __call__(self, *_, **__):
        return Placeholder()

    def __iter__(self):
        return iter((Placeholder(), Placeholder()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __index__(self):
        return 1

    def __setitem__(self, *_):
        pass

    def __eq__(self, _):
        return True

    def __ne__(self, _):
        return False

    __hash__ = None


def _operation(self, *_):
    return Placeholder()


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "neg", "getitem", "ge", "gt", "le", "lt", "and", "or", "invert"):
    setattr(Placeholder, f"__{_name}__", _operation)


class Named(dict):
    """What a formula is given; a name that the operator does not have is an error that says so."""

    def __init__(self, what, operator, values):
        super().__init__(values)
        self.what, self.operator = what, operator

    def __missing__(self, name):
        raise LookupError(f"{self.operator} has no {self.what} '{name}'; it has {', '.join(self) or 'none'}")

    def get(self, name, otherwise=None):
        return self[name]


def stand_in_for_torch():
    for name in ("torch", "torch.nn", "torch.nn.functional"):
        module = types.ModuleType(name)
        module.__getattr__ = lambda _: Placeholder()
        sys.modules[name] = module
    sys.modules["torch"].nn = sys.modules["torch.nn"]
    sys.modules["torch.nn"].functional = sys.modules["torch.nn.functional"]


def check_formula(name, op, formula):
    """What is wrong with a formula, which gives something per output; or nothing."""
    tensors = Named("tensor", name, {t["name"]: Placeholder() for t in op["tensors"]})
    parameters = Named("parameter", name, {p["name"]: p["default"] for p in op["parameters"]})
    try:
        results = formula(tensors, parameters)
    except NotImplementedError:
        return ""
    except LookupError as error:
        return str(error)
    outputs = [t["name"] for t in op["tensors"] if t["role"] != "in"]
    needed = [t["name"] for t in op["tensors"] if t["role"] != "in" and not t.get("optional")]
    if isinstance(results, tuple) and results and not len(needed) <= len(results) <= len(outputs):
        return f"{name} gives {len(results)} results for {', '.join(outputs)}"
    return ""


def check_formulas(operators):
    stand_in_for_torch()
    eager, fused, checks = torch_rivals.load_rivals()
    wrong, known = [], 0
    for name in eager.keys() | fused.keys() | checks.keys():
        if name not in operators or name not in eager | fused:
            wrong.append(f"there is no operator '{name}', or no formula of it")
            continue
        known += 1
        for _, make in torch_rivals.makers_of(name, eager, fused, sys.modules["torch"]):
            wrong.append(check_formula(name, operators[name], lambda t, p: make(t, p)()))
        if name in checks and checks[name].rounds:
            wrong.append(check_formula(name, operators[name], lambda t, p: tuple(checks[name].rounds(t, p) or ())))
    if not known:
        wrong.append("no formula was found")
    print(f"{known} formulas")
    return list(filter(None, wrong))


class Runtime:
    """Device memory, through the CUDA runtime that our library has loaded."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcudart.so.13")

    def call(self, name, *arguments):
        if code := getattr(self.cuda, name)(*arguments):
            raise RuntimeError(f"{name} returned {code}")

    def allocate(self, size):
        pointer = ctypes.c_void_p()
        self.call("cudaMalloc", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        return pointer.value

    def copy(self, to, source, size):
        self.call("cudaMemcpy", ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size), MEMCPY_DEFAULT)


def doubles(file):
    return array.array("d", file.read_bytes())


def check_ours(ridge, case):
    """What is wrong with our result for a case, launched through the C functions; or nothing."""
    runtime = Runtime()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        case = ridge.export(case, folder, case["shape"])
        pointers, sizes = {}, {}
        for a in filter(None, case["arguments"]["tensors"]):
            values = array.array(FORMATS[a["dtype"]])
            count = 1
            for size in a["shape"]:
                count *= size
            sizes[a["name"]] = count * values.itemsize
            pointers[a["name"]] = runtime.allocate(sizes[a["name"]])
            if a["read"]:
                data = (folder / (a["name"] + ".in")).read_bytes()
                if len(data) != sizes[a["name"]]:
                    return f"{a['name']}.in has {len(data)} bytes, not {sizes[a['name']]}"
                runtime.copy(pointers[a["name"]], ctypes.cast(data, ctypes.c_void_p).value, len(data))
        call = ridge_c.Call(ridge.library, case, pointers)
        size = call.workspace_bytes()
        call.workspace = ridge_c.Workspace(runtime.allocate(size), size, None)
        call.launch(None)
        for a in filter(None, case["arguments"]["tensors"]):
            if not a["written"]:
                continue
            got = array.array(FORMATS[a["dtype"]], bytes(sizes[a["name"]]))
            runtime.copy(got.buffer_info()[0], pointers[a["name"]], sizes[a["name"]])
            truth, tolerance = (doubles(folder / (a["name"] + end)) for end in (".truth", ".tolerance"))
            if len(truth) != len(got):
                return f"{a['name']}.truth has {len(truth)} elements, not {len(got)}"
            bad = sum(not abs(g - t) <= e for g, t, e in zip(got, truth, tolerance))
            if bad:
                return f"{a['name']}: {bad} of {len(got)} are wrong"
    return ""


def run(build):
    ridge = ridge_c.Ridge(build)
    operators = {op["name"]: op for family in ridge.ask("list") for op in family["operators"]}
    wrong = check_formulas(operators)
    for case in ({"operator": "add", "dtype": "f32", "shape": "33x31"},
                 # Two parameters, an output that is read, and a workspace: the columns are split.
                 {"operator": "gemv", "dtype": "f32", "shape": "3x70001", "parameters": {"alpha": 2, "beta": -0.5}}):
        if why := check_ours(ridge, case):
            wrong.append(f"{case['operator']} through the C functions: {why}")
    for why in wrong:
        print(f"wrong: {why}")
    return 1 if wrong else 0
