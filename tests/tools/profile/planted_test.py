"""Planted examples of every kind of advice, and their twins with the advice taken.

    RIDGE_BINARY=… RIDGE_PLANTED=… planted_test.py
"""
import csv
import io
import json
import os
import re
import sys
import unittest
from pathlib import Path

from ridge_profile import HERE, ProfileTest

sys.path.insert(0, str(HERE.parent))
from browser import Browser, missing_browser  # noqa: E402

SOURCES = [HERE / "planted.cu", HERE / "planted_work.cu"]


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
        self.assertTrue(all(name.startswith(("l1tex__", "sm__", "smsp__")) for name in more))  # names of Nsight Compute
        docs = (HERE.parent.parent.parent / "docs" / "profile.md").read_text()
        self.assertEqual([name for name in ours[1:] if f"`{name}`" not in docs], [])
        row = self.rows["bank_conflict_bad"]
        self.assertEqual(row["dram__bytes_read.sum"], "")
        self.assertEqual(row["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], str(262144 - 8192))

    def test_every_kernel_has_a_modelled_time(self):
        bounds = {"memory", "l2", "l1_shared", "issue", "fma", "fp64", "sfu", "tensor", "atomics", "latency", "launch",
                  "tail", "idle"}
        for name, kernel in self.kernels.items():
            self.assertLess(0, kernel["modelled_low_us"], name)
            self.assertLess(kernel["modelled_low_us"], kernel["modelled_us"], name)
            self.assertLess(kernel["modelled_us"], kernel["modelled_high_us"], name)
            self.assertIn(kernel["bound"], bounds)
            for advice in kernel["advice"]:  # a part of the kernel's own time
                self.assertLess(0, advice["saves_us"])
                self.assertLess(advice["saves_us"], advice["saves"] * kernel["modelled_us"] + 1e-6)

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
            self.assertRegex(browser.text("#facts"), r"\d µs\s*modelled for NVIDIA H200, not measured \([\d.]+–[\d.]+\), bound by ")
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


if __name__ == "__main__":
    unittest.main()
