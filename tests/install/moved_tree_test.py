"""What `./ridge install` makes works after a move, read-only, for a user without a home, and from any folder."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ["RIDGE_BUILD"]
CMAKE = os.environ["RIDGE_CMAKE"]

HELLO = """
#include <cstdio>
#include <ridge/dtype.h>
__global__ void hello() { printf("hello from thread %d\\n", threadIdx.x); }
int main() { hello<<<1, 2>>>(); return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4; }
"""


# Ridge's cuBLAS, its kernels, and those of a family.
CUBLAS = """
#include <cstdio>
#include <cublas_v2.h>
int main() {
  float *x, values[4] = {1, 2, 3, 4}, two = 2, sum = 0;
  cudaMalloc(&x, sizeof values);
  cublasSetVector(4, sizeof(float), values, 1, x, 1);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSscal(handle, 4, &two, x, 1);
  cublasStatus_t status = cublasSdot(handle, 4, x, 1, x, 1, &sum);
  printf("%s %g\\n", cublasGetStatusName(status), sum);
}
"""


class MovedTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ridge-install-"))
        cls.addClassCleanup(cls.remove)
        if os.environ.get("RIDGE_PORTABLE"):
            subprocess.run([CMAKE, "--build", BUILD, "--target", "installed_tools"], check=True, capture_output=True)
        first, cls.tree = cls.folder / "first", cls.folder / "moved tree"
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", first, "--component", "tools"], check=True,
                       capture_output=True)
        first.rename(cls.tree)
        (cls.folder / "hello.cu").write_text(HELLO)
        (cls.folder / "cublas.cu").write_text(CUBLAS)
        (cls.folder / "tmp").mkdir()
        subprocess.run(["chmod", "-R", "a+rX,a-w", cls.folder], check=True)
        (cls.folder / "tmp").chmod(0o1777)

    @classmethod
    def remove(cls):
        subprocess.run(["chmod", "-R", "u+w", cls.folder], check=True)
        shutil.rmtree(cls.folder)

    def ridge(self, *arguments, code=0):
        """As another user where that is possible, with nothing of ours in the environment."""
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(self.folder / "tmp")}
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run([self.tree / "bin" / "ridge", *map(str, arguments)], cwd="/", env=env,
                              capture_output=True, text=True, timeout=200, **user)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def test_cublas(self):
        out, _ = self.ridge("run", "--device", "vm", "--quiet", self.folder / "cublas.cu")
        self.assertEqual(out, "CUBLAS_STATUS_SUCCESS 120\n")

    def test_device(self):
        self.assertIn("NVIDIA H200", self.ridge("device", "--device", "vm")[0])

    def test_run_and_what_is_missing(self):  # the last by name: it takes the tree apart
        source = self.folder / "hello.cu"
        greeting = "hello from thread 0\nhello from thread 1\n"
        self.assertEqual(self.ridge("run", "--device", "vm", source)[0], greeting)
        kept = list((self.folder / "tmp").glob("ridge-*"))
        self.assertEqual([path.stat().st_mode & 0o777 for path in kept], [0o700])  # nobody else's to write

        vm = self.tree / "lib" / "ridge" / "vm"
        subprocess.run(["chmod", "-R", "u+w", vm], check=True)
        if os.environ.get("RIDGE_PORTABLE"):  # the build for CPUs without AVX2 does the same
            shutil.rmtree(vm / "glibc-hwcaps", ignore_errors=True)
            self.assertEqual(self.ridge("run", "--device", "vm", source)[0], greeting)

        (vm / "libcudart.so.13").unlink()
        _, error = self.ridge("device", "--device", "vm", code=8)
        self.assertIn("the software GPU is not there: ", error)
        self.assertIn("install Ridge again", error)

    def test_manual_and_completion(self):
        share = self.tree / "share"
        self.assertIn(".SS run\n", (share / "man" / "man1" / "ridge.1").read_text())
        for file in "bash-completion/completions/ridge", "zsh/site-functions/_ridge", "fish/vendor_completions.d/ridge.fish":
            self.assertIn("device", (share / file).read_text())
        self.assertTrue((share / "doc" / "ridge" / "LICENSE").exists())


if __name__ == "__main__":
    sys.exit(unittest.main())
