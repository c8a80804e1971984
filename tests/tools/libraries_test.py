"""Programs that use libraries of machine code, which the software GPU cannot run: what they are told."""
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import cli_test
from cli_test import CliTest

CUBLAS = """
#include <cstdio>
#include <cublas_v2.h>
__global__ void seven(int* out) { *out = 7; }
int main() {
  int *device, value = 0;
  cudaMalloc(&device, sizeof(int));
  seven<<<1, 1>>>(device);
  cudaMemcpy(&value, device, sizeof(int), cudaMemcpyDeviceToHost);
  cublasHandle_t handle;
  std::printf("%d %s\\n", value, cublasGetStatusName(cublasCreate(&handle)));
}
"""

LOADED = """
#include <cstdio>
#include <dlfcn.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (!library) { std::puts(dlerror()); return 77; }
  int (*create)(void*) = (int (*)(void*))dlsym(library, argv[2]);
  void* handle[16] = {};
  return create(handle) != 0;
}
"""


def toolkit():
    """The folder of the toolkit's libraries."""
    dryrun = subprocess.run(["nvcc", "--dryrun", "none.cu"], capture_output=True, text=True).stderr
    root = next(line.split("TOP=")[1] for line in dryrun.splitlines() if "TOP=" in line)
    return next(path.parent for path in Path(root).glob("lib*/libcudart.so.13"))


class Linked(CliTest):
    """Told before the run, from the files."""

    def program_with(self, soname, symbol):
        """A program linked with a stand-in for the library, which prints when it is called."""
        name = soname.split(".so")[0][3:]
        library = self.cxx(f"lib{name}.so", f'#include <cstdio>\nextern "C" int {symbol}() {{ std::puts("called"); return 0; }}',
                           "-shared", "-fPIC", f"-Wl,-soname,{soname}")
        shutil.copy(library, self.folder / soname)
        return self.cxx("program", f'extern "C" int {symbol}(); int main() {{ return {symbol}(); }}', f"-L{self.folder}",
                        f"-l{name}", "-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags")  # before the toolkit's

    def test_each_library_is_named(self):
        for soname, name in [("libcublas.so.13", "cuBLAS"), ("libcufft.so.12", "cuFFT"), ("libcurand.so.10", "cuRAND"),
                             ("libcusparse.so.12", "cuSPARSE"), ("libcusolver.so.12", "cuSOLVER"), ("libcudnn.so.9", "cuDNN"),
                             ("libnccl.so.2", "NCCL"), ("libnppig.so.13", "NPP"), ("libnvjpeg.so.13", "nvJPEG")]:
            out, err = self.ridge("run", "--device", "vm", self.program_with(soname, "create"))
            self.assertEqual(out, "called\n")  # it runs all the same: it may not need the library
            self.assertRegex(err, rf"^ridge: program is linked with .*{name} \({soname}\), which cannot run on the software GPU")
            self.assertIn("curand_kernel.h", err)
            self.assertNotIn("-cudart", err)

    def test_behind_a_library_of_ones_own(self):
        self.program_with("libcublas.so.13", "create")
        self.cxx("libmine.so", 'extern "C" int create(); int mine() { return create(); }', "-shared", "-fPIC",
                 f"-L{self.folder}", "-lcublas", "-Wl,-rpath,$ORIGIN")
        program = self.cxx("program", "int mine(); int main() { return mine(); }", f"-L{self.folder}", "-lmine",
                           "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined")
        self.assertIn("cuBLAS (libcublas.so.13)", self.ridge("run", "--device", "vm", program)[1])

    def test_linked_statically(self):
        program = self.cxx("program", cli_test.Programs.FAT + 'extern "C" int cublasCreate_v2() { return 0; }\nint main() {}')
        self.assertIn("cuBLAS (linked statically), which cannot run", self.ridge("run", "--device", "vm", program)[1])

    def test_a_library_of_ones_own_with_the_static_runtime(self):
        self.cxx("libmine.so", cli_test.Programs.STATIC + "int mine() { return 0; }", "-shared", "-fPIC")
        program = self.cxx("program", "int mine(); int main() { return mine(); }", f"-L{self.folder}", "-lmine",
                           "-Wl,-rpath,$ORIGIN")
        self.assertIn("loads libmine.so, which is linked with the static CUDA runtime",
                      self.ridge("run", "--device", "vm", program)[1])

    @unittest.skipUnless(any(toolkit().glob("libcublas.so*")), "no cuBLAS here")
    def test_cublas(self):
        source = self.write("gemm.cu", CUBLAS)
        out, err = self.ridge("run", "--device", "vm", source, "--nvcc", "-lcublas")
        self.assertEqual(out, "7 CUBLAS_STATUS_NOT_INITIALIZED\n")  # its own kernel ran
        self.assertIn("gemm is linked with cuBLAS (libcublas.so.13)", err)
        self.assertNotIn("-cudart", err)


class Loaded(CliTest):
    """Told when it happens: a library that the program loads by itself."""

    def load(self, file, symbol):
        program = self.folder / "loads"
        if not program.exists():
            self.cxx("loads", LOADED, "-ldl")
        done = self.ridge("run", "--device", "vm", "--quiet", program, "--", file, symbol, code=1)
        return done[1]

    def test_closed_libraries(self):
        for pattern, symbol, name in [("libcublas.so.*", "cublasCreate_v2", "cuBLAS"), ("libcusparse.so.*", "cusparseCreate", "cuSPARSE"),
                                      ("libcurand.so.*", "curandCreateGenerator", "cuRAND"), ("libcufft.so.*", "cufftCreate", "cuFFT")]:
            for file in list(toolkit().glob(pattern))[:1]:
                err = self.load(file, symbol)
                self.assertRegex(err, rf"ridge: .*{name} \({file.name}\) holds machine code, which only a GPU can run")
                self.assertNotIn("-cudart", err)

    def test_a_library_with_the_static_runtime(self):
        source = self.write("mine.cu", 'extern "C" int create(void*) { return cudaFree(0); }')
        subprocess.run(["nvcc", "-shared", "-Xcompiler", "-fPIC", source, "-o", self.folder / "libmine.so"], check=True)
        self.assertIn("ridge: libmine.so is linked with the static CUDA runtime, which only a GPU can serve. Rebuild it",
                      self.load(self.folder / "libmine.so", "create"))

    def test_a_library_without_ptx(self):
        source = self.write("mine.cu", "__global__ void k() {}\n"
                            'extern "C" int create(void*) { k<<<1, 1>>>(); return cudaGetLastError(); }')
        subprocess.run(["nvcc", "-shared", "-cudart", "shared", "-gencode", "arch=compute_90,code=sm_90", "-Xcompiler", "-fPIC",
                        source, "-o", self.folder / "libmine.so"], check=True)
        err = self.load(self.folder / "libmine.so", "create")
        self.assertIn("libmine.so holds no PTX that sm_90 can run; it holds machine code sm_90.", err)


if __name__ == "__main__":
    sys.exit(unittest.main())
