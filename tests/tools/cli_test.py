"""The command line as a user types it: exit codes, messages, the compile cache, programs of every kind.

Programs that need no kernel are built with the C++ compiler, and the cache is tested with a stand-in for nvcc,
so that only Kernels waits for the real one.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

RIDGE = os.environ["RIDGE_BINARY"]
CXX = os.environ["RIDGE_CXX"]
VERBS = sorted(path.stem for path in (Path(__file__).parents[2] / "tools" / "ridge" / "verbs").glob("*.cpp"))


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ridge-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"))

    def ridge(self, *arguments, code=0):
        """Runs ridge, checks its exit code, and returns its stdout and stderr."""
        done = subprocess.run([RIDGE, *map(str, arguments)], cwd=self.folder, env=self.env,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def cxx(self, name, text, *flags):
        source = self.write(name + ".cpp", text)
        subprocess.run([CXX, source, "-o", self.folder / name, *flags], check=True)
        return self.folder / name


class Usage(CliTest):
    def test_help_names_every_verb(self):
        for arguments in [], ["help"], ["--help"]:
            out, _ = self.ridge(*arguments)
            for verb in VERBS:
                self.assertIn(f"\n  {verb} ", out)
            self.assertLess(out.index("\n  run "), out.index("\n  climb "))  # by position, not by name

    def test_help_of_a_verb(self):
        out, _ = self.ridge("run", "--help")
        for flag in "--device", "--gpu", "--threads", "--timeout", "--nvcc", "--count", "--trace", "--model", "--clock", "--json", "--quiet":
            self.assertIn(flag, out)
        self.assertEqual(self.ridge("help", "run")[0], out)

    def test_version(self):
        self.assertRegex(self.ridge("--version")[0], r"^ridge \d+\.\d+\.\d+\n$")

    def test_unknown_names_are_refused_with_the_nearest(self):
        for arguments, suggestion in [
                (["devise"], "Did you mean 'device'?"),
                (["device", "--jsn", "-"], "Did you mean '--json'?"),
                (["device", "--gpu", "rtx409"], "Did you mean 'rtx4090'?"),
                (["device", "--device", "gpus"], "Did you mean 'gpu'?"),
                (["run", "--devise=vm", "x.cu"], "Did you mean '--device'?")]:
            self.assertIn(suggestion, self.ridge(*arguments, code=2)[1])

    def test_a_bad_gpu_lists_the_good_ones(self):
        _, err = self.ridge("device", "--gpu", "voodoo2", code=2)
        for gpu in "h200", "a100", "rtx4090", "t4":
            self.assertIn(gpu, err)

    def test_bad_values(self):
        self.write("x.cu", "")
        for flags in ["--threads", "0"], ["--threads", "many"], ["--timeout", "-1"], ["--timeout", "nan"], \
                ["--timeout"], ["--gpu"], ["--device", "gpu", "--gpu", "t4"]:
            self.ridge("run", "x.cu", *flags, code=2)

    def test_files(self):
        self.assertIn("run what?", self.ridge("run", code=2)[1])
        self.write("hello.cu", "")
        self.assertIn("Did you mean 'hello.cu'?", self.ridge("run", "helo.cu", code=2)[1])
        self.assertIn("goes after --", self.ridge("run", "hello.cu", "5", code=2)[1])
        text = self.write("notes.txt", "hello")
        self.assertIn("neither a .cu file nor an ELF", self.ridge("run", "--device", "vm", text, code=2)[1])
        self.assertIn("a folder", self.ridge("run", "--device", "vm", self.folder, code=2)[1])


class Script(CliTest):
    """The script ./ridge, in a tree where everything is built."""

    def setUp(self):
        super().setUp()
        self.script = self.folder / "clone" / "ridge"
        self.script.parent.mkdir()
        shutil.copy(Path(__file__).parents[2] / "ridge", self.script)
        binary = self.write("clone/build/vm/bin/ridge", '#!/bin/sh\necho "$0" "$@"\n')
        binary.chmod(0o755)
        for stamp in "tool", "climb":
            self.write(f"clone/build/vm/{stamp}.stamp", "")

    def call(self, script, *arguments, code=0):
        done = subprocess.run([script, *arguments], cwd=self.folder, env=self.env, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def test_through_links(self):
        link, far = self.folder / "link", self.folder / "far"
        link.symlink_to("clone/ridge")  # relative
        far.symlink_to(link)
        for script in self.script, link, far:
            self.assertEqual(self.call(script, "device", "--gpu", "t4")[0],
                             f"{self.folder.resolve()}/clone/build/vm/bin/ridge device --gpu t4\n")

    def test_install_refuses(self):
        for arguments, complaint in [(["--prefx", "x"], "no '--prefx'"), (["--prefix"], "--prefix needs a folder"),
                                     (["--preset", "asan"], "install vm or gpu")]:
            self.assertIn(complaint, self.call(self.script, "install", *arguments, code=2)[1])
        self.assertIn("cannot write to /proc/x", self.call(self.script, "install", "--prefix", "/proc/x", code=8)[1])

    def test_help_builds_nothing_new(self):
        for verb in "test", "install":
            self.assertIn(f"help {verb}\n", self.call(self.script, verb, "--help")[0])

    def test_completion_never_builds(self):
        shutil.rmtree(self.folder / "clone" / "build")
        self.assertEqual(self.call(self.script, "list", "--names"), ("", ""))


class Descriptions(CliTest):
    """What the verbs say about themselves, and what is made of it."""

    def test_a_verb_is_called_as_its_file(self):
        for verb in VERBS:
            about = json.loads(self.ridge(verb, "--describe-flags")[0])
            self.assertEqual(about["verb"], verb)
            self.assertTrue(about["summary"].endswith("."))

    def test_flags_with_kinds_and_choices(self):
        about = json.loads(self.ridge("run", "--describe-flags")[0])
        self.assertEqual([argument["name"] for argument in about["arguments"]], ["FILE"])
        self.assertTrue(about["has_tail"])
        flags = {flag["names"][-1]: flag for flag in about["flags"]}
        self.assertEqual(flags["--device"]["choices"], ["auto", "gpu", "vm"])
        self.assertEqual((flags["--trace"]["kind"], flags["--count"]["kind"]), ("FILE", ""))
        self.assertEqual(flags["--quiet"]["names"], ["-q", "--quiet"])

    def test_man(self):
        page, _ = self.ridge("man")
        for verb in VERBS:
            self.assertIn(f"\n.SS {verb}\n", page)
        self.assertIn("\n\\fB\\-\\-max\\-reports\\fR \\fIN\\fR\n", page)
        self.assertIn("\n.TP\n5\nhazard found\n", page)
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-l", self.write("ridge.1", page)], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def complete(self, shell, *words):
        """What the shell offers for the last word."""
        script = self.write("completion", self.ridge("completion", shell)[0])
        ask = {
            "bash": 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ridge; printf "%s\\n" "${COMPREPLY[@]}"',
            "fish": 'source $argv[1]; complete -C (string join " " -- $argv[2..])',
        }[shell]
        done = subprocess.run([shell, "-c", ask, script, *words], capture_output=True, text=True, env=self.env)
        self.assertEqual(done.stderr, "")
        return [line.split("\t")[0] for line in done.stdout.splitlines() if line]

    def check_completion(self, shell):
        self.assertEqual(self.complete(shell, "ridge", "expl"), ["explain"])
        self.assertEqual(set(VERBS) - set(self.complete(shell, "ridge", "")), set())
        self.assertEqual(self.complete(shell, "ridge", "run", "--dev"), ["--device"])
        self.assertEqual(self.complete(shell, "ridge", "run", "--device", ""), ["auto", "gpu", "vm"])
        self.assertEqual(self.complete(shell, "ridge", "run", "--gpu", "rtx4"), ["rtx4090"])
        self.assertEqual(self.complete(shell, "ridge", "completion", "z"), ["zsh"])

    def test_bash(self):
        self.check_completion("bash")
        self.assertEqual(self.complete("bash", "ridge", "run", "x.cu", "--", "--dev"), [])

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish(self):
        self.check_completion("fish")

    def test_zsh(self):
        script = self.ridge("completion", "zsh")[0]
        self.assertTrue(script.startswith("#compdef ridge\n"))
        self.assertIn("'--device[auto, gpu or vm (the software GPU)]:KIND:(auto gpu vm)'", script)
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n", self.write("_ridge", script)], check=True)

    def test_other_shells_are_refused(self):
        self.assertIn("Did you mean 'bash'?", self.ridge("completion", "tcsh", code=2)[1])
        self.assertIn("for which shell?", self.ridge("completion", code=2)[1])


class Device(CliTest):
    def test_fits_one_screen(self):
        out, _ = self.ridge("device", "--device", "vm")
        lines = out.splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertIn("NVIDIA H200, compute capability 9.0", out)
        self.assertNotIn("\033", out)  # no colours into a pipe

    def test_gpu_is_what_it_says(self):
        self.assertIn("Tesla T4, compute capability 7.5", self.ridge("device", "--gpu", "T4")[0])

    def test_json(self):
        record = json.loads(self.ridge("device", "--gpu", "a100", "--json", "-")[0])
        self.assertEqual(record["schema"], 1)
        self.assertEqual(record["device"]["capability"], "8.0")
        self.assertEqual(record["limits"]["shared_bytes_per_sm"], 164 * 1024)
        row = next(r for r in record["occupancy"]
                   if r["block_threads"] == 256 and r["registers_per_thread"] == 64)
        self.assertEqual((row["blocks_per_sm"], row["limiter"]), (4, "registers"))
        self.ridge("device", "--gpu", "a100", "--json", "device.json")
        self.assertEqual(json.loads((self.folder / "device.json").read_text()), record)
        self.ridge("device", "--gpu", "a100", "--json", "no/such/folder.json", code=8)

    def test_roofs(self):
        self.assertNotIn("unchecked", self.ridge("device", "--gpu", "h200")[0])
        self.assertIn("unchecked on this card", self.ridge("device", "--gpu", "b200")[0])
        roofs = json.loads(self.ridge("device", "--gpu", "b200", "--json", "-")[0])["roofs"]
        self.assertFalse(roofs["checked"])
        self.assertGreater(roofs["operations"]["tensor f16"], 2e15)
        self.assertGreater(roofs["read"], roofs["copy"])

    def test_measure_needs_a_gpu(self):
        _, err = self.ridge("device", "--measure", "--gpu", "a100", code=2)
        self.assertIn("for a real GPU", err)
        _, err = self.ridge("device", "--out", "my.json", code=2)
        self.assertIn("add --measure", err)
        if not Path("/dev/nvidiactl").exists():
            _, err = self.ridge("device", "--measure", code=8)
            self.assertIn("no GPU here to measure", err)


class Formats(CliTest):
    def rows(self, *arguments):
        """The lines of the table, by their first word, as lists of words."""
        out, _ = self.ridge("formats", *arguments)
        self.assertNotIn("\033", out)
        return {line.split()[0]: line.split() for line in out.splitlines() if line}

    def test_lists_every_format(self):
        rows = self.rows()
        for name in ("f32 f16 bf16 f64 i32 i64 u32 u8 i8 i4 u4 e4m3 e5m2 e2m1 e2m3 e3m2 ue8m0 ue4m3 nf4 "
                     "mxfp8_e4m3 mxfp8_e5m2 mxfp6_e2m3 mxfp6_e3m2 mxfp4 nvfp4 fp8_1x128 fp8_128x128 "
                     "nf4_double int8_rows").split():
            self.assertIn(name, rows)
        self.assertEqual(rows["e5m2"][:5], ["e5m2", "8", "1|5|2", "15", "57344"])
        self.assertEqual(rows["nvfp4"][-1], "4.5")

    def test_rounds_a_number(self):
        rows = self.rows("3.14")
        self.assertEqual(rows["f16"], ["f16", "3.140625", "rounded", "+0.000625", "0.0002", "3.13867188",
                                       "3.14257812", "0x4248", "0|10000|1001001000"])
        self.assertEqual(rows["f64"][1:3], ["3.14", "exact"])
        self.assertEqual(rows["u8"][1:4], ["3", "cut", "off"])
        self.assertEqual(rows["nf4"][1:3], ["1", "saturated"])

    def test_rounds_what_looks_like_a_flag(self):
        self.assertEqual(self.rows("-inf")["f16"][1:3], ["-inf", "exact"])
        self.assertEqual(self.rows("-inf")["e4m3"][1:3], ["-448", "saturated"])
        self.assertEqual(self.rows("-0", "--dtype", "half")["f16"][-1], "1|00000|0000000000")
        self.assertEqual(self.rows("--dtype", "e2m1", "-2.5")["e2m1"][1:4], ["-2", "rounded", "+0.5"])
        self.assertEqual(self.rows("1e30")["i32"][1:], ["-", "does", "not", "fit"])

    def test_reads_bits_in_the_formats_of_their_width(self):
        rows = self.rows("0x3c00")
        self.assertEqual(sorted(rows), ["bf16", "f16", "format"])
        self.assertEqual(rows["f16"][1:3], ["1", "normal"])
        rows = self.rows("0b0111_1110")
        self.assertEqual(sorted(rows), ["e4m3", "e5m2", "format", "i8", "u8", "ue4m3", "ue8m0"])
        self.assertEqual(rows["e4m3"][1:6], ["448", "normal", "0", "15", "6"])
        self.assertEqual(rows["e5m2"][1:3], ["nan", "NaN"])
        self.assertEqual(self.rows("0x1f", "--dtype", "e3m2")["e3m2"][1], "28")
        self.assertEqual(self.rows("0x1.8p3", "--dtype", "f16")["f16"][1], "12")  # a number

    def test_lists_the_numbers_of_a_small_format(self):
        out, _ = self.ridge("formats", "--dtype", "fp4")
        self.assertIn("0|11|1      6    1|11|1     -6", out)

    def test_json(self):
        record = json.loads(self.ridge("formats", "--json", "-")[0])
        self.assertEqual((record["schema"], len(record["formats"])), (1, 19))
        record = json.loads(self.ridge("formats", "nan", "--json", "-")[0])
        by_name = {f["name"]: f for f in record["formats"]}
        self.assertEqual(by_name["e4m3"]["bits"], "0x7f")
        self.assertEqual((by_name["e2m1"]["value"], by_name["e2m1"]["result"]), (6, "there is no NaN"))
        record = json.loads(self.ridge("formats", "0x01", "--dtype", "e4m3", "--json", "-")[0])
        self.assertEqual((record["formats"][0]["class"], record["formats"][0]["value"]), ("subnormal", 2**-9))
        self.ridge("formats", "--json", "no/such/folder.json", code=8)

    def test_refusals(self):
        for arguments, message in [(["3.14x"], "neither a number"), (["1e999"], "neither a number"),
                                   (["0x3c0"], "has 12 bits; formats have 4, 6, 8, 16, 32 or 64"),
                                   (["0xzz"], "is not a pattern"), (["0b"], "neither a number"),
                                   (["0x1ff", "--dtype", "e4m3"], "does not fit in e4m3, which has 8 bits"),
                                   (["1", "--dtype", "e4m4"], "Did you mean 'e4m3'?"),
                                   (["1", "-2"], "one number at a time"),
                                   (["--dtyp", "f16"], "Did you mean '--dtype'?")]:
            self.assertIn(message, self.ridge("formats", *arguments, code=2)[1])


FAKE_NVCC = """#!/bin/sh
# Stands in for nvcc: answers as it does, and links a C++ file instead of compiling CUDA.
case $1 in --version|--dryrun) echo "$1" >>"$0.asked" ;; esac
case $1 in
  --version) echo "Cuda compilation tools, release 13.0, V13.0.$(cat "$0.version")"; exit ;;
  --dryrun) echo "#$ TOP=$(dirname "$0")"; exit ;;
esac
echo "$@" >>"$0.log"
for word; do case $last in -o) out=$word ;; -MF) deps=$word ;; esac; last=$word; done
if grep -q SLOW "$last"; then sleep 2.5; fi
if grep -q ERROR "$last"; then echo "$last(1): error: no good" >&2; exit 2; fi
{ echo "$out : $last \\\\"; echo "    some\\\\ folder/b.h"; } >"$deps"
cp "$0.program" "$out"
"""


class Cache(CliTest):
    def setUp(self):
        super().setUp()
        self.nvcc = self.write("bin/nvcc", FAKE_NVCC)
        self.nvcc.chmod(0o755)
        self.version("1")
        self.cxx("bin/nvcc.program", "#include <cstdio>\nint main(int n, char** v) { std::puts(v[n - 1]); }")
        self.env["PATH"] = f"{self.nvcc.parent}:{self.env['PATH']}"
        self.source = self.write("a.cu", "// a")
        self.header = self.write("some folder/b.h", "// b")

    def version(self, number):
        self.write("bin/nvcc.version", number)
        self.nvcc.touch()  # another compiler is another file

    def run_and_count(self, *arguments, code=0):
        """How many times nvcc was called."""
        log = Path(str(self.nvcc) + ".log")
        log.unlink(missing_ok=True)
        self.out, self.err = self.ridge("run", "--device", "vm", *arguments, code=code)
        self.calls = log.read_text().splitlines() if log.exists() else []
        return len(self.calls)

    def test_compiles_once(self):
        self.assertEqual(self.run_and_count("a.cu", "--", "--count"), 1)
        self.assertEqual(self.out, "--count\n")  # what follows -- is the program's
        self.assertEqual(self.run_and_count("a.cu"), 0)
        self.assertEqual(self.run_and_count(self.source), 0)

    def test_asks_the_compiler_once(self):
        asked = Path(str(self.nvcc) + ".asked")
        self.run_and_count("a.cu")
        self.assertEqual(asked.read_text().split(), ["--version", "--dryrun"])
        asked.unlink()
        self.run_and_count("a.cu")
        self.assertFalse(asked.exists())
        self.nvcc.touch()
        self.run_and_count("a.cu")
        self.assertEqual(asked.read_text().split(), ["--version", "--dryrun"])

    def test_source_header_flags_and_compiler_count(self):
        self.assertEqual(self.run_and_count("a.cu"), 1)
        self.source.write_text("// a2")
        self.assertEqual(self.run_and_count("a.cu"), 1)
        self.header.write_text("// b2")
        self.assertEqual(self.run_and_count("a.cu"), 1)
        self.assertEqual(self.run_and_count("a.cu", "--nvcc", "-DN=1"), 1)
        self.assertEqual(self.run_and_count("a.cu", "--gpu", "t4"), 1)
        self.version("2")
        self.assertEqual(self.run_and_count("a.cu"), 1)
        self.version("1")
        self.header.write_text("// b")  # back again: still there, though another header came between
        self.source.write_text("// a")
        self.assertEqual(self.run_and_count("a.cu"), 0)
        self.assertEqual(self.run_and_count("a.cu", "--nvcc", "-DN=1"), 1)  # compiled with b2, not b
        self.header.unlink()
        self.assertEqual(self.run_and_count("a.cu", code=8), 1)  # nvcc claims to have read what is gone

    def test_flags(self):
        self.run_and_count("a.cu")
        self.assertRegex(self.calls[0], r"^-std=c\+\+17 -O3 -lineinfo -Xcompiler -g1,\S+ -cudart shared "
                         "-gencode arch=compute_90a,code=compute_90a ")
        self.run_and_count("a.cu", "--gpu", "rtx4090")
        self.assertIn("arch=compute_89,code=compute_89", self.calls[0])
        self.run_and_count("a.cu", "--nvcc", "-std=c++20 -DX='a b' -arch=sm_80 -G")
        self.assertNotIn("c++17", self.calls[0])
        self.assertNotIn("-gencode", self.calls[0])
        self.assertNotIn("-lineinfo", self.calls[0])
        self.assertRegex(self.calls[0], r"-std=c\+\+20 -DX=a b -arch=sm_80 -G -I /.*/include ")
        self.assertEqual(self.run_and_count("a.cu", "--nvcc", "-D'X", code=2), 0)

    def test_errors_are_shown_as_they_are_and_not_kept(self):
        self.source.write_text("// ERROR")
        for _ in range(2):
            self.assertEqual(self.run_and_count("a.cu", code=3), 1)
            self.assertEqual(self.err, "a.cu(1): error: no good\n")

    def test_a_slow_compile_says_so(self):
        self.source.write_text("// SLOW")
        self.run_and_count("a.cu")
        self.assertEqual(self.err.count("compiling a.cu"), 1)
        self.source.write_text("// SLOW, quiet")
        self.run_and_count("a.cu", "--quiet")
        self.assertEqual(self.err, "")

    def test_a_part_of_the_cache_that_cannot_be_written(self):
        self.env.update(HOME="/proc/nowhere", TMPDIR=str(self.folder))
        self.write("cache/ridge/run", "a file where a folder should be")
        self.assertEqual(self.run_and_count("a.cu"), 1)
        self.assertIn("run: Not a directory); ", self.err)
        self.assertEqual(self.run_and_count("a.cu"), 0)

    def test_no_cache_folder(self):
        # Neither of the usual folders can be made: one in the temporary folder will do, if it is ours alone.
        self.env.update(XDG_CACHE_HOME="/proc/nowhere", HOME="/proc/nowhere", TMPDIR=str(self.folder))
        self.assertEqual(self.run_and_count("a.cu"), 1)
        self.assertEqual(self.run_and_count("a.cu"), 0)
        own = self.folder / f"ridge-{os.geteuid()}"
        self.assertRegex(self.err, rf"^ridge: the compile cache cannot be written \(/proc/nowhere/ridge/run: .*\); {own} is used "
                         "instead\n")
        self.assertEqual(own.stat().st_mode & 0o777, 0o700)
        own.chmod(0o777)
        self.assertEqual(self.run_and_count("a.cu", code=8), 0)
        self.assertIn("set XDG_CACHE_HOME", self.err)


class Programs(CliTest):
    RUNTIME = 'extern "C" int cudaDeviceSynchronize();\n'
    FAT = '[[gnu::section(".nv_fatbin"), gnu::used]] const char code[] = "x";\n'
    # What the static CUDA runtime asks the driver by.
    STATIC = ('[[gnu::used]] const unsigned char id[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9,'
              ' 0x39, 0x12, 0xfd, 0x9d, 0xf9};\n')

    def library(self, soname):
        self.cxx("libcudart.so", 'extern "C" int cudaDeviceSynchronize() { return 0; }',
                 "-shared", "-fPIC", f"-Wl,-soname,{soname}")
        return f"-L{self.folder}", "-lcudart"

    def run_vm(self, *arguments, code=0):
        return self.ridge("run", "--device", "vm", *arguments, code=code)

    def test_arguments_and_exit_code(self):
        program = self.cxx("program", "#include <cstdio>\nint main(int n, char** v) { std::puts(v[1]); return 40 + n; }")
        out, err = self.run_vm(program, "--", "-x", "--gpu", code=43)
        self.assertEqual(out, "-x\n")
        self.assertIn("does not use the CUDA runtime", err)
        self.assertEqual(self.run_vm(program, "--quiet", "--", "y", code=42)[1], "")

    def test_environment(self):
        program = self.cxx("program", "#include <cstdio>\n#include <cstdlib>\n#include <initializer_list>\n"
                           'int main() { for (auto v : {"LD_LIBRARY_PATH", "RIDGE_GPU", "RIDGE_THREADS", "RIDGE_TIMEOUT"})'
                           ' std::puts(std::getenv(v)); }')
        out, _ = self.run_vm(program, "--gpu", "a100", "--threads", "3", "--timeout", "1.5")
        library, *rest = out.splitlines()
        self.assertEqual(rest, ["a100", "3", "1.5"])
        self.assertTrue((Path(library.split(":")[0]) / "libcudart.so.13").exists())

    def test_static_runtime(self):
        program = self.cxx("program", self.FAT + self.STATIC + "int main() {}")
        self.assertIn("nvcc -cudart shared", self.run_vm(program, code=8)[1])
        self.assertNotIn("-cudart", self.run_vm(self.cxx("other", self.FAT + "int main() {}"))[1])

    def test_static_runtime_and_the_driver(self):
        self.cxx("libcuda.so", 'extern "C" int cuInit(unsigned) { return 7; }',
                 "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1")
        kernels = self.STATIC + '[[gnu::section("__nv_module_id"), gnu::used]] const char module[] = "y";\n'
        main = 'extern "C" int cuInit(unsigned);\nint main() { return cuInit(0); }'
        program = self.cxx("program", self.FAT + kernels + main, f"-L{self.folder}", "-lcuda")
        self.assertIn("nvcc -cudart shared", self.run_vm(program, code=8)[1])
        other = self.cxx("other", self.FAT + self.STATIC + main, f"-L{self.folder}", "-lcuda")
        self.assertEqual(self.run_vm(other)[1], "")

    def test_other_runtime(self):
        program = self.cxx("program", self.RUNTIME + self.FAT + "int main() { cudaDeviceSynchronize(); }",
                           *self.library("libcudart.so.12"))
        self.assertIn("needs libcudart.so.12", self.run_vm(program, code=8)[1])

    def test_runtime_behind_a_library(self):
        flags = self.library("libcudart.so.12")
        self.cxx("libkernels.so", self.RUNTIME + "int f() { return cudaDeviceSynchronize(); }", "-shared", "-fPIC", *flags)
        program = self.cxx("program", "int f(); int main() { return f(); }", f"-L{self.folder}", "-lkernels",
                           "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined")
        self.assertIn("needs libcudart.so.12", self.run_vm(program, code=8)[1])

    def test_no_device_code(self):
        program = self.cxx("program", self.RUNTIME + "int main() { cudaDeviceSynchronize(); return 5; }",
                           *self.library("libcudart.so.13"))
        self.assertIn("no device code", self.run_vm(program, code=5)[1])

    def test_the_driver(self):
        self.cxx("libcuda.so", 'extern "C" int cuInit(unsigned) { return 7; }',
                 "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1")
        shutil.copy(self.folder / "libcuda.so", self.folder / "libcuda.so.1")
        text = 'extern "C" int cuInit(unsigned); int main() { return cuInit(0); }'
        for flags in [], ["-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags"]:  # ours wins over that
            program = self.cxx("program", text, f"-L{self.folder}", "-lcuda", *flags)
            self.assertEqual(self.run_vm(program)[1], "")

    def test_libraries_of_the_toolkit_are_found(self):
        self.cxx("libnvrtc.so", 'extern "C" int nvrtcVersion(int*, int*) { return 0; }',
                 "-shared", "-fPIC", "-Wl,-soname,libnvrtc.so.13")
        program = self.cxx("program", "#include <cstdio>\n#include <cstdlib>\n"
                           'extern "C" int nvrtcVersion(int*, int*);\n'
                           'int main() { std::puts(std::getenv("LD_LIBRARY_PATH")); return nvrtcVersion(nullptr, nullptr) > 99; }',
                           f"-L{self.folder}", "-lnvrtc", "-Wl,-rpath,$ORIGIN")
        shutil.copy(self.folder / "libnvrtc.so", self.folder / "libnvrtc.so.13")
        folders = self.run_vm(program)[0].strip().split(":")
        self.assertGreater(len(folders), 1)
        self.assertTrue((Path(folders[-1]) / "libcudart.so.13").exists())  # as the toolkit has it

    def test_triton_keeps_its_ptx(self):
        program = self.cxx("program", "#include <cstdlib>\nint main() { return std::system(\"$TRITON_PTXAS_PATH -v a.ptx -o b\"); }")
        self.write("a.ptx", ".version 8.0\n")
        self.run_vm(program)
        self.assertEqual((self.folder / "b").read_text(), ".version 8.0\n")

    def test_our_runtime_wins_over_rpath(self):
        # The library beside the program would say 0 and a driver version of 7.
        self.cxx("libcudart.so", 'extern "C" int cudaDriverGetVersion(int* v) { *v = 7; return 0; }',
                 "-shared", "-fPIC", "-Wl,-soname,libcudart.so.13")
        shutil.copy(self.folder / "libcudart.so", self.folder / "libcudart.so.13")
        program = self.cxx("program", 'extern "C" int cudaDriverGetVersion(int*);\n'
                           "int main() { int v = 0; cudaDriverGetVersion(&v); return v == 7; }",
                           f"-L{self.folder}", "-lcudart", "-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags")
        self.run_vm(program)

    def test_death_by_signal(self):
        program = self.cxx("program", "#include <csignal>\nint main() { std::signal(SIGSEGV, SIG_DFL); std::raise(SIGSEGV); }")
        self.assertIn("program died of signal 11 (Segmentation fault)", self.run_vm(program, code=139)[1])

    def test_timeout(self):
        program = self.cxx("program", "#include <unistd.h>\nint main() { sleep(100); }")
        start = time.monotonic()
        self.assertIn("--timeout 0.1", self.run_vm(program, "--timeout", "0.1", code=6)[1])
        self.assertLess(time.monotonic() - start, 30)

    def test_trace_that_cannot_be_written(self):
        program = self.cxx("program", "#include <cstdio>\nint main() { std::puts(\"ran\"); }")
        for path, why in ("no/folder.json", "No such file"), (".", "Is a directory"), ("/dev/null", "no ordinary file"):
            out, err = self.run_vm(program, "--trace", path, code=8)
            self.assertEqual(out, "")  # said before the program starts
            self.assertIn(why, err)
        # A program that never starts leaves an earlier trace alone, and makes no file.
        old = self.write("old.json", "kept")
        self.run_vm(self.write("notes.txt", ""), "--trace", old, code=2)
        self.assertEqual(old.read_text(), "kept")
        self.run_vm(self.folder / "notes.txt", "--trace", "new.json", code=2)
        self.assertFalse((self.folder / "new.json").exists())

    def test_trace_of_nothing(self):
        program = self.cxx("program", "int main() {}")
        _, err = self.run_vm(program, "--trace", "trace.json")
        self.assertIn("trace.json is empty", err)
        self.assertEqual(json.loads((self.folder / "trace.json").read_text()), [])

    def test_trace_is_whole_when_the_program_is_not(self):
        # A stand-in for the device: an event, half an event, and death.
        program = self.cxx("program", r'''
            #include <csignal>
            #include <cstdio>
            #include <cstdlib>
            int main() {
              FILE* f = fopen(getenv("RIDGE_TRACE"), "a");
              fputs("{\"ph\":\"X\",\"name\":\"k\"},\n{\"ph\":\"X", f);
              fclose(f);
              raise(SIGKILL);
            }''')
        _, err = self.run_vm(program, "--trace", "trace.json", code=137)
        self.assertIn("1 events in trace.json", err)
        self.assertEqual(json.loads((self.folder / "trace.json").read_text()), [{"ph": "X", "name": "k"}])

    def test_damaged(self):
        program = self.cxx("program", "int main() {}")
        program.write_bytes(program.read_bytes()[:3000])
        self.assertIn("damaged or truncated", self.run_vm(program, code=2)[1])


TINY = """
#include <cstdio>
#include <cstdlib>
__global__ void add(int* sum, int n) { atomicAdd(sum, n); }
__global__ void spin(volatile int* never) { while (*never == 0) {} }
int main(int argc, char** argv) {
  int *sum, result = -1;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  if (argc > 1) add<<<4, 64>>>(sum, std::atoi(argv[1])); else spin<<<1, 1>>>(sum);
  const cudaError_t error = cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %s\\n", result, cudaGetErrorName(error));
  return error == cudaSuccess ? 42 : 4;
}
"""


class Kernels(CliTest):
    """With the real compiler, on the software GPU."""

    def kept_programs(self):
        """What is in the cache, and when it was written."""
        return {file: file.stat().st_mtime_ns for file in (self.folder / "cache").rglob("*") if file.is_file()}

    def test_run(self):
        source = self.write("tiny.cu", TINY)
        out, err = self.ridge("run", "--device", "vm", "--count", source, "--", "3", code=42)
        self.assertEqual(out, "768 cudaSuccess\n")
        self.assertRegex(err, r"ridge: [1-9][0-9,]* warp instructions\n")
        # The second time nothing is compiled.
        kept = self.kept_programs()
        self.assertTrue(kept)
        self.ridge("run", "--device", "vm", source, "--", "3", code=42)
        self.assertEqual(self.kept_programs(), kept)
        # A kernel that never ends is reported, and the program lives on.
        out, err = self.ridge("run", "--device", "vm", "--timeout", "0.5", source, code=4)
        self.assertIn("cudaErrorLaunchTimeout", out)
        self.assertIn("spin", err)

    def test_model(self):
        source = Path(__file__).parents[2] / "examples" / "02_vector_add.cu"
        out, _ = self.ridge("run", "--device", "vm", "--model", "--json", "times.json", source)
        self.assertIn("Modelled for NVIDIA H200, not measured", out)
        record = json.loads((self.folder / "times.json").read_text())
        self.assertTrue(record["kernels"])
        for kernel in record["kernels"]:
            self.assertGreater(kernel["modelled_low_us"], 0)
            self.assertLess(kernel["modelled_low_us"], kernel["modelled_us"])
            self.assertLess(kernel["modelled_us"], kernel["modelled_high_us"])
            self.assertIn(kernel["name"], out)
            self.assertTrue(kernel["bound"])
        ways = {copy["way"]: copy for copy in record["copies"]}
        self.assertGreater(ways["to_device"]["modelled_us"], 0)
        self.assertEqual(ways["to_device"]["bound"], "link")
        self.assertIn("copies to the device", out)
        self.assertGreater(record["total_us"], sum(kernel["modelled_us"] for kernel in record["kernels"]) / 2)
        self.assertRegex(out, r"In all [0-9.]+ [µm]s")
        _, err = self.ridge("run", "--device", "vm", "--json", "times.json", source, code=2)
        self.assertIn("add --model", err)

    def test_model_of_another_gpu(self):
        source = Path(__file__).parents[2] / "examples" / "02_vector_add.cu"
        times = {}
        for gpu in "h200", "t4":
            out, _ = self.ridge("run", "--model", "--gpu", gpu, "--json", "times.json", source)
            record = json.loads((self.folder / "times.json").read_text())
            times[gpu] = record["kernels"][0]
            self.assertEqual(record["checked"], gpu == "h200")
            self.assertEqual(times[gpu]["checked"], gpu == "h200")
            # In the heading, and on the kernel's line.
            marked = [line for line in out.splitlines() if "unchecked on this card" in line]
            self.assertEqual(len(marked), 2 if gpu == "t4" else 0, out)
        # A T4 has a fourteenth of the bandwidth; its limits are further apart.
        self.assertGreater(times["t4"]["modelled_us"], times["h200"]["modelled_us"])
        def width(time): return time["modelled_high_us"] / time["modelled_low_us"]
        self.assertGreater(width(times["t4"]), width(times["h200"]))

    def test_trace(self):
        # Streams overlap when the host lets them; on a busy one not every time.
        self.assertTrue(any(self.traced_streams_overlap() for _ in range(5)))

    def traced_streams_overlap(self):
        example = Path(__file__).parents[2] / "examples" / "08_streams.cu"
        _, err = self.ridge("run", "--device", "vm", "--trace", "trace.json", example)
        events = json.loads((self.folder / "trace.json").read_text())
        spans = [event for event in events if event["ph"] == "X"]
        self.assertIn(f"{len(spans)} events in trace.json", err)
        names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(names, {1: "stream 1, non-blocking", 2: "stream 2, non-blocking"})
        self.assertEqual({span["name"] for span in spans},
                         {"copy host to device", "newton_sqrt(float*, int)", "copy device to host"})
        kernel = next(span for span in spans if span["cat"] == "kernel")
        self.assertEqual((kernel["args"]["grid"], kernel["args"]["block"]), ([196, 1, 1], [256, 1, 1]))
        self.assertEqual(next(span for span in spans if span["cat"] == "copy")["args"],
                         {"bytes": 200008, "from": "pinned", "to": "device"})

        def overlaps(a, b):
            return a["ts"] < b["ts"] + b["dur"] and b["ts"] < a["ts"] + a["dur"]
        rows = {tid: [span for span in spans if span["tid"] == tid] for tid in names}
        for row in rows.values():  # a stream does one thing at a time
            row.sort(key=lambda span: span["ts"])
            self.assertFalse(any(overlaps(a, b) for a, b in zip(row, row[1:])))
        return any(overlaps(a, b) for a in rows[1] for b in rows[2])

    def test_check_of_a_program_that_launches_nothing(self):
        empty = self.write("empty.cu", "int main() {}\n")
        self.assertEqual(self.ridge("check", "--quiet", empty), ("", "no hazards in 0 launches\n"))
        plain = self.cxx("plain", "int main() { return 3; }")  # without the CUDA runtime
        self.assertEqual(self.ridge("check", "--quiet", plain, code=3), ("", "no hazards in 0 launches\n"))
        early = self.write("early.cu", "#include <unistd.h>\nint main() { cudaFree(0); _exit(0); }\n")
        self.assertIn("did not come to its end", self.ridge("check", "--quiet", early)[1])

    def test_a_kernel_that_does_not_end(self):
        source = self.write("tiny.cu", TINY)
        _, err = self.ridge("check", "--quiet", "--no-leaks", "--timeout", "1", source, code=6)
        self.assertNotIn("barrier", err)
        self.assertRegex(err, r"tiny.cu:5:\d+: error: the kernel ran past the time limit in kernel spin")
        self.assertIn("still running by thread (0,0,0) of block (0,0,0)", err)

    def test_compile_error(self):
        source = self.write("wrong.cu", "__global__ void k() { int x = nothing; }\nint main() {}\n")
        _, err = self.ridge("run", "--device", "vm", source, code=3)
        self.assertIn('wrong.cu(1): error: identifier "nothing" is undefined', err)


class Layouts(CliTest):
    def test_offsets_banks_and_conflicts(self):
        out, _ = self.ridge("layout", "(8,8):(64,8)", "--dtype", "bf16", "--json", "-")
        plain = json.loads(out)
        self.assertEqual(plain["offsets"][3][2], 3 * 64 + 2 * 8)
        self.assertEqual(plain["banks"][3][2], 8)
        self.assertEqual((plain["wavefronts_along_rows"], plain["wavefronts_along_columns"]), (1, 8))
        out, _ = self.ridge("layout", "(8,8):(64,8)", "--dtype", "bf16", "--swizzle", "3,4,3", "--json", "-")
        swizzled = json.loads(out)
        self.assertEqual(swizzled["offsets"][3][2], 3 * 64 + (2 ^ 3) * 8)
        self.assertEqual(swizzled["wavefronts_along_columns"], 1)

    def test_draws(self):
        out, _ = self.ridge("layout", "((4,2),8):((1,32),4)", "--svg", "tile.svg")
        self.assertIn("8 x 8 elements of 4 bytes", out)
        self.assertIn("along a row: 1 wavefront, no bank conflict; along a column: 2 wavefronts", out)
        svg = (self.folder / "tile.svg").read_text()
        self.assertEqual(svg.count("<title>"), 64)
        self.assertIn("(5, 3): offset 45, bank 13", svg)

    def test_what_is_wrong(self):
        for arguments, message in ((["(4,8"], "at character 5"), ([], "which layout?"),
                                   (["(4,8)", "--swizzle", "3,4"], "BITS,BASE,SHIFT"),
                                   (["(4,8)", "--swizzle", "3,1,3"], "an element has 4"),
                                   (["(4,8)", "--dtype", "bf61"], "there is no format"),
                                   (["(1024,1024)"], "can be drawn")):
            self.assertIn(message, self.ridge("layout", *arguments, code=2)[1])


if __name__ == "__main__":
    sys.exit(unittest.main())
