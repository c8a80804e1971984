"""`ridge run | profile | check FILE.py` as a user types it. What needs Triton is skipped without one."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

RIDGE = os.environ["RIDGE_BINARY"]
PYTHON = os.environ.get("RIDGE_TRITON_PYTHON", sys.executable)
HAS_TRITON = subprocess.run([PYTHON, "-c", "import triton, numpy"], capture_output=True).returncode == 0


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, text, name="program.py"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return str(path)

    def ridge(self, *words, **variables):
        # Triton keeps kernels by their text, with the path of the file that had it first.
        environment = {**os.environ, "TRITON_CACHE_DIR": str(self.folder / "cache"), **variables}
        return subprocess.run([RIDGE, *words], capture_output=True, text=True, env=environment, cwd=self.folder, timeout=250)


class Arguments(Case):
    def test_the_program_is_run_as_python_runs_it(self):
        program = self.write("""
            import sys
            print(__name__, sys.argv, sys.executable)
            sys.exit(3)
            """)
        out = self.ridge("run", "--device", "vm", "--python", sys.executable, program, "--", "a", "--b")
        self.assertEqual(out.returncode, 3)
        self.assertEqual(out.stdout, f"__main__ {[program, 'a', '--b']} {sys.executable}\n")
        self.assertEqual(out.stderr, "")

    def test_the_active_environment_is_taken(self):
        self.write("#!/bin/sh\necho mine \"$@\"\n", "venv/bin/python")
        (self.folder / "venv/bin/python").chmod(0o755)
        out = self.ridge("run", "--device", "vm", self.write(""), VIRTUAL_ENV=str(self.folder / "venv"))
        self.assertTrue(out.stdout.startswith("mine"), out.stdout + out.stderr)
        out = self.ridge("run", "--device", "vm", "--python", str(self.folder / "venv"), self.write(""))
        self.assertTrue(out.stdout.startswith("mine"), out.stdout + out.stderr)

    def test_python_for_another_file(self):
        out = self.ridge("run", "--device", "vm", "--python", sys.executable, self.write("", "a.cu"))
        self.assertEqual(out.returncode, 2)
        self.assertIn("a.cu is no .py file", out.stderr)

    def test_no_such_python(self):
        out = self.ridge("run", "--device", "vm", "--python", "/no/python", self.write(""))
        self.assertEqual(out.returncode, 2)
        self.assertIn("there is no program '/no/python'", out.stderr)

    def test_no_such_file(self):
        self.write("", "softmax.py")
        out = self.ridge("run", "--device", "vm", "sofmax.py")
        self.assertEqual(out.returncode, 2)
        self.assertIn("softmax.py", out.stderr)

    def test_another_sitecustomize_is_run_too(self):
        self.write("print('theirs')", "site/sitecustomize.py")
        out = self.ridge("run", "--device", "vm", "--python", sys.executable, self.write("print('program')"),
                         PYTHONPATH=str(self.folder / "site"))
        self.assertEqual(out.stdout, "theirs\nprogram\n", out.stderr)

    def test_nothing_is_installed_without_being_asked(self):
        out = self.ridge("python", "--python", sys.executable)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("numpy", out.stdout)
        self.assertEqual(self.ridge("python", "--torch").returncode, 2)


class Messages(Case):
    def test_an_old_triton(self):
        self.write('__version__ = "2.1.0"', "site/triton/__init__.py")
        out = self.ridge("run", "--device", "vm", "--python", sys.executable, self.write("import triton"),
                         PYTHONPATH=str(self.folder / "site"))
        self.assertEqual(out.returncode, 1)
        self.assertIn("Triton 2.1.0 is too old for the software GPU, which needs 3.4 or newer", out.stderr)

    def test_a_kernel_for_another_architecture(self):
        ptx = Path(__file__).parent / "stored/h200/10_matmul.ptx"
        out = self.ridge("run", "--gpu", "a100", "--python", sys.executable, self.write(f"""
            import ctypes
            cuda, context, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
            cuda.cuInit(0)
            cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
            cuda.cuCtxSetCurrent(context)
            assert cuda.cuModuleLoadData(ctypes.byref(module), open({str(ptx)!r}, "rb").read()) != 0
            """))
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("the module is for sm_90a, which sm_80 cannot run", out.stderr)

    def test_no_triton(self):
        program = self.write("""
            import sys
            sys.path[:] = [path for path in sys.path if "site-packages" not in path]
            import triton
            """)
        out = self.ridge("run", "--device", "vm", "--python", sys.executable, program)
        self.assertEqual(out.returncode, 1)
        self.assertIn("has no Triton", out.stderr)
        self.assertIn("ridge python --install", out.stderr)

    def test_a_program_that_can_do_without(self):
        program = self.write("""
            import sys
            sys.path[:] = [path for path in sys.path if "site-packages" not in path]
            try:
                import triton
            except ImportError:
                print("without")
            """)
        out = self.ridge("run", "--device", "vm", "--python", sys.executable, program)
        self.assertEqual((out.stdout, out.stderr), ("without\n", ""))


KERNEL = """
    import numpy as np
    import triton
    import triton.language as tl

    @triton.jit
    def double(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n)
        tl.store(out + i, 2 * v, mask=i < n)

    n = 1000
    x, out = np.arange(n, dtype=np.float32), np.full(n, np.nan, np.float32)
    """


@unittest.skipUnless(HAS_TRITON, f"{PYTHON} has no Triton")
class Kernels(Case):
    def run_program(self, text, *flags, verb="run", **variables):
        program = self.write(textwrap.dedent(KERNEL) + textwrap.dedent(text))
        return self.ridge(verb, "--device", "vm", "--python", PYTHON, *flags, program, **variables)

    def right(self, out):
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        return out.stdout

    def test_arrays_are_shared(self):
        self.right(self.run_program("double[(4, )](x, out, n, BLOCK=256)\nassert (out == 2 * x).all()"))

    def test_parts_of_arrays(self):
        self.right(self.run_program("""
            whole = np.arange(3000, dtype=np.float32)
            double[(4, )](whole[1000:2000], whole[2000:], n, BLOCK=256)
            assert (whole[2000:] == 2 * np.arange(1000, 2000)).all() and (whole[:2000] == np.arange(2000)).all()
            """))

    def test_arrays_without_elements(self):
        self.right(self.run_program("double[(1, )](np.zeros(0, np.float32), np.zeros(0, np.float32), 0, BLOCK=256)"))

    def test_numbers_that_triton_lacks(self):
        out = self.run_program("double[(4, )](x.astype(np.complex64), out, n, BLOCK=256)")
        self.assertNotEqual(out.returncode, 0)
        self.assertIn("a NumPy array of complex64 is no argument for a kernel", out.stderr)

    def test_memory_that_comes_back_for_another_array(self):
        self.right(self.run_program("""
            for k in range(40):
                a, b = np.full(n, k, np.float32), np.empty(n, np.float32)
                double[(4, )](a, b, n, BLOCK=256)
                assert (b == 2 * k).all()
            """, verb="check"))

    def test_a_profile_names_lines_arguments_and_configurations(self):
        out = self.right(self.run_program("""
            for block in (256, 512):
                double[(triton.cdiv(n, block), )](x, out, n, BLOCK=block)
            """, "--json", "profile.json", verb="profile"))
        kernels = json.loads((self.folder / "profile.json").read_text())["kernels"]
        self.assertEqual([k["name"] for k in kernels], ["double[BLOCK=256]", "double[BLOCK=512]"])
        self.assertEqual(kernels[0]["tensors"], ["x: float32[1000]", "out: float32[1000]"])
        self.assertIn("v = tl.load(x + i, mask=i < n)", out)
        self.assertIn("x: float32[1000]", out)

    def test_an_autotuner_hears_the_clock_of_the_model(self):
        text = """
            tuned = triton.autotune([triton.Config({"BLOCK": block}, num_warps=1) for block in (32, 1024)], key=["n"])(double)
            n = 1 << 20
            x, out = np.ones(n, np.float32), np.empty(n, np.float32)
            tuned[lambda meta: (triton.cdiv(n, meta["BLOCK"]), )](x, out, n)
            assert (out == 2).all()
            print({config.kwargs["BLOCK"]: round(min(times) * 1e3, 1) for config, times in tuned.configs_timings.items()})
            """
        first, second = (self.right(self.run_program(text)) for _ in range(2))
        times, again = eval(first), eval(second)
        for block in times:  # the host's clock would never say the same twice; where arrays lie matters a little
            self.assertAlmostEqual(again[block] / times[block], 1, delta=0.01)
        self.assertGreater(times[32], times[1024])

    def test_print_and_assert(self):
        out = self.run_program("""
            @triton.jit
            def speak(x, BLOCK: tl.constexpr):
                i = tl.arange(0, BLOCK)
                v = tl.load(x + i)
                tl.device_print("v", v)
                tl.device_assert(v < 31, "too large")

            speak[(1, )](x, BLOCK=32, debug=True)
            """)
        self.assertNotEqual(out.returncode, 0)
        self.assertIn("idx ( 3) v: 3.0", out.stdout)
        self.assertIn("too large", out.stderr)
        self.assertIn("program.py:", out.stderr)

    def test_outside_of_an_array(self):
        out = self.run_program("double[(5, )](x, out, 1200, BLOCK=256)")
        self.assertNotEqual(out.returncode, 0)
        self.assertIn("'x: float32[1000]'", out.stderr)
        self.assertIn("program.py:9:", out.stderr)

    def test_numba(self):
        if subprocess.run([PYTHON, "-c", "import numba.cuda"], capture_output=True).returncode:
            self.skipTest(f"{PYTHON} has no Numba with CUDA")
        self.right(self.run_program("""
            from numba import cuda

            @cuda.jit
            def triple(x, out):
                i = cuda.grid(1)
                if i < x.size:
                    out[i] = 3 * x[i]

            triple[4, 256](x, out)
            assert (out == 3 * x).all()
            """))

    def test_a_forked_process(self):
        out = self.run_program("""
            import multiprocessing
            def work():
                double[(4, )](x, out, n, BLOCK=256)
            work()
            process = multiprocessing.get_context("fork").Process(target=work)
            process.start()
            process.join()
            assert process.exitcode == 1
            """)
        self.right(out)
        self.assertIn("this process was forked after the GPU had been used", out.stderr)

    def test_a_spawned_process(self):
        program = """
            import multiprocessing
            def work():
                double[(4, )](x, out, n, BLOCK=256)
                assert (out == 2 * x).all()
            if __name__ == "__main__":
                work()
                process = multiprocessing.get_context("spawn").Process(target=work)
                process.start()
                process.join()
                assert process.exitcode == 0
            """
        self.right(self.run_program(program))

    def test_a_kernel_that_never_ends(self):
        out = self.run_program("""
            @triton.jit
            def wait(x):
                while tl.load(x, volatile=True) == 0:
                    pass

            wait[(1, )](np.zeros(1, np.int32))
            """, "--timeout", "1")
        self.assertNotEqual(out.returncode, 0)
        self.assertRegex(out.stderr, r"(1 s|time limit|--timeout)")
        self.assertIn("program.py:", out.stderr)


if __name__ == "__main__":
    unittest.main()
