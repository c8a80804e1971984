"""The C functions of the operators, called through ctypes: no header, no compiler, only the library and what it
says of itself.

    c_test.py [-v] [TEST…]    RIDGE_LIBRARY is libridge.so; the CUDA runtime is what LD_LIBRARY_PATH finds.
                              RIDGE_CXX, RIDGE_INCLUDES=OURS:GENERATED:TOOLKIT: to compile the headers as users do
"""
import array
import ctypes
import json
import math
import os
import subprocess
import unittest

MAX_RANK = 8
SIZES = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "i32": 4, "i64": 8, "u32": 4, "u8": 1,
         **dict.fromkeys(("i8", "i4", "u4", "e4m3", "e5m2", "e2m1", "e2m3", "e3m2", "ue8m0", "ue4m3", "nf4"), 1)}
DTYPES = {name: number for number, name in enumerate(SIZES)}
C_TYPES = {"number": ctypes.c_double, "integer": ctypes.c_int64, "flag": ctypes.c_int, "choice": ctypes.c_int}


class Scales(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint8), ("block_rows", ctypes.c_int64),
                ("block_cols", ctypes.c_int64), ("second", ctypes.c_void_p), ("second_block", ctypes.c_int64),
                ("offset", ctypes.c_void_p)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint8), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK),
                ("scales", Scales)]


class Workspace(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("wanted", ctypes.POINTER(ctypes.c_size_t))]


cudart = ctypes.CDLL("libcudart.so.13")
ridge = ctypes.CDLL(os.environ["RIDGE_LIBRARY"])
for name in ("ridge_error", "ridge_operator_name", "ridge_operator_json"):
    getattr(ridge, name).restype = ctypes.c_char_p
ridge.ridge_operator_json.argtypes = [ctypes.c_char_p]
ridge.ridge_run.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.POINTER(Tensor)), ctypes.c_int,
                            ctypes.POINTER(ctypes.c_double), ctypes.c_int, ctypes.POINTER(Workspace), ctypes.c_void_p]

OPERATORS = [json.loads(ridge.ridge_operator_json(ridge.ridge_operator_name(i)))
             for i in range(ridge.ridge_operator_count())]


def operator(name):
    return next((op for op in OPERATORS if op["name"] == name), None)


class Memory:
    """Bytes on the device, or on the host for tensors that live there."""
    def __init__(self, size, on_host=False):
        self.size, self.pointer, self.on_host = size, ctypes.c_void_p(), on_host
        allocate = cudart.cudaMallocHost if on_host else cudart.cudaMalloc
        assert allocate(ctypes.byref(self.pointer), ctypes.c_size_t(max(size, 1))) == 0

    def __del__(self):
        (cudart.cudaFreeHost if self.on_host else cudart.cudaFree)(self.pointer)

    def write(self, data):
        assert cudart.cudaMemcpy(self.pointer, bytes(data), ctypes.c_size_t(self.size), 4) == 0  # by the pointers

    def read(self):
        data = (ctypes.c_char * max(self.size, 1))()
        assert cudart.cudaMemcpy(data, self.pointer, ctypes.c_size_t(self.size), 4) == 0
        return bytes(data)[:self.size]


def tensor(memory, dtype, shape):
    strides = [math.prod(shape[d + 1:]) for d in range(len(shape))]
    pad = [0] * (MAX_RANK - len(shape))
    return Tensor(memory.pointer, DTYPES[dtype], len(shape), (ctypes.c_int64 * MAX_RANK)(*shape, *pad),
                  (ctypes.c_int64 * MAX_RANK)(*strides, *pad))


def own_function(op):
    """ridge_NAME, with the arguments that its description says."""
    function = getattr(ridge, "ridge_" + op["name"])
    function.argtypes = ([ctypes.POINTER(Tensor)] * len(op["tensors"]) + [C_TYPES[p["type"]] for p in op["parameters"]] +
                         [ctypes.POINTER(Workspace), ctypes.c_void_p])

    def call(tensors, parameters, workspace):
        given = [value if p["type"] == "number" else int(value) for p, value in zip(op["parameters"], parameters)]
        return function(*tensors, *given, workspace, None)
    return call


def by_name(op):
    def call(tensors, parameters, workspace):
        pointers = (ctypes.POINTER(Tensor) * len(tensors))(*tensors)
        return ridge.ridge_run(op["name"].encode(), pointers, len(tensors), (ctypes.c_double * len(parameters))(*parameters),
                               len(parameters), workspace, None)
    return call


def run(function, tensors, parameters=()):
    """With the workspace it asks for. Returns the code, and what it said where that is not 0."""
    pointers = [t if t is None else ctypes.pointer(t) for t in tensors]
    wanted = ctypes.c_size_t()
    code = function(pointers, parameters, Workspace(None, 0, ctypes.pointer(wanted)))
    if code == 0:
        memory = Memory(wanted.value)
        code = function(pointers, parameters, Workspace(memory.pointer, wanted.value, None))
        assert cudart.cudaDeviceSynchronize() == 0
    return code, ridge.ridge_error().decode() if code else ""


def floats(values):
    return array.array("f", values).tobytes()


def result(name, arrays, out_shape, parameters=(), out_dtype="f32", out_format="f"):
    """What an operator gives for f32 arrays of (shape, values); its last tensor is the output."""
    memories = [Memory(4 * len(values)) for _, values in arrays]
    for memory, (_, values) in zip(memories, arrays):
        memory.write(floats(values))
    out = Memory(SIZES[out_dtype] * math.prod(out_shape))
    out.write(b"\xff" * out.size)
    tensors = [tensor(m, "f32", shape) for m, (shape, _) in zip(memories, arrays)] + [tensor(out, out_dtype, out_shape)]
    code, said = run(own_function(operator(name)), tensors, parameters)
    assert code == 0, said
    return list(array.array(out_format, out.read()))


def size_of_term(term, sizes):
    """One size of a shape, in the notation of src/operator/shape.h."""
    term = term.strip().removesuffix("...")
    if term.startswith("ceil("):
        name, over = term[5:-1].split("/")
        return -(-sizes[name] // int(over))
    times, _, rest = term.rpartition("*")
    rest, _, plus = rest.partition("+")
    rest, _, over = rest.partition("/")
    size = int(rest) if rest.isdigit() else sizes[rest]
    return size * int(times or 1) // int(over or 1) + int(plus or 0)


class AnyCase:
    """Tensors of any operator, made from its description alone: all sizes 8. Floats differ from tensor to tensor;
    whole numbers are 0, which is a place and a key everywhere. `without`: optional tensors that are left out."""
    def __init__(self, op, without):
        sizes = {d["name"]: 8 for d in op["dimensions"]}
        has_kernel = any(p["name"] == "kernel" for p in op["parameters"])
        for name in sizes:
            if name.startswith("out_"):
                sizes[name] = 4 if has_kernel else 1  # windows of 2 elements; filters of 8
        if op["name"].startswith("causal_conv1d"):
            sizes["width"] = 4
        if "groups" in sizes:
            sizes["groups"] = 1  # of 256 scales: so few elements have one
        self.tensors, self.memories, self.contents, dtypes = [], [], [], {}
        for t in op["tensors"]:
            dtype = t["formats"][0] if "formats" in t else dtypes[t["like"]]
            if "derived" in t and ("argmax" in op["name"] or "count" in op["name"]):
                dtype = "i64"  # places and counts; the sum of f32 is f32
            dtypes[t["name"]] = dtype
            if t["name"] in without:
                self.tensors.append(None)
                continue
            shape = [size_of_term(term, sizes) for term in t["shape"].split(",")]
            elements, place = math.prod(shape), len(self.memories) + 1
            self.memories.append(Memory(SIZES[dtype] * elements, t.get("on_host", False)))
            numbers = floats((i % 7 + place) / 8 for i in range(elements))
            self.contents.append(numbers if dtype == "f32" else bytes(SIZES[dtype] * elements))
            self.tensors.append(tensor(self.memories[-1], dtype, shape))

    def outcome(self, function, parameters):
        """What the function returns and says, and what all tensors hold then."""
        for memory, content in zip(self.memories, self.contents):
            memory.write(content)
        return run(function, self.tensors, parameters), [m.read() for m in self.memories]


class Headers(unittest.TestCase):
    def compiles(self, include, *language):
        ours, generated, toolkit = os.environ["RIDGE_INCLUDES"].split(":")
        command = [os.environ["RIDGE_CXX"], *language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ours,
                   "-I", generated, "-isystem", toolkit, "-"]
        done = subprocess.run(command, input=f"#include <{include}>\n", text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_c(self):
        self.compiles("ridge/c.h", "-x", "c", "-std=c99", "-pedantic")
        self.compiles("ridge/c_operators.h", "-x", "c", "-std=c99", "-pedantic")

    def test_cpp(self):
        self.compiles("ridge/c.h", "-x", "c++", "-std=c++17", "-pedantic")
        self.compiles("ridge/operators.h", "-x", "c++", "-std=c++17")


class Operators(unittest.TestCase):
    def test_descriptions_have_no_surprises(self):
        self.assertGreater(len(OPERATORS), 0)
        self.assertIsNone(ridge.ridge_operator_name(len(OPERATORS)))
        self.assertIsNone(ridge.ridge_operator_name(-1))
        self.assertIsNone(ridge.ridge_operator_json(b"no_such_operator"))
        for op in OPERATORS:
            self.assertTrue(op["formula"] and op["tensors"], op["name"])
            for alias in op.get("aliases", []):
                self.assertEqual(json.loads(ridge.ridge_operator_json(alias.encode())), op)

    def test_own_function_and_run_by_name_are_the_same(self):
        for op in OPERATORS:
            with self.subTest(op["name"]):
                defaults = [p["default"] for p in op["parameters"]]
                # Numbers that differ from each other and from the defaults: those out of a range are told by name.
                odd = [[sign * (1003 + 2 * i) for i in range(len(defaults))] for sign in (1, -1)]
                codes = []
                optional = [t["name"] for t in op["tensors"] if t.get("optional")]
                # With all of them, without any; where some exclude others, without each.
                for without in [[], optional, *([name] for name in optional)]:
                    if len(without) == 1 and (0, "") in codes:
                        continue
                    case = AnyCase(op, without)
                    for parameters in [defaults, *odd] if defaults else [defaults]:
                        own, named = (case.outcome(call(op), parameters) for call in (own_function, by_name))
                        self.assertEqual(own[0], named[0])
                        self.assertTrue(own[1] == named[1], "tensors hold other bytes")  # too long for a diff
                        codes.append(own[0])
                self.assertIn((0, ""), codes)

    def test_errors_are_told(self):
        op = operator("add")
        case = AnyCase(op, [])
        case.tensors[1].dtype = DTYPES["f16"]
        code, said = run(own_function(op), case.tensors)
        self.assertEqual((code, said), (1, "add: b is f16 but a is f32"))
        self.assertEqual(run(own_function(op), [None, *case.tensors[1:]]), (1, "add: a is missing"))
        self.assertEqual(run(by_name(op), case.tensors[:2]), (1, "add: 2 tensors were given; it has 3"))
        self.assertEqual(run(by_name(op), case.tensors, [1.0]), (1, "add: 1 parameters were given; it has 0"))
        self.assertEqual(run(by_name({"name": "no_such"}), []), (1, "there is no operator 'no_such'"))

    def test_whole_numbers(self):
        op = operator("rainbow_table")
        case = AnyCase(op, [])
        code, said = run(by_name(op), case.tensors, [2.5])
        self.assertEqual((code, said), (1, "rainbow_table: rounds is 2.5; it has to be a whole number"))


class Results(unittest.TestCase):
    def test_add(self):
        self.assertEqual(result("add", [([2, 3], [1, 2, 3, 4, 5, 6]), ([2, 3], [10, 20, 30, 40, 50, 60])], [2, 3]),
                         [11, 22, 33, 44, 55, 66])

    def test_gemv(self):
        op = operator("gemv")
        memories = [Memory(24), Memory(12), Memory(8)]
        for memory, values in zip(memories, ([1, 2, 3, 4, 5, 6], [1, 0, -1], [10, 20])):
            memory.write(floats(values))
        tensors = [tensor(m, "f32", shape) for m, shape in zip(memories, ([2, 3], [3], [2]))]
        self.assertEqual(run(own_function(op), tensors, [2.0, 0.5]), (0, ""))
        self.assertEqual(list(array.array("f", memories[2].read())), [1, 6])  # 2 A x + y / 2

    def test_rainbow_table(self):
        op = operator("rainbow_table")
        keys, out = Memory(4), Memory(4)
        keys.write(b"abcd")
        self.assertEqual(run(own_function(op), [tensor(m, "u32", [1]) for m in (keys, out)], [1]), (0, ""))
        self.assertEqual(int.from_bytes(out.read(), "little"), 0xce3479bd)  # FNV-1a of "abcd"

    def test_softmax(self):
        got = result("softmax", [([1, 3], [0, math.log(2), math.log(5)])], [1, 3])
        for value, wanted in zip(got, [1 / 8, 2 / 8, 5 / 8]):
            self.assertAlmostEqual(value, wanted, places=6)

    def test_sum(self):
        self.assertEqual(result("sum", [([100], range(100))], [1]), [4950])


if __name__ == "__main__":
    unittest.main()
