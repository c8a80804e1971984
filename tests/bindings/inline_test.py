"""ridge.load_inline: kernels and host functions of a text, on arrays without NumPy and without PyTorch.

    inline_test.py [-v] [TEST…]    RIDGE_BUILD is the build folder
"""
import array
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["RIDGE_BUILD"])
sys.path.insert(0, str(BUILD / "python"))
NO_MODULE = 77  # what ctest knows as "skipped"
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name

try:
    import ridge
except ImportError as error:
    if "_core" not in str(error):
        raise
    print("skipped: the module ridge._core is not built; `pip install nanobind` and the headers of Python, then "
          "`./ridge build ridge_python`")
    sys.exit(NO_MODULE)

SOURCE = """
template <class T>
__global__ void scale(const T* x, T* y, T factor, int n) {  // line 3
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
__global__ void outside(float* x) { x[threadIdx.x + 100] = 1; }  // line 7
cudaError_t scale_all(ridge::Tensor x, double factor, ridge::Tensor y, cudaStream_t stream) {
  if (x.rank != 1) return cudaErrorInvalidValue;
  const int n = int(x.shape[0]);
  scale<<<(n + 255) / 256, 256, 0, stream>>>((const float*)x.data, (float*)y.data, float(factor), n);
  return cudaSuccess;
}
long long twice(long long x) { return 2 * x; }
bool is_even(int x) { return x % 2 == 0; }
double halved(double x) { return x / 2; }
"""
NAMES = {name: name for name in ("outside", "scale_all", "twice", "is_even", "halved")} | {"scale": "scale<float>",
                                                                                          "scale_i64": "scale<long long>"}


class Inline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("nvcc") and not pathlib.Path("/usr/local/cuda/bin/nvcc").exists():
            raise unittest.SkipTest("there is no nvcc here")
        cls.module = ridge.load_inline(SOURCE, NAMES)

    def refused(self, kind, text, function):
        with self.assertRaises(kind) as caught:
            function()
        self.assertIn(text, str(caught.exception))

    def test_kernel(self):
        x, y = array.array("f", range(1000)), array.array("f", bytes(4000))
        self.module.scale[4, 256](x, y, 2.0, 1000)
        self.assertEqual(list(y), [2 * i for i in range(1000)])
        self.module.scale[(2, 1, 1), (128,), 64](x, y, 3.0, 256)
        self.assertEqual((y[255], y[256]), (765, 512))
        long = array.array("q", [1 << 40])
        self.module.scale_i64[1, 1](long, long, 3, 1)
        self.assertEqual(long[0], 3 << 40)

    def test_read_only_array_for_a_const_pointer(self):
        x, y = memoryview(array.array("f", [1, 2])).toreadonly(), array.array("f", [0, 0])
        self.module.scale[1, 2](x, y, 5.0, 2)
        self.assertEqual(list(y), [5, 10])
        self.refused(ridge.ArgumentError, "argument 2 is read-only", lambda: self.module.scale[1, 2](y, x, 5.0, 2))

    def test_host_functions(self):
        x, y = array.array("f", range(300)), array.array("f", bytes(1200))
        self.assertIsNone(self.module.scale_all(x, 3, y))
        self.assertEqual(y[299], 897)
        self.assertEqual((self.module.twice(21), self.module.is_even(3), self.module.halved(5)), (42, 0, 2.5))
        self.refused(ridge.KernelError, "scale_all: invalid argument", lambda: self.module.scale_all(
            memoryview(x).cast("B").cast("f", (100, 3)), 3, y))

    def test_fault_of_a_kernel(self):
        x = array.array("f", [0] * 32)
        with self.assertRaises(ridge.KernelError) as caught:
            self.module.outside[1, 32](x)
        if ridge._core.is_software():
            text = str(caught.exception)
            self.assertIn("inline.cu:7", text)
            self.assertIn("illegal memory access in kernel outside [out-of-bounds]", text)
        self.module.scale[1, 32](x, x, 1.0, 32)  # the process goes on

    def test_failing_launch(self):
        x = array.array("f", [0])
        with self.assertRaises(ridge.KernelError) as caught:
            self.module.scale[1, 2048](x, x, 1.0, 1)
        if ridge._core.is_software():
            self.assertIn("2048 threads per block, at most 1024", str(caught.exception))

    def test_wrong_arguments(self):
        x, m = array.array("f", [0]), self.module
        self.refused(ridge.ArgumentError, "scale: argument 1 is f64; it has to be f32",
                     lambda: m.scale[1, 1](array.array("d", [0]), x, 1.0, 1))
        self.refused(ridge.ArgumentError, "3 arguments were given; it has 4", lambda: m.scale[1, 1](x, x, 1.0))
        self.refused(ridge.ArgumentError, "5 arguments were given; it has 4", lambda: m.scale[1, 1](x, x, 1.0, 1, 1))
        self.refused(ridge.ArgumentError, "argument 3 is a str; it has to be a number", lambda: m.scale[1, 1](x, x, "a", 1))
        self.refused(ridge.ArgumentError, "argument 4 is not a whole number", lambda: m.scale[1, 1](x, x, 1.0, 1.5))
        self.refused(ridge.ArgumentError, "argument 4 is a number that the parameter's type does not hold",
                     lambda: m.scale[1, 1](x, x, 1.0, 1 << 40))
        self.refused(ridge.ArgumentError, "scale is a kernel: call it as scale[blocks, threads]", lambda: m.scale(x, x, 1.0, 1))
        self.refused(ridge.ArgumentError, "takes blocks, threads per block", lambda: m.scale[1])

    def test_does_not_compile(self):
        self.refused(ridge.CompileError, "inline.cu(1): error", lambda: ridge.load_inline("__global__ void f(int* x) { x = 3; }", ["f"]))
        self.refused(ridge.ArgumentError, "the source has no function g", lambda: ridge.load_inline("int f();", ["g"]))
        self.refused(ridge.ArgumentError, "is no name for Python", lambda: ridge.load_inline(SOURCE, ["scale<float>"]))

    def test_compiled_once(self):
        folder = pathlib.Path(CACHE.name) / "ridge" / "inline"
        before = {file: file.stat().st_mtime_ns for file in folder.glob("*/inline.so")}
        ridge.load_inline(SOURCE, NAMES)
        self.assertEqual({file: file.stat().st_mtime_ns for file in folder.glob("*/inline.so")}, before)


if __name__ == "__main__":
    unittest.main()
