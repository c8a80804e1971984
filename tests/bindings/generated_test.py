"""The generated part of the Python package, without the module that calls the library: the functions' text against the
descriptions, and the shapes of outputs in Python (for torch.compile) against those of the library.

    generated_test.py [-v] [TEST…]    RIDGE_BUILD is the build folder, RIDGE_LIBRARY libridge.so; the CUDA runtime is what
                                      LD_LIBRARY_PATH finds
"""
import ast
import ctypes
import importlib.util
import json
import os
import pathlib
import random
import unittest

PACKAGE = pathlib.Path(os.environ["RIDGE_BUILD"]) / "python" / "ridge"
OPERATORS = json.loads((PACKAGE / "operators.json").read_text("utf-8"))
MAX_RANK = 8
DTYPES = ["f32", "f16", "bf16", "f64", "i32", "i64", "u32", "u8", "i8", "i4", "u4", "e4m3", "e5m2", "e2m1", "e2m3", "e3m2",
          "ue8m0", "ue4m3", "nf4"]


def load(name):
    spec = importlib.util.spec_from_file_location(name, PACKAGE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    import sys
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


shapes = load("_shapes")


class Tensor(ctypes.Structure):  # RidgeTensor
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_uint8), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK), ("scales", ctypes.c_int64 * 8)]


library = ctypes.CDLL(os.environ["RIDGE_LIBRARY"])
library.ridge_error.restype = library.ridge_operator_json.restype = library.ridge_operator_name.restype = ctypes.c_char_p


def tensor(shape, dtype):
    made = Tensor(None, DTYPES.index(dtype), len(shape))
    stride = 1
    for d in reversed(range(len(shape))):
        made.shape[d], made.strides[d] = shape[d], stride
        stride *= shape[d]
    return made


def outputs(op, tensors, parameters, sizes=None):
    """ridge_outputs: its error, or nothing."""
    pointers = (ctypes.POINTER(Tensor) * len(tensors))(*[t and ctypes.pointer(t) for t in tensors])
    values = (ctypes.c_double * max(len(parameters), 1))(*parameters)
    given = (ctypes.c_int64 * len(op["dimensions"]))(*[(sizes or {}).get(d["name"], -1) for d in op["dimensions"]])
    code = library.ridge_outputs(op["name"].encode(), pointers, len(tensors), values, len(parameters), given, len(given))
    return library.ridge_error().decode() if code else ""


class Functions(unittest.TestCase):
    tree = ast.parse((PACKAGE / "_operators.py").read_text("utf-8"))
    functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}

    def test_one_per_operator(self):
        self.assertEqual(list(self.functions), [op["name"] for op in OPERATORS])
        self.assertEqual([library.ridge_operator_name(i).decode() for i in range(library.ridge_operator_count())],
                         [op["name"] for op in OPERATORS])
        for op in OPERATORS:
            self.assertEqual(json.loads(library.ridge_operator_json(op["name"].encode())), op)

    def test_arguments(self):
        for number, op in enumerate(OPERATORS):
            f = self.functions[op["name"]]
            names = {a.arg for a in f.args.args + f.args.kwonlyargs}
            for said in [t["name"] for t in op["tensors"]] + [p["name"] for p in op["parameters"]]:
                self.assertIn("input" if said == "in" else said, names, op["name"])
            call = f.body[-1].value
            self.assertEqual(ast.literal_eval(call.args[0]), number)
            self.assertEqual(len(call.args[1].elts), len(op["tensors"]))
            self.assertEqual(len(call.args[2].elts), len(op["parameters"]))
            for argument in f.args.args + f.args.kwonlyargs:
                self.assertIsNotNone(argument.annotation, f"{op['name']}: {argument.arg} has no type")
            text = ast.get_docstring(f)
            for name in names:
                self.assertIn(f"{name}:", text, op["name"])
            self.assertIn("Returns:", text)


class Shapes(unittest.TestCase):
    """What _shapes.py makes of a description is what ridge_outputs makes of it."""

    def sizes_of(self, op, generator):
        packs = {e.name for t in op["tensors"] for e in shapes.parse(t["shape"]) if e.pack}
        return {d["name"]: tuple(generator.choice([0, 1, 2, 3, 7]) for _ in range(generator.choice([0, 1, 2])))
                if d["name"] in packs else 2 * generator.choice([0, 1, 3, 16, 40]) for d in op["dimensions"]}

    def test_outputs(self):
        generator, compared = random.Random(1), 0
        for op in OPERATORS:
            for _ in range(10):
                sizes = self.sizes_of(op, generator)
                parameters = [len(sizes.get("outer", ())) if p["name"] == "axis" else p["default"] for p in op["parameters"]]
                axis = next((int(v) for p, v in zip(op["parameters"], parameters) if p["name"] == "axis"), 0)
                tensors, learned, asked = [], {}, {}
                for t in op["tensors"]:
                    if t["role"] == "out":
                        tensors.append(Tensor(rank=-1))
                        continue
                    shape = shapes.shape_of(t["shape"], sizes)
                    dtype = t["formats"][0] if "formats" in t else "f32"
                    tensors.append(tensor(shape, dtype))
                    shapes.learn(t["shape"], shape, axis, learned)
                for t in op["tensors"]:
                    for e in shapes.parse(t["shape"]):
                        if e.name and e.name not in learned and not e.pack:
                            asked[e.name] = learned[e.name] = sizes[e.name]
                self.assertEqual(outputs(op, tensors, parameters, asked), "", op["name"])
                for t, made in zip(op["tensors"], tensors):
                    self.assertEqual(tuple(made.shape[:made.rank]), shapes.shape_of(t["shape"], learned), f"{op['name']}: {t['name']}")
                    compared += t["role"] == "out"
        self.assertGreater(compared, 1000)

    def test_sizes_that_follow(self):
        """Of what only some sizes and parameters say, the library makes the same in C++."""
        generator, compared = random.Random(2), 0
        for op in OPERATORS:
            if op["family"] not in shapes.FOLLOWS:
                continue
            for _ in range(20):
                parameters = {p["name"]: max(p.get("least", 0), generator.choice([p["default"], 1, 2]))
                              if p["type"] == "integer" else p["default"] for p in op["parameters"]}
                sizes = {d["name"]: (2, 3) if (d["name"], op["family"]) == ("rows", "quantisation") else 2 * generator.choice([4, 5, 90])
                         for d in op["dimensions"] if not d.get("optional")}
                if "..." not in op["tensors"][0]["shape"] and op["family"] == "quantisation":
                    sizes["rows"] = 6
                for name in [name for name in sizes if name.startswith("kernel")]:
                    sizes[name] = generator.choice([1, 2, 3])
                asked = dict(sizes)
                shapes.follow(op, sizes, parameters)
                tensors = [Tensor(rank=-1) if t["role"] == "out" else
                           tensor(shapes.shape_of(t["shape"], sizes), t["formats"][0] if "formats" in t else "f32")
                           for t in op["tensors"]]
                values = [parameters[p["name"]] for p in op["parameters"]]
                asked = {name: size for name, size in asked.items() if not isinstance(size, tuple) and name != "rows"}
                self.assertEqual(outputs(op, tensors, values, asked), "", op["name"])
                for t, made in zip(op["tensors"], tensors):
                    if t["role"] == "out":
                        self.assertEqual(tuple(made.shape[:made.rank]), () if t["shape"] == "1" else shapes.shape_of(t["shape"], sizes),
                                         f"{op['name']}: {t['name']} of {sizes}, {parameters}")
                        compared += 1
        self.assertGreater(compared, 500)

    def test_no_rule_is_missing(self):
        """A size that outputs have, and that is neither an input's nor an argument, follows in Python, too."""
        for op in OPERATORS:
            arguments = {a.arg for a in Functions.functions[op["name"]].args.kwonlyargs}
            named = {role: {e.name for t in op["tensors"] if t["role"] == role and not t.get("optional")
                            for e in shapes.parse(t["shape"]) if e.name} for role in ("in", "inout", "out")}
            left = named["out"] - named["in"] - named["inout"] - arguments
            self.assertLessEqual(left, set(shapes.following(op, named["in"] | named["inout"] | arguments)), op["name"])

    def by_name(self, name):
        return next(op for op in OPERATORS if op["name"] == name)

    def test_formats(self):
        for of, wanted in (("i32", "i64"), ("f32", "f32")):
            made = [tensor((5,), of), Tensor(rank=-1)]
            self.assertEqual(outputs(self.by_name("sum"), made, []), "")
            self.assertEqual((DTYPES[made[1].dtype], made[1].rank), (wanted, 0))
            self.assertEqual(self.by_name("sum")["tensors"][1]["derived_formats"][of], wanted)
        made = [tensor((4, 3), "bf16"), tensor((3, 5), "bf16"), Tensor(rank=-1), None]
        self.assertEqual(outputs(self.by_name("gemm"), made, [1, 0, 0]), "")
        self.assertEqual(DTYPES[made[2].dtype], "bf16")

    def test_errors(self):
        topk = self.by_name("topk")
        made = lambda: [tensor((2, 5), "f32"), Tensor(rank=-1), Tensor(rank=-1)]  # noqa: E731
        self.assertIn("no input says the size k of values (rows..., k); give k, or values itself", outputs(topk, made(), [1, 1]))
        self.assertIn("k is -3; it cannot be negative", outputs(topk, made(), [1, 1], {"k": -3}))
        self.assertIn("cols is 4, but the inputs have 5", outputs(topk, made(), [1, 1], {"k": 1, "cols": 4}))
        self.assertIn("x is f32 (5); it has to be", outputs(self.by_name("warp_sum"), [tensor((5,), "f32"), Tensor(rank=-1)], []).replace("in is", "x is"))
        self.assertIn("axis is 2, but x is f32 (2, 5)", outputs(self.by_name("sum_axis"), [tensor((2, 5), "f32"), Tensor(rank=-1)], [2]))
        self.assertIn("3 tensors were given; it has 2", outputs(self.by_name("sum"), made(), []))


if __name__ == "__main__":
    unittest.main()
