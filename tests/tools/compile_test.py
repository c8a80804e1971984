"""Hints under the real compiler's errors: what they say is done, and the program runs."""
import re
import shlex
import sys
import unittest

from cli_test import CliTest

PROGRAMS = {
    "a kernel that launches kernels":
        "__global__ void c() {}\n__global__ void p() { c<<<1, 1>>>(); }\nint main() { p<<<1, 1>>>(); return cudaDeviceSynchronize(); }",
    "a lambda for a kernel":
        "template <class F> __global__ void k(F f) { f(); }\n"
        "int main() { k<<<1, 1>>>([] __device__() {}); return cudaDeviceSynchronize(); }",
    "a constexpr function":
        "constexpr int twice(int x) { return 2 * x; }\n__global__ void k(int* p) { *p = twice(*p); }\nint main() {}",
    "C++20": "#include <span>\nint main() { int a[3] = {}; std::span<int> s(a); return s[0]; }",
    "concepts": "template <class T> concept Big = sizeof(T) > 8;\ntemplate <Big T> void f(T) {}\nint main() {}",
    "the driver": "#include <cuda.h>\nint main() { return cuInit(0); }",
    "a header": '#include "far.h"\nint main() { return FAR; }',
}


class Hints(CliTest):
    def test_a_hint_mends_it(self):
        self.write("include/far.h", "#define FAR 0\n")
        for name, text in PROGRAMS.items():
            with self.subTest(name):
                source = self.write("a.cu", text + "\n")
                _, err = self.ridge("run", "--device", "vm", source, code=3)
                last = err.splitlines()[-1]
                self.assertRegex(last, r'^ridge: hint: .*: --nvcc ".*"$')
                self.ridge("run", "--device", "vm", source, *shlex.split(re.search(r"--nvcc .*$", last)[0]))

    def test_instructions_of_one_architecture_need_no_flag(self):
        source = self.write("a.cu", '__global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }\n'
                                    "int main() { k<<<1, 128>>>(); return cudaDeviceSynchronize(); }\n")
        self.ridge("run", "--device", "vm", source)

    def test_a_file_alone_is_run(self):
        self.write("answer.cu", "int main(int n, char**) { return 40 + n; }\n")
        self.ridge("answer.cu", "--device", "vm", "--", "x", code=42)
        self.assertIn("there is no file 'anser.cu'. Did you mean 'answer.cu'?", self.ridge("anser.cu", code=2)[1])
        program = self.cxx("program", "int main() { return 7; }")
        self.ridge(program, "--device", "vm", code=7)
        self.ridge("./program", "--device", "vm", code=7)
        self.write("list", "")  # a verb stays a verb
        self.assertIn("ridge list", self.ridge("list", "--help")[0])
        self.assertIn("ridge FILE.cu", self.ridge("help")[0])


if __name__ == "__main__":
    sys.exit(unittest.main())
