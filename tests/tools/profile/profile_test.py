"""`ridge profile`: its input, widths read from machine code, the hardware's truth, and rungs of ladders.

    RIDGE_BINARY=… RIDGE_NVCC=… RIDGE_PATTERNS=… profile_test.py [Class]
"""
import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from ridge_profile import HERE, RIDGE, ProfileTest

RIDGE_NVCC = os.environ["RIDGE_NVCC"]
SHARED_LOADS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
RUNNING = "forever"  # in the command line of a program that runs


def children_of(process):
    """Command lines of the processes that it started."""
    found = []
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        try:
            found.append(Path(f"/proc/{child}/cmdline").read_text().split("\0"))
        except OSError:  # it has ended
            pass
    return found


class Input(ProfileTest):
    def test_help(self):
        out, _ = self.profile("--help")
        for flag in ("--blocks", "--against", "--kernel", "--top", "--json", "--csv", "--html", "--shape", "--dtype", "--gpu",
                     "--threads", "--timeout", "--nvcc"):
            self.assertIn(flag, out)

    def test_refusals(self):
        source = HERE / "small.cu"
        for arguments, complaint, code in [
                ([], "profile what?", 2),
                (["smal.cu"], "there is no file", 2),
                ([source, "--top", "0"], "--top: '0' is not a number above 0", 2),
                ([source, "--blocks", "x"], "--blocks", 2),
                ([source, "--device", "gpu"], "only the software GPU", 2),
                ([source, "--html", "no/such/page.html"], "cannot write no/such/page.html", 8),
                ([source, "--json", "/"], "it is a folder", 8),
                ([source, "--csv", "/proc/x.csv"], "cannot write /proc/x.csv", 8),
                ([source, "--against", "before.json"], "--against: cannot read before.json", 8),
                ([source, "--against", source], "is no record of `ridge profile --json`", 2)]:
            out, err = self.profile(*arguments, code=code)
            self.assertIn(complaint, err)
            self.assertNotIn("said:", out)  # before the run, not after
        self.assertFalse((self.folder / "no").exists())

    def test_a_source_file(self):
        out, _ = self.profile(HERE / "small.cu", "--", "thrice")
        self.assertIn("said: cudaSuccess", out)
        self.assertIn("scale ×3  4 blocks of 256 threads", out)
        self.assertRegex(out, r"line +7  x\[i\] = 2 \* x\[i\];")
        self.assertRegex(out, r"global loads +96 +384 +sectors +4.0 +100 %")  # three launches' worth
        self.assertNotIn("unchecked", out)
        self.assertIn("Tesla T4, unchecked on this card", self.profile(HERE / "small.cu", "--gpu", "t4")[0])
        out, err = self.profile(HERE / "small.cu", "--json", "-")
        (kernel,) = json.loads(out)["kernels"]  # the program's own words go elsewhere
        self.assertIn("said: cudaSuccess", err)
        self.assertEqual((kernel["name"], kernel["launches"]), ("scale", 1))
        out, _ = self.profile(HERE / "small.cu", "--csv", "-")
        self.assertEqual([row["kernel"] for row in csv.DictReader(io.StringIO(out))], ["scale"])

    def test_one_of_a_thing_is_in_the_singular(self):
        (self.folder / "one.cu").write_text("""
__global__ void one(float* x) { x[0] = x[1] + 1; }
int main() {
  float* x;
  cudaMalloc(&x, 64);
  one<<<1, 1>>>(x);
  return cudaDeviceSynchronize();
}
""")
        out, _ = self.profile("one.cu")
        self.assertIn("1 block of 1 thread\n", out)
        self.assertIn("131 of 132 SMs idle", out)
        self.assertNotIn("fix:", out)  # there is nothing to spread over the GPU
        self.assertNotRegex(out, r"(?<![\d,.])1 \w+ ?\w*(threads|blocks|sectors|requests|instructions|branches|bytes)\b")

    def test_a_crash_is_reported_up_to_it(self):
        out, err = self.profile(HERE / "small.cu", "--threads", "1", "--", "run_off", code=7)
        self.assertIn("illegal memory access", err)
        self.assertIn("it did not finish; this is what was counted until then", out)
        self.assertRegex(out, r"line +12  x\[i\] = 1;")

    def test_nothing_to_show(self):
        _, err = self.profile(HERE / "small.cu", "--", "nothing", code=2)
        self.assertIn("no kernel was launched", err)
        _, err = self.profile(HERE / "small.cu", "--kernel", "other", code=2)
        self.assertIn("no kernel whose name contains 'other'", err)

    def test_an_interrupt_is_not_called_no_launch(self):
        ridge, screen = pty.fork()  # Ctrl-C comes from a terminal
        if ridge == 0:
            os.chdir(self.folder)
            os.execve(RIDGE, [RIDGE, "profile", str(HERE / "small.cu"), "--timeout", "60", "--", "forever"],
                      {**self.env, "TERM": "dumb"})
        self.addCleanup(os.close, screen)
        while not any(RUNNING in arguments for arguments in children_of(ridge)):
            time.sleep(0.05)
        time.sleep(0.5)  # until the kernel is launched
        os.write(screen, b"\x03")
        shown = b""
        try:
            while piece := os.read(screen, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(ridge, 0)[1]), 130)
        self.assertIn(b"no kernel had ended when the program was stopped", shown)
        self.assertNotIn(b"no kernel was launched", shown)

    def test_without_line_information(self):
        program = self.folder / "small"
        subprocess.run([os.environ["RIDGE_NVCC"], "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90",
                        "-o", program, HERE / "small.cu"], check=True)
        out, _ = self.profile(program, "--html", "bare.html")
        text = re.search(r'id="record">(.*?)</script>', (self.folder / "bare.html").read_text(), re.S)[1]
        (kernel,) = json.loads(text)["kernels"]
        line = kernel["lines"][0]["line"]
        self.assertEqual(kernel["ptx"]["lines"][line - kernel["ptx"]["first"]], kernel["lines"][0]["text"])
        self.assertRegex(out, r"PTX line +\d+  .*ld\.global\.f32")
        self.assertIn("build the program with nvcc -lineinfo", out)


# Shows loads from shared memory as the test wants them, whatever the machine code has, and other accesses as they are
# in the PTX, which lies beside the machine code that it is given.
NVDISASM = """#!{python}
import pathlib, re, sys
ptx = next(pathlib.Path(sys.argv[-1]).parent.glob("*.ptx"))
for number, line in enumerate(ptx.read_text().splitlines(), 1):
    if match := re.search(r"(ld|st)\\.(shared|global)\\.[a-z]\\d+", line):
        opcode = {{"ld.shared": "LDS", "st.shared": "STS", "ld.global": "LDG.E", "st.global": "STG.E"}}[match[1] + "." + match[2]]
        print('\\t//## File ".nv_debug_ptx_txt", line %d\\n        /*0000*/     %s R1, [R2] ;' % (number, opcode))
{rest}
"""


class Machine(ProfileTest):
    """Widths of accesses from machine code."""
    FOUR_LOADS = r"shared loads +(\d+) +(\d+) +wavefronts"  # in the PTX; ptxas makes one of them

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder.joinpath("four.cu").write_text("""
__global__ void four(float* x) {
  __shared__ float s[128];
  for (int i = 0; i < 4; ++i) s[threadIdx.x + 32 * i] = x[threadIdx.x];
  __syncwarp();
  const float* row = s + (threadIdx.x ^ 1) * 4;
  x[threadIdx.x] = row[0] + row[1] * row[2] + row[3];
}
int main() {
  float* x;
  cudaMalloc(&x, 128);
  four<<<1, 32>>>(x);
  return cudaDeviceSynchronize();
}
""")

    def with_nvdisasm(self, text, *arguments, what="four.cu"):
        """Profiles with this program as the first nvdisasm on PATH."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "nvdisasm").write_text(text)
        (folder / "nvdisasm").chmod(0o755)
        path = self.env["PATH"]
        self.env["PATH"] = f"{folder}:{path}"
        try:
            out, _ = self.profile(what, "--json", "m.json", "--html", "m.html", *arguments)
        finally:
            self.env["PATH"] = path
        page = re.search(r'id="record">(.*?)</script>', (self.folder / "m.html").read_text(), re.S)[1]
        record = json.loads((self.folder / "m.json").read_text())
        self.assertEqual(json.loads(page)["widths_note"], record["widths_note"])
        self.assertTrue(out.rstrip().endswith(record["widths_note"]), out)
        (row,) = re.findall(self.FOUR_LOADS, out)
        return out, record, tuple(map(int, row))

    def test_the_machine_code_decides(self):
        out, record, row = self.with_nvdisasm(NVDISASM.format(python=sys.executable, rest=""))
        self.assertEqual(row, (4, 16))  # four loads, each of which meets 4 words per bank
        self.assertEqual((record["widths"], record["kernels"][0]["widths"]), ("machine code", "machine code"))
        self.assertEqual(record["widths_note"], "access widths: read from the machine code by nvdisasm")
        self.assertEqual(record["kernels"][0]["resources"]["from"], "ptxas")
        self.assertNotIn("leaves open", out)

    def test_a_program_that_ignores_its_children(self):
        text = (self.folder / "four.cu").read_text()
        (self.folder / "ignores.cu").write_text("#include <csignal>\n" +
                                                text.replace("  float* x;\n", "  float* x;\n  signal(SIGCHLD, SIG_IGN);\n"))
        nvdisasm = NVDISASM.format(python=sys.executable, rest="")
        self.assertEqual(self.with_nvdisasm(nvdisasm, what="ignores.cu")[2], (4, 16))
        _, record, row = self.with_nvdisasm("#!/bin/sh\nexit 1\n", what="ignores.cu")
        self.assertEqual(record["widths_note"], "access widths: modelled; nvdisasm shows no PTX lines")

    def test_what_it_leaves_open_is_modelled_and_marked(self):
        wide = NVDISASM.format(python=sys.executable, rest="        if opcode == 'LDS': print('  /*0010*/ LDS.128 R4, [R2] ;')")
        out, record, row = self.with_nvdisasm(wide)
        self.assertEqual(row, (1, 4))
        self.assertEqual(record["widths"], "machine code")
        self.assertIn("modelled on 1 line, where it leaves them open", record["widths_note"])
        self.assertRegex(out, r"line +7 .*\n.*\n +the machine code leaves open how wide its accesses are")
        marked = [(line["line"], i["ptx"]) for line in record["kernels"][0]["lines"] if line.get("widths") == "model"
                  for i in line["instructions"] if i.get("widths") == "model"]
        self.assertEqual(marked, 4 * [(7, "ld.shared.f32")])

    def test_the_programs_own_machine_code(self):
        own = NVDISASM.format(python=sys.executable, rest="assert sys.argv[-1].endswith('own.cubin')")
        for flags, widths in [(["-lineinfo"], "machine code"), ([], "model")]:
            subprocess.run([RIDGE_NVCC, "-cudart", "shared", "-gencode", "arch=compute_90,code=[compute_90,sm_90]",
                            *flags, "-o", self.folder / "four", self.folder / "four.cu"], check=True)
            _, record, row = self.with_nvdisasm(own, what="four")
            self.assertEqual((record["widths"], row), (widths, (4, 16) if flags else (1, 4)))
            self.assertEqual(record["kernels"][0]["resources"]["from"], "ptxas")

    def test_an_nvdisasm_that_fails(self):
        for text, why in [("#!/bin/sh\necho it is broken >&2\nexit 1\n", "nvdisasm failed: it is broken"),
                          ("#!/bin/sh\nexit 1\n", "nvdisasm failed: without a word"),
                          ("#!/bin/sh\nkill -9 $$\n", "nvdisasm failed: without a word"),
                          ("#!/no/such/shell\n", "nvdisasm does not start: No such file or directory"),
                          ("#!/bin/sh\necho hello\n", "nvdisasm shows no PTX lines")]:
            _, record, row = self.with_nvdisasm(text)
            self.assertEqual(row, (1, 4))
            self.assertEqual((record["widths"], record["kernels"][0]["widths"]), ("model", "model"))
            self.assertEqual(record["widths_note"], f"access widths: modelled; {why}")
            self.assertEqual(record["kernels"][0]["resources"]["from"], "ptxas")

    def test_code_that_was_not_optimised(self):
        _, record, row = self.with_nvdisasm(NVDISASM.format(python=sys.executable, rest=""), "--nvcc=-G")
        self.assertEqual(record["widths_note"], "access widths: modelled; the program was not optimised")

    def test_without(self):
        if shutil.which("nvdisasm") or (Path(os.environ["RIDGE_NVCC"]).resolve().parent / "nvdisasm").exists():
            self.skipTest("there is an nvdisasm")
        out, _ = self.profile("four.cu", "--json", "m.json")
        self.assertIn("access widths: modelled; install nvdisasm (cuda-nvdisasm) to read them", out)
        self.assertEqual(json.loads((self.folder / "m.json").read_text())["widths"], "model")
        self.assertEqual(re.findall(self.FOUR_LOADS, out), [("1", "4")])

    def test_with(self):
        if not shutil.which("nvdisasm") and not (Path(os.environ["RIDGE_NVCC"]).resolve().parent / "nvdisasm").exists():
            self.skipTest("there is no nvdisasm")
        source = HERE.parent.parent / "vm" / "observe" / "recorded" / "run.cu"
        self.profile(source, "--json", "r.json")
        record = json.loads((self.folder / "r.json").read_text())
        kernels = {k["name"]: k for k in record["kernels"]}
        self.assertEqual([k["widths"] for k in kernels.values()], 3 * ["machine code"])
        self.assertEqual(kernels["tails"]["metrics"][SHARED_LOADS], 8 * 4)  # 3 x 8 x 4 by the model
        local = [i["counters"].get("requests", 0) for line in kernels["forgotten"]["lines"] for i in line["instructions"]
                 if i.get("reach") == "local"]
        self.assertEqual(local, 5 * [0])


class Truth(ProfileTest):
    def test_every_column_that_is_not_empty_is_the_hardwares(self):
        out, _ = self.profile(os.environ["RIDGE_PATTERNS"], "--csv", "-")
        ours = {row["kernel"]: row for row in csv.DictReader(io.StringIO(out))}
        truth = HERE.parent.parent / "vm" / "observe" / "truth" / "patterns.csv"
        compared = 0
        for row in csv.DictReader(io.StringIO(truth.read_text())):
            for name, value in row.items():
                if name != "launch__registers_per_thread" and ours[row["kernel"]][name] not in ("", row["kernel"]):
                    self.assertEqual(float(ours[row["kernel"]][name]), float(value), (row["kernel"], name))
                    compared += 1
        self.assertGreater(compared, 500)  # empty is easy


class Units(ProfileTest):
    """Kernels of tests/vm/hopper/probe, which use tensor cores, the copy engine and clusters."""
    PROGRAMS = Path(os.environ["RIDGE_PLANTED"])

    def test_tensor_cores_have_a_roof_of_their_own(self):
        out, _ = self.profile(self.PROGRAMS / "hopper_counters_wgmma", "--kernel", "_shared_n64_swizzle_128", "--json", "-")
        roofs = {kernel["name"]: kernel["roofline"] for kernel in json.loads(out)["kernels"]}
        half = roofs["f16_shared_n64_swizzle_128"]
        self.assertEqual((half["format"], half["flops"]), ("tensor", 4 * 2 * 64 * 64 * 16))
        for name, rate in [("tf32", 0.5), ("bf16", 1), ("e4m3", 2), ("s8", 2), ("b1", 16), ("f16_sparse", 2)]:
            self.assertAlmostEqual(roofs[f"{name}_shared_n64_swizzle_128"]["peak_flops"] / half["peak_flops"], rate)

    def test_tensor_cores_can_be_what_bounds(self):
        out, _ = self.profile(HERE / "products.cu")
        self.assertRegex(out, r"^products is bound by tensor cores, most of all by line \d+")
        self.assertIn(f"{132 * 32 * 32 * 2 * 16 * 8 * 16:,} tensor operations in {132 * 32 * 32:,} tensor instructions", out)

    def test_the_terminal_has_a_row_for_each_kind(self):
        out, _ = self.profile(self.PROGRAMS / "hopper_counters_wgmma", "--kernel", "f16_shared_n256_swizzle_128")
        self.assertIn("2,097,152 tensor operations in 16 tensor instructions", out)
        self.assertRegex(out, r"shared operands +16 +320 +wavefronts +20.0")
        self.assertIn("4 product waits", out)
        program = self.PROGRAMS / "hopper_counters"
        for kernel, row in [("tma_load_inside", r"bulk loads +16 +4,096 +sectors +256.0 +100 % of the bytes used"),
                            ("tma_prefetch", r"bulk prefetches +16 +0 "),
                            ("bulk_reduce_4096", r"bulk reductions +16 +2,048 +sectors"),
                            ("dsmem_st_async", r"cluster stores +16 +2,048 +bytes +128.0"),
                            ("dsmem_load_stride_8", r"cluster loads +1 +256 +bytes +256.0")]:
            out, _ = self.profile(program, "--kernel", kernel)
            self.assertRegex(out, row)

    def test_launches_of_one_kernel_that_reach_different_instructions_add_up(self):
        out, _ = self.profile(self.PROGRAMS / "cudart_textures")
        launches, requests = (int(re.search(row, out)[1]) for row in (r" ×(\d+) ", r"texture loads +(\d+)"))
        self.assertGreater(launches, 20)
        self.assertEqual(requests, launches)  # each looks up one texel, in one warp


class Rungs(ProfileTest):
    def test_a_rung(self):
        out, err = self.profile("transpose/02_shared_tile", "--shape", "1024x1024", "--dtype", "f16")
        self.assertIn("transpose 1024x1024 f16, rung shared_tile", err)
        self.assertRegex(out, r"^transpose_shared_tile<.*> is bound by shared memory: line \d+ is a 16-way bank conflict")
        self.assertRegex(out, r"lanes 0, 2 … 30 hit bank \d+ in different words; 16-way conflict")
        self.assertIn("34 elements in place of 32", out)
        out, _ = self.profile("transpose/padded", "--shape", "512x512")
        self.assertNotIn("bank conflict:", out)

    def test_a_sample_of_its_blocks(self):
        arguments = "transpose/naive", "--shape", "4096x3072"
        out, _ = self.profile(*arguments)
        self.assertRegex(out, r"sampled [12]\d\d of 12,288 blocks; counts are scaled")
        self.assertRegex(out, r"modelled for NVIDIA H200: [\d.]+ µs \(")  # from whole waves of blocks
        everything, _ = self.profile(*arguments, "--blocks", "all")
        self.assertNotIn("sampled", everything)
        row = r"global stores .*\n"
        self.assertEqual(re.search(row, out)[0], re.search(row, everything)[0])

    def test_mistakes(self):
        for word, complaint in [
                ("transpose/03_paded", "Did you mean 'padded'?"),
                ("transpoze/naive", "Did you mean 'transpose'?")]:
            self.assertIn(complaint, self.profile(word, code=2)[1])
        _, err = self.profile("transpose/naive", "--shape", "3x", code=2)
        self.assertIn("'3x' is no shape", err)


if __name__ == "__main__":
    sys.exit(unittest.main())
