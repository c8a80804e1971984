"""Programs that use libraries of machine code, which the software GPU cannot run: what they are told, and what stands in for
cuBLAS."""
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import cli_test
from cli_test import CliTest

# A kernel of the program's own fills x; cuBLAS adds it to y.
CUBLAS = """
#include <cstdio>
#include "local.h"
extern "C" cublasStatus_t cublasXtCreate(void**);
__global__ void fill(float* x, float value) { x[threadIdx.x] = value; }
int main() {
  float *x, *y, result[4];
  cudaMalloc(&x, sizeof result);
  cudaMalloc(&y, sizeof result);
  fill<<<1, 4>>>(x, 2);
  fill<<<1, 4>>>(y, 1);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float three = 3;
  std::puts(cublasGetStatusName(cublasSaxpy(handle, 4, &three, x, 1, y, 1)));
  std::puts(cublasGetStatusName(cublasSaxpy(handle, 4, nullptr, x, 1, y, 1)));
  std::puts(cublasGetStatusName(cublasXtCreate(nullptr)));
  cudaMemcpy(result, y, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%g %g\\n", result[0], result[3]);
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
        for soname, name in [("libcublas.so.12", "cuBLAS"), ("libcufft.so.12", "cuFFT"), ("libcurand.so.10", "cuRAND"),
                             ("libcusparse.so.12", "cuSPARSE"), ("libcusolver.so.12", "cuSOLVER"), ("libcudnn.so.9", "cuDNN"),
                             ("libnccl.so.2", "NCCL"), ("libnppig.so.13", "NPP"), ("libnvjpeg.so.13", "nvJPEG")]:
            out, err = self.ridge("run", "--device", "vm", self.program_with(soname, "create"))
            self.assertEqual(out, "called\n")  # it runs all the same: it may not need the library
            self.assertRegex(err, rf"^ridge: program is linked with .*{name} \({soname}\), which cannot run on the software GPU")
            self.assertIn("curand_kernel.h", err)
            self.assertNotIn("-cudart", err)

    def test_behind_a_library_of_ones_own(self):
        self.program_with("libcufft.so.12", "create")
        self.cxx("libmine.so", 'extern "C" int create(); int mine() { return create(); }', "-shared", "-fPIC",
                 f"-L{self.folder}", "-lcufft", "-Wl,-rpath,$ORIGIN")
        program = self.cxx("program", "int mine(); int main() { return mine(); }", f"-L{self.folder}", "-lmine",
                           "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined")
        self.assertIn("cuFFT (libcufft.so.12)", self.ridge("run", "--device", "vm", program)[1])

    def test_linked_statically(self):
        program = self.cxx("program", cli_test.Programs.FAT + 'extern "C" int cublasCreate_v2() { return 0; }\nint main() {}')
        self.assertIn("cuBLAS (linked statically), which cannot run", self.ridge("run", "--device", "vm", program)[1])

    def test_a_library_of_ones_own_with_the_static_runtime(self):
        self.cxx("libmine.so", cli_test.Programs.STATIC + "int mine() { return 0; }", "-shared", "-fPIC")
        program = self.cxx("program", "int mine(); int main() { return mine(); }", f"-L{self.folder}", "-lmine",
                           "-Wl,-rpath,$ORIGIN")
        self.assertIn("loads libmine.so, which is linked with the static CUDA runtime",
                      self.ridge("run", "--device", "vm", program)[1])


class Cublas(CliTest):
    """Ridge's own library takes its place."""

    def test_source(self):
        """It is linked without a flag, also where one of its own headers includes cuBLAS."""
        self.write("local.h", "#include <cublas_v2.h>\n")
        source = self.write("sum.cu", CUBLAS)
        out, err = self.ridge("run", "--device", "vm", source)
        self.assertEqual(out, "CUBLAS_STATUS_SUCCESS\nCUBLAS_STATUS_INVALID_VALUE\nCUBLAS_STATUS_NOT_SUPPORTED\n7 7\n")
        self.assertIn("note: sum is linked with libcublas.so.13: Ridge's own takes its place, see docs/cublas.md", err)
        self.assertRegex(err, r"sum.cu:16: error: cublasSaxpy failed: alpha is null \(CUBLAS_STATUS_INVALID_VALUE\) \[failed-call\]")
        self.assertRegex(err, r"sum.cu:17: error: cublasXtCreate is not supported by Ridge's cuBLAS \(several GPUs and host "
                              r"memory \(cublasXt\); see docs/cublas.md\) \[unsupported\]")
        quiet, err = self.ridge("run", "--device", "vm", "--quiet", "--strict", source, code=5)  # it reports
        self.assertEqual(quiet, out)
        self.assertNotIn("note:", err)

    def test_program(self):
        """Linked elsewhere, with libraries of ours and theirs, and a path that leads to the toolkit's."""
        source = 'extern "C" int cublasCreate_v2(void**), cublasLtCreate(void**);\n' \
                 "int main() { void* handle; return 10 * cublasCreate_v2(&handle) + cublasLtCreate(&handle); }"
        stubs = Path(cli_test.RIDGE).resolve().parent.parent / "lib" / "stubs"
        for flags in [], [f"-Wl,-rpath,{toolkit()}"], [f"-Wl,-rpath,{toolkit()},--disable-new-dtags"]:
            program = self.cxx("program", source, f"-L{stubs}", "-lcublas", "-lcublasLt", *flags)
            _, err = self.ridge("run", "--device", "vm", program, code=15)  # of cuBLASLt
            self.assertIn("cublasLtCreate is not supported by Ridge's cuBLASLt", err)

    def test_other_programs_do_not_load_it(self):
        source = self.write("plain.cu", "#include <cstdio>\n// #include <cublas_v2.h> is not for us\n"
                            '#include <fstream>\n#include <string>\nint main() { std::ifstream maps("/proc/self/maps");\n'
                            "for (std::string line; std::getline(maps, line);) if (line.find(\"cublas\") != line.npos) return 1;\n"
                            "return cudaFree(0); }")
        self.ridge("run", "--device", "vm", source)


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
