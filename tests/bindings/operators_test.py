"""Every operator through its Python function, on arrays without NumPy and without PyTorch: a case as `ridge_ladders export`
writes it, against its float64 truth.

    operators_test.py [-v] [TEST…]    RIDGE_BUILD is the build folder; its package `ridge` is tested
"""
import array
import inspect
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

BUILD = pathlib.Path(os.environ["RIDGE_BUILD"])
sys.path.insert(0, str(BUILD / "python"))
OPERATORS = json.loads((BUILD / "python" / "ridge" / "operators.json").read_text("utf-8"))
BY_NAME = {op["name"]: op for op in OPERATORS}
NO_MODULE = 77  # what ctest knows as "skipped"

try:
    import ridge
except ImportError as error:
    if "_core" not in str(error):
        raise
    print("skipped: the module ridge._core is not built; `pip install nanobind` and the headers of Python, then "
          "`./ridge build ridge_python`")
    sys.exit(NO_MODULE)

LETTERS = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "u8": "B", "i8": "b", "u32": "I"}
NF4 = (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
       -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
       0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def small_float(bits, exponent_bits, has_infinity):
    sign, fraction_bits = -1.0 if bits & 0x80 else 1.0, 7 - exponent_bits
    exponent, fraction = (bits & 0x7f) >> fraction_bits, bits & ((1 << fraction_bits) - 1)
    if has_infinity and exponent == (1 << exponent_bits) - 1:
        return math.nan if fraction else sign * math.inf
    if not has_infinity and bits & 0x7f == 0x7f:
        return math.nan
    bias = (1 << (exponent_bits - 1)) - 1
    return sign * math.ldexp(fraction + (exponent > 0) * (1 << fraction_bits), max(exponent, 1) - bias - fraction_bits)


# Of these formats, arrays without NumPy have the bytes: what each stands for.
RARE = {"e4m3": lambda b: [small_float(b, 4, False)], "ue4m3": lambda b: [small_float(b, 4, False)],
        "e5m2": lambda b: [small_float(b, 5, True)], "ue8m0": lambda b: [math.nan if b == 255 else math.ldexp(1.0, b - 127)],
        "e2m1": lambda b: [(-1.0 if n & 8 else 1.0) * E2M1[n & 7] for n in (b & 15, b >> 4)],
        "nf4": lambda b: [NF4[b & 15], NF4[b >> 4]]}
PACKED = ("e2m1", "nf4")


def python_name(name):
    return "input" if name == "in" else name


def array_of(dtype, shape, content=None):
    """A memoryview; what is not given has all bits set. Two elements of 4 bits are one byte."""
    if dtype in RARE:
        shape = (*shape[:-1], (shape[-1] + 1) // 2) if dtype in PACKED else shape
        dtype = "u8"
    values = array.array(LETTERS[dtype])
    size = math.prod(shape) * values.itemsize
    data = bytearray(content if content is not None else b"\xff" * size)
    assert len(data) == size
    view = memoryview(data).cast(LETTERS[dtype])
    return view.cast("B").cast(LETTERS[dtype], shape) if size and len(shape) != 1 else view


def flat(view):
    return memoryview(view).cast("B").cast(view.format)


def numbers(result, dtype, count):
    """What an array holds that the operator has made."""
    if dtype in RARE and hasattr(result, "view"):
        result = result.view("uint8")  # NumPy's, whose buffers cannot show such numbers
    if memoryview(result).nbytes == 0:
        return []
    if dtype not in RARE:
        return flat(memoryview(result))
    return [number for byte in memoryview(result).cast("B") for number in RARE[dtype](byte)][:count]


def export(name, folder, *words):
    dtype = "f32" if "f32" in BY_NAME[name]["formats"] else BY_NAME[name]["formats"][0]
    done = subprocess.run([BUILD / "programs" / "ridge_ladders", "export", name, "--folder", folder, "--dtype", dtype, *words],
                          stdout=subprocess.PIPE, text=True, check=True,
                          env=os.environ | {"LD_LIBRARY_PATH": str(BUILD / "lib")})
    return json.loads(done.stdout.splitlines()[-1])


def call_of(name, case, folder, give_outputs):
    """The function's arguments, and what it writes by name."""
    arguments, written = {}, []
    by_name = {a["name"]: a for a in case["arguments"]["tensors"] if a}
    for tensor in BY_NAME[name]["tensors"]:
        exported = by_name.get(tensor["name"])
        if exported is None:
            continue
        if exported["written"]:
            written.append(tensor["name"])
        if exported["read"]:
            content = (folder / f"{tensor['name']}.in").read_bytes()
            arguments[python_name(tensor["name"])] = array_of(exported["dtype"], exported["shape"], content)
        elif tensor["role"] == "inout" or give_outputs:
            arguments[python_name(tensor["name"])] = array_of(exported["dtype"], exported["shape"])
        elif tensor.get("optional"):
            arguments[python_name(tensor["name"])] = True
    for parameter, exported in zip(BY_NAME[name]["parameters"], case["arguments"]["parameters"]):
        value = exported["value"]
        if parameter["type"] == "choice":
            value = parameter["choices"][int(value)]
        elif parameter["type"] != "number":
            value = int(value)
        arguments[python_name(parameter["name"])] = value
    if not give_outputs:  # sizes that no input says
        sizes, axis = {}, int(arguments.get("axis", 0))
        for tensor in BY_NAME[name]["tensors"]:
            if tensor["name"] in by_name:
                ridge._shapes.learn(tensor["shape"], tuple(by_name[tensor["name"]]["shape"]), axis, sizes)
        taken = inspect.signature(getattr(ridge, name)).parameters
        arguments |= {size: value for size, value in sizes.items() if size in taken and size not in arguments}
    return arguments, written


class Operators(unittest.TestCase):
    cases = {}  # by operator, with the folder of their files

    @classmethod
    def case_of(cls, name):
        if name not in cls.cases:
            folder = tempfile.TemporaryDirectory()
            cls.cases[name] = export(name, folder.name), folder
        return cls.cases[name][0], pathlib.Path(cls.cases[name][1].name)

    @classmethod
    def tearDownClass(cls):
        for _, folder in cls.cases.values():
            folder.cleanup()

    def check(self, name, give_outputs):
        case, folder = self.case_of(name)
        arguments, written = call_of(name, case, folder, give_outputs)
        results = getattr(ridge, name)(**arguments)
        results = results if isinstance(results, tuple) else (results,)
        self.assertEqual(len(results), len(written))
        for tensor, result in zip(written, results):
            given = arguments.get(python_name(tensor))
            if given is not None and given is not True:
                self.assertIs(result, given)
            truth, tolerance = (array.array("d", (folder / f"{tensor}{end}").read_bytes()) for end in (".truth", ".tolerance"))
            got = numbers(result, next(t["dtype"] for t in case["arguments"]["tensors"] if t and t["name"] == tensor), len(truth))
            self.assertEqual(len(got), len(truth))
            wrong = [i for i in range(len(got)) if not (abs(got[i] - truth[i]) <= tolerance[i] or got[i] == truth[i] or
                                                        got[i] != got[i] and truth[i] != truth[i])]
            self.assertFalse(wrong, f"{tensor}: element {wrong[:1]} of {len(got)} is wrong")

    def test_all_are_there(self):
        self.assertEqual([n for n in BY_NAME if not callable(getattr(ridge, n, None))], [])
        self.assertEqual(ridge._core.operator_names(), [op["name"] for op in OPERATORS])
        for op in OPERATORS:  # what the package says is what the library says
            self.assertEqual(json.loads(ridge._core.operator_json(op["name"])), op)


def add_tests():
    for name in BY_NAME:
        for give_outputs in (False, True):
            def test(self, name=name, give_outputs=give_outputs):
                self.check(name, give_outputs)
            setattr(Operators, f"test_{name}{'_into_given_arrays' if give_outputs else ''}", test)


class Errors(unittest.TestCase):
    def x(self, *shape):
        return array_of("f32", shape, array.array("f", range(math.prod(shape))).tobytes())

    def refused(self, kind, text, function):
        with self.assertRaises(kind) as caught:
            function()
        self.assertIn(text, str(caught.exception))

    def test_wrong_format(self):
        self.refused(ridge.ArgumentError, "softmax: x is f64; it can be f32, f16, bf16",
                     lambda: ridge.softmax(array_of("f64", (2, 3))))
        self.refused(ValueError, "has numbers of the format 'h'", lambda: ridge.softmax(array.array("h", [1, 2])))

    def test_wrong_shape(self):
        self.refused(ridge.ArgumentError, "add: b is f32 (3) but a is f32 (2, 3)", lambda: ridge.add(self.x(2, 3), self.x(3)))

    def test_wrong_strides(self):
        self.refused(ridge.ArgumentError, "softmax: x has strides (2)", lambda: ridge.softmax(self.x(8)[::2]))

    def test_bytes_with_gaps(self):
        q = memoryview(bytearray(4 * 64)).cast("B", (4, 64))
        scales = array_of("f32", (4, 1), bytes(16))
        self.assertEqual(memoryview(ridge.dequantise_nf4(memoryview(bytearray(128)).cast("B", (4, 32)), scales)).shape, (4, 64))
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        self.refused(ridge.ArgumentError, "dequantise_nf4: q has gaps or another order",
                     lambda: ridge.dequantise_nf4(numpy.asarray(q)[:, ::2], scales))

    def test_no_array(self):
        self.refused(ridge.ArgumentError, "softmax: x is a list", lambda: ridge.softmax([1.0, 2.0]))
        self.refused(ridge.ArgumentError, "add: b is missing", lambda: ridge.add(self.x(2), None))

    def test_read_only_output(self):
        self.refused(ridge.ArgumentError, "softmax: out is read-only",
                     lambda: ridge.softmax(self.x(4), out=memoryview(bytes(16)).cast("f")))

    def test_missing_size(self):
        self.refused(ridge.ArgumentError, "give k, or values itself", lambda: ridge.topk(self.x(2, 5)))
        self.refused(ridge.ArgumentError, "k is -2; it cannot be negative", lambda: ridge.topk(self.x(2, 5), k=-2))

    def test_unknown_choice(self):
        self.refused(ridge.ArgumentError, "activation is 'cube'; it can be none, relu",
                     lambda: ridge.gemm_fused(self.x(2, 3), self.x(3, 2), activation="cube"))

    def test_range_of_a_parameter(self):
        self.refused(ridge.ArgumentError, "probability is 2; it has to be", lambda: ridge.dropout(self.x(4), probability=2.0))

    def test_axis(self):
        self.refused(ridge.ArgumentError, "axis is 3, but x is f32 (2, 3)", lambda: ridge.sum_axis(self.x(2, 3), axis=3))

    def test_device_cannot_change(self):
        ridge.softmax(self.x(3))
        self.refused(ridge.Error, "call ridge.use before", lambda: ridge.use("vm"))
        self.refused(ridge.ArgumentError, "it can be auto, gpu, vm", lambda: ridge.use("tpu"))

    def run_python(self, text):
        done = subprocess.run([sys.executable, "-c", text], env=os.environ | {"PYTHONPATH": str(BUILD / "python")},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout

    def test_fork(self):
        out = self.run_python("import os, ridge\n"
                              "x = memoryview(bytearray(16)).cast('f')\n"
                              "if os.fork() == 0:\n"  # before the first call: both may
                              "    print('early', ridge.sum(x)[()] if 0 else ridge.softmax(x)[0], flush=True); os._exit(0)\n"
                              "os.wait()\n"
                              "ridge.softmax(x)\n"
                              "if os.fork() == 0:\n"
                              "    try: ridge.softmax(x)\n"
                              "    except ridge.ForkError as e: print('late', e, flush=True)\n"
                              "    os._exit(0)\n"
                              "os.wait()\n")
        self.assertIn("early 0.25", out)
        self.assertIn("late this process was forked", out)

    def test_missing_library(self):
        out = self.run_python("import ridge\n"
                              "ridge._core.set_wishes('/nowhere/libridge.so', ridge._library.folders()[1].as_posix(), [])\n"
                              "try: ridge.softmax(memoryview(bytearray(16)).cast('f'))\n"
                              "except ridge.MissingError as e: print('said', e)\n")
        self.assertIn("said Ridge's library cannot be loaded: /nowhere/libridge.so", out)

    def test_another_gpu(self):
        out = self.run_python("import ridge\nridge.use('vm', gpu='t4')\nprint(ridge.device_name())\n")
        self.assertIn("the software GPU as", out)
        self.assertIn("T4", out)

    def test_no_gpu(self):
        if not ridge._core.is_software():
            self.skipTest("there is a GPU here")
        out = self.run_python("import ridge\nridge.use('gpu')\n"
                              "try: ridge.device_name()\nexcept ridge.MissingError as e: print('said', e)\n")
        self.assertIn("said there is no GPU here", out)


class Arrays(unittest.TestCase):
    def test_shared_memory(self):
        x = array.array("f", [1, 2, 3, 4])
        self.assertIs(ridge.add(x, x, out=x), x)  # all three are one
        self.assertEqual(list(x), [2, 4, 6, 8])

    def test_overlapping_views(self):
        x = memoryview(array.array("f", range(9)))
        self.assertEqual(list(ridge.add(x[:8], x[1:])), [2 * i + 1 for i in range(8)])

    def test_without_elements(self):
        self.assertEqual(len(ridge.relu(array.array("f"))), 0)

    def test_truth_values(self):
        flags = memoryview(bytearray([1, 0, 1, 1])).cast("?")
        out, count = ridge.compact(array.array("f", [1, 2, 3, 4]), flags)
        self.assertEqual((list(out)[:3], flat(memoryview(count))[0]), ([1, 3, 4], 3))

    def test_threads(self):
        shared = array.array("f", range(1000))
        wrong = []

        def work(k):
            mine = array.array("f", [k] * 1000)
            for _ in range(20):
                if list(ridge.add(shared, mine)) != [i + k for i in range(1000)]:
                    wrong.append(k)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_dlpack(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")

        class OnlyDlpack:
            def __init__(self, a):
                self.a = a

            def __dlpack__(self, **options):
                return self.a.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.a.__dlpack_device__()
        x = numpy.arange(6, dtype="f").reshape(2, 3)
        numpy.testing.assert_allclose(ridge.softmax(OnlyDlpack(x)), numpy.exp(x) / numpy.exp(x).sum(1, keepdims=True), rtol=1e-6)

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        x = numpy.random.default_rng(1).standard_normal((5, 12)).astype("f2")
        y = ridge.relu(x)
        self.assertEqual((y.dtype, type(y)), (numpy.float16, numpy.ndarray))
        numpy.testing.assert_array_equal(y, numpy.maximum(x, 0))
        numpy.testing.assert_array_equal(ridge.relu(x[:, ::2]), numpy.maximum(x[:, ::2], 0))
        self.assertEqual(ridge.sum(x.astype("f4")).shape, ())
        fortran = numpy.asfortranarray(x.astype("f4"))  # its output lies as it does
        clipped, norm = ridge.clip_by_global_norm(fortran, max_norm=1.0)
        self.assertTrue(clipped.flags.f_contiguous)
        numpy.testing.assert_allclose(clipped, fortran / norm, rtol=1e-5)

    def test_ml_dtypes(self):
        try:
            import ml_dtypes
            import numpy
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        x = numpy.linspace(-2, 2, 9).astype(ml_dtypes.bfloat16)
        y = ridge.relu(x)
        self.assertEqual(y.dtype, x.dtype)
        numpy.testing.assert_array_equal(y.astype("f"), numpy.maximum(x.astype("f"), 0))


if __name__ == "__main__":
    add_tests()
    unittest.main()
