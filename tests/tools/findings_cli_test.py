"""Reports of run, check and profile as a user and as CI see them: failing calls, --strict, --sarif, suppressions."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

RIDGE = os.environ["RIDGE_BINARY"]

# Each call fails in its own way, and nobody looks at what it returns.
SOURCE = """\
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void touch(int* d) { d[threadIdx.x] = 1; }
__global__ void past_the_end(int* d) { d[threadIdx.x + 8388608] = 1; }
__global__ void endless(volatile int* d) { while (d[0] == 0); }
int main(int argc, char** argv) {
  const int what = std::atoi(argv[1]);
  int* d = nullptr;
  cudaMalloc(&d, 4096);
  cudaMemset(d, 0, 4096);
  if (what == 1) touch<<<2, 2048>>>(d);  // LAUNCH
  if (what == 2) for (int k = 0; k < 5; ++k) cudaMemset(nullptr, 0, 16);  // FILL
  if (what == 3) past_the_end<<<1, 32>>>(d);
  if (what == 4) endless<<<1, 1>>>(d);
  if (what == 5) { cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e); (void)cudaEventQuery(e); cudaEventDestroy(e);
                   (void)cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20); }
  cudaDeviceSynchronize();
  cudaFree(d);
  return 3;
}
"""
LINES = {word: number for number, line in enumerate(SOURCE.splitlines(), 1)
         for word in ("LAUNCH", "FILL") if "// " + word in line}


class Findings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ridge-test-"))
        (cls.folder / "calls.cu").write_text(SOURCE)
        cls.env = dict(os.environ, XDG_CACHE_HOME=str(cls.folder / "cache"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def ridge(self, *arguments, code):
        done = subprocess.run([RIDGE, *map(str, arguments)], cwd=self.folder, env=self.env,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def run_it(self, what, *flags, code):
        return self.ridge("run", "--quiet", "--device", "vm", *flags, "calls.cu", "--", what, code=code)[1]

    def test_run_tells_a_failing_launch_in_one_line_with_its_limit_and_place(self):
        err = self.run_it(1, code=3)
        self.assertEqual(err, f"calls.cu:{LINES['LAUNCH']}: error: launch of touch<<<2, 2048>>> failed: 2048 threads per "
                              "block, at most 1024 (cudaErrorInvalidValue) [failed-call]\n")

    def test_a_call_that_fails_in_a_loop_is_told_once(self):
        err = self.run_it(2, code=3)
        self.assertEqual(err.count("error:"), 1, err)
        self.assertIn(f"calls.cu:{LINES['FILL']}: error: fill of 16 bytes failed: the destination is a null pointer", err)

    def test_answers_are_no_failures(self):
        self.assertEqual(self.run_it(5, code=3), "")
        self.ridge("check", "--quiet", "calls.cu", "--", 5, code=3)

    def test_a_fault_is_told_once_with_its_source(self):
        err = self.run_it(3, code=3)
        self.assertEqual(err.count("illegal memory access"), 1, err)
        self.assertRegex(err, r"\n +4 \| __global__ void past_the_end")

    def test_check_finds_a_failing_call(self):
        out, err = self.ridge("check", "--quiet", "--json", "-", "calls.cu", "--", 1, code=5)
        found = json.loads(out)["findings"]
        self.assertEqual([(f["kind"], f["file"], f["line"]) for f in found], [("failed-call", "calls.cu", LINES["LAUNCH"])])
        self.assertIn("1 finding: failed-call", err)

    def test_profile_tells_why_no_kernel_ran(self):
        _, err = self.ridge("profile", "--quiet", "calls.cu", "--", 1, code=3)
        self.assertIn("at most 1024", err)

    def test_strict_decides_the_exit_code(self):
        self.run_it(0, "--strict", code=3)
        for what, code in (1, 5), (2, 5), (3, 5):
            self.run_it(what, "--strict", code=code)
        self.run_it(4, "--strict", "--timeout", 1, code=6)

    def test_a_timeout_is_told_as_what_it_is(self):
        err = self.ridge("check", "--quiet", "--timeout", 1, "calls.cu", "--", 4, code=6)[1]
        self.assertIn("the kernel ran past the time limit in kernel endless", err)
        self.assertNotIn("barrier", err)

    def test_suppressions_and_sarif(self):
        (self.folder / "known").write_text(f"failed-call calls.cu:{LINES['LAUNCH']}  # on purpose\n")
        self.run_it(1, "--strict", "--suppress", "known", "--sarif", "out.sarif", code=3)
        [result] = json.loads((self.folder / "out.sarif").read_text())["runs"][0]["results"]
        self.assertEqual(result["suppressions"], [{"kind": "external"}])
        _, err = self.ridge("check", "--quiet", "--suppress", "known", "calls.cu", "--", 1, code=3)
        self.assertIn("1 finding is suppressed", err)
        (self.folder / "known").write_text("failed-call calls.cu:many\n")
        self.assertIn("known:1: 'many' is no line number", self.run_it(1, "--strict", "--suppress", "known", code=2))


if __name__ == "__main__":
    unittest.main()
