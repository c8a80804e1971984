"""`ridge profile`: planted examples of every kind of advice and their cured twins, bad input, and the page.

    RIDGE_BINARY=… RIDGE_NVCC=… RIDGE_PLANTED=… profile_test.py [Class]
"""
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from browser import Browser, missing_browser

HERE = Path(__file__).parent
RIDGE = os.environ["RIDGE_BINARY"]
SOURCES = [HERE / "planted.cu", HERE / "planted_work.cu"]
RIDGE_NVCC = os.environ["RIDGE_NVCC"]


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


# What a kernel's advice promises is looked up in its twin: counters of all instructions, by what they reach and by
# their unit.
def total(kernel, counter, where=lambda i: True):
    return sum(i["counters"].get(counter, 0) for line in kernel["lines"] for i in line["instructions"] if where(i))


def is_global(instruction):
    return instruction.get("reach") == "global"


def is_local(instruction):
    return instruction.get("reach") == "local"


COUNTERS = {
    "sectors": lambda k: total(k, "sectors", is_global),
    "requests": lambda k: total(k, "requests", is_global),
    "requests to local memory": lambda k: total(k, "requests", is_local),
    "wavefronts": lambda k: total(k, "wavefronts"),
    "divergent": lambda k: total(k, "divergent"),
    "warps": lambda k: total(k, "warps"),
    "warp instructions": lambda k: total(k, "warps"),
    "fp64 instructions": lambda k: total(k, "warps", lambda i: i.get("unit") == "fp64"),
    "spill bytes": lambda k: k["resources"]["spill_store_bytes"] + k["resources"]["spill_load_bytes"],
    "occupancy": lambda k: round(100 * k["occupancy"]["fraction"]),
    "SMs with a block": lambda k: min(132, k["blocks"]),
}

# Kernel without _bad or _good: the advice, and how far the counter may be from what was promised, as a part of it.
PLANTED = {
    "uncoalesced": ("uncoalesced", 0),
    "swapped": ("uncoalesced", 0),
    "unused_bytes": ("unused bytes", 0),
    "misaligned": ("misaligned", 0),
    "pitch": ("misaligned", 0.02),  # some accesses stand for all
    "redundant": ("redundant loads", 0),
    "bank_conflict": ("bank conflict", 0),
    "bank_conflict_wide": ("bank conflict", 0),
    "bank_conflict_stride": ("bank conflict", 0),
    "blur": ("bank conflict", 0.02),
    "histogram": ("bank conflict", 0.25),  # it promises for the counting, not for adding up the copies
    "register_tile": ("few operations per load", 0),
    "atomic": ("atomics in turns", 0),
    "global_counts": ("atomics in turns", 0),
    "divergence": ("divergence", 0),
    "partial_warp": ("partial warp", 0),
    "doubles": ("accidental doubles", 0),
    "functions_double": ("slow functions", 0.1),
    "functions": ("slow functions", 0.15),
    "functions_square": ("slow functions", 0.1),
    "local": ("local memory", 0),
    "spills": ("spills", 0),
    "occupancy": ("occupancy", 0),
    "idle_sms": ("idle SMs", 0),
}
OF_THE_KERNEL = {"spills", "partial warp", "occupancy", "idle SMs"}


class ProfileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ridge-profile-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = dict(os.environ, XDG_CACHE_HOME=str(cls.folder / "cache"))

    @classmethod
    def run_ridge(cls, *arguments):
        return subprocess.run([RIDGE, "profile", *map(str, arguments)], cwd=cls.folder, env=cls.env,
                              capture_output=True, text=True, timeout=120)

    def profile(self, *arguments, code=0):
        done = self.run_ridge(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr


class Planted(ProfileTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kernels, cls.rows, cls.text, cls.marks = {}, {}, {}, {}
        for name in "planted", "planted_work":
            done = cls.run_ridge(Path(os.environ["RIDGE_PLANTED"]) / f"profile_{name}", "--json", f"{name}.json",
                                 "--csv", f"{name}.csv", "--html", f"{name}.html")
            assert done.returncode == 0, done.stderr
            cls.text[name] = done.stdout
            record = json.loads((cls.folder / f"{name}.json").read_text())
            cls.kernels.update({k["name"]: k for k in record["kernels"]})
            rows = csv.DictReader(io.StringIO((cls.folder / f"{name}.csv").read_text()))
            cls.rows.update({row["kernel"]: row for row in rows})
        for source in SOURCES:
            for number, line in enumerate(source.read_text().splitlines(), 1):
                if mark := re.search(r"// <- ([a-zA-Z ]+)$", line):
                    cls.marks.setdefault(mark[1], set()).add((source.name, number))

    def advice(self, kernel, kind):
        return [a for a in self.kernels[kernel]["advice"] if a["kind"] == kind]

    def test_every_kind_is_planted(self):
        kinds = {kind for kind, _ in PLANTED.values()}
        given = {a["kind"] for k in self.kernels.values() for a in k["advice"]}
        self.assertEqual(kinds, given)
        self.assertEqual(set(self.kernels), {f"{stem}_{end}" for stem in PLANTED for end in ("bad", "good")})

    def test_advice_is_for_the_one_and_not_for_its_twin(self):
        for stem, (kind, _) in PLANTED.items():
            with self.subTest(stem):
                bad, good = self.advice(f"{stem}_bad", kind), self.advice(f"{stem}_good", kind)
                self.assertTrue(bad)
                for advice in bad:
                    if kind in OF_THE_KERNEL:
                        self.assertNotIn("line", advice)
                    else:
                        self.assertIn((Path(advice["file"]).name, advice["line"]), self.marks[kind])
                if stem == "functions_double":  # sinf has a faster cousin, too
                    self.assertNotIn("sinf in place of sin", [a["fix"] for a in good])
                else:
                    self.assertEqual(good, [])

    def test_taking_it_moves_the_counter_as_promised(self):
        for stem, (kind, tolerance) in PLANTED.items():
            with self.subTest(stem):
                bad, good = self.kernels[f"{stem}_bad"], self.kernels[f"{stem}_good"]
                advice = self.advice(f"{stem}_bad", kind)
                count = COUNTERS[advice[0]["counter"]]
                now, then = sum(a["now"] for a in advice), sum(a["then"] for a in advice)
                self.assertNotEqual(now, then)
                self.assertGreaterEqual(count(bad), now)
                promised = count(bad) - now + then
                self.assertLessEqual(abs(count(good) - promised), tolerance * promised, (count(good), promised))

    def test_it_saves_a_twentieth_at_least_and_the_most_rewarding_comes_first(self):
        for name, kernel in self.kernels.items():
            with self.subTest(name):
                saves = [a["saves"] for a in kernel["advice"]]
                self.assertEqual(saves, sorted(saves, reverse=True))
                self.assertTrue(all(0.05 <= s <= 1 for s in saves), saves)
                if name.endswith("_bad") and name != "spills_bad":  # spills are not in the counters
                    twin = self.kernels[name.replace("_bad", "_good")]
                    self.assertLess(twin["time_cycles"], kernel["time_cycles"])

    def test_reasons_are_computed(self):
        for kernel, kind, reason, fix in [
                ("uncoalesced_bad", "uncoalesced", "2,048 bytes apart (512 elements of 4)", "turn a tile in shared memory"),
                ("swapped_bad", "uncoalesced", "neighbouring threadIdx.y", "exchange threadIdx.x and threadIdx.y"),
                ("unused_bytes_bad", "unused bytes", "16 bytes apart", "structure of arrays"),
                ("misaligned_bad", "misaligned", "touches 5 sectors where 4 would do: it starts 12 bytes into a sector", "start 116 bytes later, or 12 earlier"),
                ("pitch_bad", "misaligned", "rows of 4004 bytes", "make rows 4096 bytes long"),
                ("redundant_bad", "redundant loads", "loads the same bytes 8 times in a block", "tile"),
                ("bank_conflict_bad", "bank conflict", "lanes 0 … 31 hit bank", "pad the rows of tile: 33 elements in place of 32 (index i becomes i + i / 32)"),
                ("bank_conflict_wide_bad", "bank conflict", "lanes 0 … 15", "33 elements in place of 32"),
                ("bank_conflict_stride_bad", "bank conflict", "lanes 0, 16 hit bank 0", "i + i / 32"),
                ("blur_bad", "bank conflict", "2-way conflict", "pad the rows of tile: 48 elements in place of 20"),
                ("histogram_bad", "bank conflict", "the data decide which bank each lane goes to", "keep 32 copies of bins side by side"),
                ("register_tile_bad", "few operations per load", "each multiply-add loads its operands", "2×2 outputs"),
                ("atomic_bad", "atomics in turns", "all blocks add to the same 4 B", "one thread of each block"),
                ("global_counts_bad", "atomics in turns", "the same 1 KiB", "count in an array in shared memory"),
                ("doubles_bad", "accidental doubles", "floats become doubles", "0.5f in place of 0.5"),
                ("functions_double_bad", "slow functions", "inside sin: about 41 per call, in double precision", "call sinf in place of sin"),
                ("functions_bad", "slow functions", "inside powf", "-use_fast_math"),
                ("functions_square_bad", "slow functions", "inside pow", "multiply in place of pow: x * x"),
                ("local_bad", "local memory", "64 bytes per thread", "unroll the loop"),
                ("partial_warp_bad", "partial warp", "its last warp has 8 of 32 lanes", "32 or 64"),
                ("occupancy_bad", "occupancy", "16 warps of 64", "27.5 KiB"),
                ("idle_sms_bad", "idle SMs", "131 of 132 SMs are idle: there is 1 block of 1 thread", "132 blocks of 32 threads or more")]:
            with self.subTest(kernel):
                advice = self.advice(kernel, kind)[0]
                self.assertIn(reason, advice["reason"])
                self.assertIn(fix, advice["fix"])

    def test_data_decide_and_no_layout_is_advised(self):
        for advice in self.kernels["histogram_bad"]["advice"]:
            self.assertNotRegex(advice["fix"], r"\bpad\b|\^")

    def test_functions_of_the_library_are_named_at_the_line_that_calls_them(self):
        for kernel, name in [("functions_bad", "powf"), ("functions_double_bad", "sin"), ("functions_square_bad", "pow")]:
            inside = [line["inside"] for line in self.kernels[kernel]["lines"] if "inside" in line]
            self.assertEqual(len(inside), 1)
            self.assertRegex(inside[0], rf"^\d+ % of its instructions are inside {name}$")
            self.assertIn(inside[0], self.text["planted_work"])
        self.assertTrue(all(line.get("file") for k in self.kernels.values()
                            for line in k["lines"]))  # none is PTX's

    def test_the_first_sentence_is_the_one_that_matters(self):
        first = self.text["planted_work"].splitlines()[0]
        self.assertEqual(first, "idle_sms_bad leaves 131 of 132 SMs idle: it has 1 block of 1 thread.")
        verdict = self.kernels["atomic_bad"]["verdict"]
        self.assertRegex(verdict, r"^atomic_bad is bound by atomics: line \d+ has 32 lanes")
        verdict = self.kernels["bank_conflict_bad"]["verdict"]
        self.assertRegex(verdict, r"^bank_conflict_bad is bound by shared memory: line \d+ is a 32-way bank conflict")

    def test_the_roofline_sets_each_kind_of_bytes_against_its_own_rate(self):
        roof = self.kernels["register_tile_bad"]["roofline"]
        matrix = 512 * 512 * 4
        self.assertEqual(roof["dram_bytes"], 3 * matrix)  # each of the three once
        self.assertEqual(roof["l2_bytes"], (2 * 512 / 32 + 1) * matrix)
        self.assertGreater(roof["l2_bytes_per_second"], roof["dram_bytes_per_second"])

    def test_columns_are_those_of_the_hardware_truth(self):
        truth = HERE.parent.parent / "vm" / "observe" / "truth" / "patterns.csv"
        columns = truth.read_text().splitlines()[0].split(",")
        ours = (self.folder / "planted.csv").read_text().splitlines()[0].split(",")
        self.assertEqual(ours[:len(columns)], columns)
        more = [name for name in ours[len(columns):] if not name.startswith("ridge__")]
        self.assertTrue(all(name.startswith(("l1tex__", "smsp__")) for name in more))  # names of Nsight Compute
        docs = (HERE.parent.parent.parent / "docs" / "profile.md").read_text()
        self.assertEqual([name for name in ours[1:] if f"`{name}`" not in docs], [])
        row = self.rows["bank_conflict_bad"]
        self.assertEqual(row["dram__bytes_read.sum"], "")
        self.assertEqual(row["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], str(262144 - 8192))

    def test_the_page_has_it_all(self):
        page = (self.folder / "planted.html").read_text()
        self.assertNotRegex(page, r'(src|href)\s*=|@import|url\(')  # nothing from elsewhere
        text = re.search(r'<script type="application/json" id="record">(.*?)</script>', page, re.S)[1]
        record = json.loads(text)
        self.assertEqual(len(record["kernels"]), 28)
        (lines,) = [lines for file, lines in record["sources"].items() if file.endswith("planted.cu")]
        self.assertEqual(lines, SOURCES[0].read_text().splitlines())
        worst = [i["worst"] for line in self.kernels["bank_conflict_bad"]["lines"] for i in line["instructions"]
                 if i.get("reach") == "shared" and i.get("action") == "ld"]
        self.assertEqual([(w["cost"], w["least"]) for w in worst], [(32, 1)])

    def test_the_page_in_a_browser(self):
        if missing := missing_browser():
            self.skipTest(missing)
        with Browser() as browser:
            browser.open(f"file://{self.folder}/planted.html#bank_conflict_bad")
            self.assertRegex(browser.text("#verdict"), "^bank_conflict_bad is bound by shared memory")
            self.assertEqual(browser.count("#picture svg"), 2)  # the lanes, and the banks
            self.assertRegex(browser.text("#widths"), r"^Access widths: .+\.$")
            colours = 'return [...document.querySelectorAll("#picture svg:last-of-type rect")].filter(r => r.style.fill).length'
            self.assertEqual(browser.run(colours), 32)
            store = browser.run('return [...document.querySelectorAll("tr.counted")].find(r => r.textContent.includes("] = in[y")).id = "store"')
            browser.click(f"#{store}")
            self.assertRegex(browser.text("#detail .title"), r"^Line \d+")
            browser.click("#kernels .more")
            self.assertEqual(browser.count("#kernels button"), 28)
            for button in range(1, 29):  # none of them breaks the page
                browser.click(f"#kernels button:nth-child({button})")
                name = browser.text("#verdict").split(" ")[0]
                self.assertTrue(browser.text("#kernels [aria-pressed=true]").startswith(name))
                hidden = browser.run('return document.getElementById("roofline-panel").hidden')
                self.assertEqual(hidden, self.kernels[name]["roofline"]["flops"] == 0)
            self.assertEqual(browser.errors(), [])


LONG = "DeviceScanKernel<cub::policy_hub<int, int, unsigned, cuda::std::plus<void>>::Policy1000, thrust::detail::" \
       "normal_iterator<thrust::device_ptr<int>>, thrust::detail::normal_iterator<thrust::device_ptr<int>>, int>"


SHORT = "DeviceScanKernel<…>"


class Page(ProfileTest):
    """The page in a browser, at the widths of a telephone, a tablet and a screen."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if missing := missing_browser():
            raise unittest.SkipTest(missing)
        cls.program = Path(os.environ["RIDGE_PLANTED"]) / "profile_planted_work"
        done = cls.run_ridge(cls.program, "--html", "planted.html", "-q")
        assert done.returncode == 0, done.stderr
        done = cls.run_ridge(HERE / "small.cu", "--html", "tiny.html", "-q")
        assert done.returncode == 0, done.stderr
        page = (cls.folder / "planted.html").read_text()
        begin = page.index('id="record">') + len('id="record">')
        end = page.index("</script>", begin)
        record = json.loads(page[begin:end])

        def write(name, kernels, source=None):
            changed = dict(record, kernels=kernels)
            if source:
                changed["sources"] = {file: source(lines) for file, lines in record["sources"].items()}
            (cls.folder / name).write_text(page[:begin] + json.dumps(changed).replace("</", "<\\/") + page[end:])
        write("long.html", [dict(k, name=f"{LONG}_{i}>", full_name=f"{LONG}_{i}>", short_name=SHORT,
                                 verdict=k["verdict"].replace(k["name"], SHORT))
                            for i, k in enumerate(record["kernels"])])
        write("many.html", [dict(k, name=f"{k['name']}_{i}") for i in range(4) for k in record["kernels"]][:61],
              lambda lines: lines + ["// and on"] * (20000 - len(lines)))

    def test_nothing_is_wider_than_the_screen_and_source_is_seen(self):
        measure = """
            const texts = [...document.querySelectorAll("tr.counted td.text")].map((t) => t.getBoundingClientRect());
            const clipped = [...document.querySelectorAll("td.text, .advice p, h1, #kernels button")]
                .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).textOverflow !== "ellipsis");
            const inner = [...document.querySelectorAll("main *")].filter((e) => /auto|scroll/.test(getComputedStyle(e).overflow));
            return {page: document.documentElement.scrollWidth, screen: innerWidth, clipped: clipped.length, inner: inner.length,
                    text: Math.min(...texts.map((t) => t.width)), rows: texts.length, top: Math.min(...texts.map((t) => t.top))};"""
        with Browser() as browser:
            for page in "planted", "tiny", "long", "many":
                for width, least in (390, 250), (768, 420), (1400, 800):
                    for dark in False, True:
                        with self.subTest(page=page, width=width, dark=dark):
                            browser.show_as(width, 1000, dark)
                            browser.open(f"file://{self.folder}/{page}.html")
                            seen = browser.run(measure)
                            self.assertLessEqual(seen["page"], seen["screen"])
                            self.assertEqual((seen["clipped"], seen["inner"]), (0, 0))
                            self.assertGreater(seen["rows"], 1)
                            self.assertGreaterEqual(seen["text"], least)
                            self.assertLess(seen["top"], 1000)
                            self.assertEqual(browser.errors(), [])

    def test_long_names_are_short_and_whole_in_the_tooltip(self):
        with Browser() as browser:
            browser.show_as(1400)
            browser.open(f"file://{self.folder}/long.html")
            self.assertTrue(browser.text("#verdict").startswith(SHORT))
            self.assertEqual(browser.text("#kernels button").split()[0], SHORT)
            title = browser.run('return document.querySelector("#kernels button").title')
            self.assertIn("normal_iterator", title)

    def test_columns_without_numbers_are_not_there(self):
        with Browser() as browser:
            browser.show_as(1400)
            browser.open(f"file://{self.folder}/tiny.html")
            heads = browser.run('return [...document.querySelectorAll("th")].map((t) => t.textContent).filter(Boolean)')
            self.assertEqual(heads, ["cost", "warp instr.", "lanes", "sectors"])  # no wavefronts

    def test_no_label_of_the_roofline_lies_on_a_point(self):
        with Browser() as browser:
            browser.show_as(1400)
            browser.open(f"file://{self.folder}/tiny.html")
            self.assertEqual(browser.count("#roofline svg circle"), 2)
            overlap = """
                const boxes = [...document.querySelectorAll("#roofline svg text")].map((t) => t.getBoundingClientRect());
                return [...document.querySelectorAll("#roofline svg circle")].map((c) => c.getBoundingClientRect())
                    .filter((c) => boxes.some((b) => b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom)).length"""
            self.assertEqual(browser.run(overlap), 0)


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
        ridge = subprocess.Popen([RIDGE, "profile", HERE / "small.cu", "--timeout", "60", "--", "forever"], cwd=self.folder,
                                 env=self.env, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not any(RUNNING in arguments for arguments in children_of(ridge.pid)):
            self.assertIsNone(ridge.poll())
            time.sleep(0.05)
        time.sleep(0.5)  # until the kernel is launched
        os.killpg(ridge.pid, signal.SIGINT)
        _, err = ridge.communicate(timeout=60)
        self.assertEqual(ridge.returncode, 130)
        self.assertIn("no kernel had ended when the program was stopped", err)
        self.assertNotIn("no kernel was launched", err)

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


TURN = """
constexpr int kRow = 32;
__global__ void turn(const float* in, float* out) {
  __shared__ float tile[32][kRow];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  turn<<<1, dim3(32, 32)>>>(a, b);
  return cudaDeviceSynchronize();
}
"""


class Against(ProfileTest):
    """Two profiles beside each other."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder.joinpath("turn.cu").write_text(TURN)
        done = cls.run_ridge("turn.cu", "--json", "before.json")
        assert done.returncode == 0, done.stderr

    def against(self, text, name="turn.cu"):
        (self.folder / name).write_text(text)
        out, _ = self.profile(name, "--against", "before.json", "--json", "after.json")
        return out, json.loads((self.folder / "after.json").read_text())["against"]

    def test_lines_are_matched_by_their_text(self):
        out, against = self.against(TURN.replace("kRow = 32", "kRow = 33").replace("constexpr", "// padded\n\nconstexpr"))
        (kernel,) = against["kernels"]
        self.assertEqual(against["file"], "before.json")
        self.assertEqual(kernel["counters"]["wavefronts"], [32 + 1024, 64])
        self.assertGreater(*kernel["time_cycles"])
        (line,) = [line for line in kernel["lines"] if line["counters"].get("conflicts")]
        self.assertEqual((line["line_before"], line["line"]), (7, 9))
        self.assertEqual(line["text"], line["text_before"])
        self.assertEqual(line["counters"]["conflicts"], [992, 0])
        self.assertRegex(out, r"wavefronts +1,056 +64 +−94 %")
        self.assertRegex(out, r"line 7 → 9\n +out\[.*\n.*wavefronts 1,024 → 32 \(−97 %\), bank conflicts 992 → 0 \(gone\)")

    def test_the_same_program(self):
        out, against = self.against(TURN)
        self.assertIn("no line changed", out)
        for line in against["kernels"][0]["lines"]:
            self.assertEqual((line["line"], line["text"]), (line["line_before"], line["text_before"]))

    def test_edited_new_and_lost_lines(self):
        edited = TURN.replace("tile[threadIdx.x][threadIdx.y]", "tile[threadIdx.y][threadIdx.x] * 2").replace(
            "  __syncthreads();\n", "").replace("__global__", "__device__ float spare;\n__global__").replace(
            "\n}\nint", "\n  if (out == in) spare = 1;\n}\nint")
        out, against = self.against(edited)
        (kernel,) = against["kernels"]
        by_text = {line.get("text_before", line.get("text")): line for line in kernel["lines"]}
        changed = by_text["out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];"]
        self.assertIn("* 2", changed["text"])
        self.assertNotIn("line", by_text["__syncthreads();"])
        self.assertNotIn("line_before", by_text["if (out == in) spare = 1;"])
        self.assertRegex(out, r"- out\[.*\n +\+ out\[.* \* 2;")
        self.assertIn(", gone", out)
        self.assertIn(", new", out)

    def test_kernels_that_were_renamed_added_or_lost(self):
        out, against = self.against(TURN.replace("turn(", "turn_around(").replace("turn<", "turn_around<"), "other.cu")
        self.assertEqual([(k["name_before"], k["name"]) for k in against["kernels"]], [("turn", "turn_around")])
        self.assertIn("turn → turn_around", out)
        two = TURN.replace("int main", "__global__ void clear(float* x) { x[threadIdx.x] = 0; }\nint main").replace(
            "  return", "  clear<<<1, 32>>>(a);\n  return")
        out, against = self.against(two)
        self.assertEqual((len(against["kernels"]), against["only_after"]), (1, ["clear"]))
        self.assertRegex(out, r"clear +is new")


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
        self.assertEqual(row, (4, 16))  # four loads, each of which meets 4 words a bank
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
        arguments = "transpose/naive", "--shape", "1024x768"
        out, _ = self.profile(*arguments)
        self.assertRegex(out, r"sampled 2\d\d of 768 blocks; counts are scaled")
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
