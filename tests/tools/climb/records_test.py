"""`ridge climb --from`: tables of records that are there.

    RIDGE_BINARY=… records_test.py
"""
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
RIDGE = os.environ["RIDGE_BINARY"]
MODELLED, MEASURED = HERE / "modelled.json", HERE / "measured.json"


def on_terminal(columns, *arguments):
    """What a terminal of that width shows, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([RIDGE, "climb", *map(str, arguments)], stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    process.wait()
    return re.sub("\x1b\\[\\d*m", "", text.decode()).replace("\r", "")


class Records(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ridge-climb-records-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def climb(self, *arguments, code=0, verb="climb"):
        done = subprocess.run([RIDGE, verb, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_modelled(self):
        out = self.climb("--from", MODELLED)
        self.assertIn("sum 16777216 f32  modelled for NVIDIA H200, ± 17 – 18 %; verified at 1048576\n", out)
        self.assertRegex(out, r"\n  rung +result +time +± +GB/s +of roof +× before +bound by +the idea +why that bound\n")
        self.assertRegex(out, r"\n  vectors +right +25\.6 µs +18 % +2617 +59 % +1\.88 +memory +16 bytes per load, and a single launch +67 MB at")
        self.assertRegex(out, r"\n  planted_wrong +wrong +a rung whose result is wrong\n")
        self.assertIn("wrong: planted_wrong: out[0] is 3, not 4", out)
        self.assertRegex(out, r"\n  many_warps +right +161\.4 µs +18 % +53219 +81 % ")
        self.assertIn("\n  roof: 131.1 µs, 65.5 T f32 operations per second\n", out)
        self.assertNotIn("instructions", out)
        self.assertEqual(list(self.folder.iterdir()), [])  # nothing ran, so nothing is kept

    def test_instructions_on_request(self):
        out = self.climb("--from", MODELLED, "--instructions")
        self.assertRegex(out, r"bound by +warp instructions at 1048576 +× fewer +the idea")
        self.assertRegex(out, r"\n  global_atomics .* atomics +1,012,345 +0\.99 ")

    def test_measured(self):
        out = self.climb("sum", "--from", MEASURED)
        self.assertIn("sum 16777216 f32  measured on NVIDIA H200; verified at ", out)
        self.assertRegex(out, r"\n  vectors +right +26\.4 µs +0\.\d % +2539 +92 % +1\.72 +1\.06 +16 bytes")
        self.assertNotIn("occupancy", out)

    def test_modelled_beside_measured(self):
        for order in ("--from", MODELLED, "--from", MEASURED), ("--from", MEASURED, "--from", MODELLED):
            out = self.climb("sum", *order)
            self.assertIn("modelled for NVIDIA H200, ± 17 – 18 %; measured on NVIDIA H200", out)
            self.assertRegex(out, r"\n  vectors +right +26\.4 µs +0\.\d % +25\.6 µs +18 % +-3 % +2539 +92 % ")
            self.assertLess(out.index("  vectors "), out.index("  CUB "))

    def test_a_narrow_terminal_has_the_words_below_the_numbers(self):
        self.assertIn("\n    by latency: 12 KB in flight per SM, 40 KB needed\n", on_terminal(140, "sum", "--from", MODELLED))
        text = on_terminal(100, "sum", "--from", MODELLED)
        self.assertRegex(text, r"\n  warp_shuffle .* latency\n    registers of other lanes instead of shared memory\n"
                               r"    by latency: 12 KB in flight per SM, 40 KB needed\n")
        for width in 100, 140:
            for line in on_terminal(width, "--from", MODELLED).splitlines():
                self.assertLessEqual(len(line), width)
                self.assertNotIn("…", line)

    def test_what_was_published_and_not_measured_is_marked(self):
        record = json.loads(MODELLED.read_text())
        record["device"]["name"], record["roofs"]["unchecked"] = "NVIDIA A100", True
        (self.folder / "a100.json").write_text(json.dumps(record))
        out = self.climb("--from", "a100.json")
        self.assertIn("modelled for NVIDIA A100, ± 17 – 18 %, unchecked on this card", out)
        self.assertIn("65.5 T f32 operations per second, unchecked on this card", out)
        self.assertIn('"unchecked":"unchecked on this card"', self.climb("--from", "a100.json", "--html", "-"))

    def test_compare_modelled_records(self):
        record = json.loads(MODELLED.read_text())
        for step in record["climbs"][0]["steps"]:
            if step["name"] == "vectors":
                step["modelled_us"] *= 2
        (self.folder / "slower.json").write_text(json.dumps(record))
        out = self.climb(MODELLED, "slower.json", verb="compare")
        self.assertRegex(out, r"vectors +25\.64 µs +51\.28 µs +2\.000 +modelled +slower\n")
        self.assertRegex(out, r"warp_shuffle .* 1\.000 +modelled +same\n")
        self.assertIn("`ridge climb --from ", self.climb(MODELLED, MEASURED, verb="compare", code=2))

    def test_shape_and_dtype_choose(self):
        self.assertNotIn("sum ", self.climb("--from", MODELLED, "--shape", "1048576x4096"))
        self.assertIn("no such climb in there", self.climb("--from", MODELLED, "--dtype", "bf16", code=2))
        self.assertIn("no such climb in there", self.climb("gemv", "--from", MODELLED, code=2))

    def test_refusals(self):
        for arguments, complaint in [
                (["--from", MODELLED, "--from", MODELLED], "two of the records have a modelled time of cpu_partials, sum 16777216 f32"),
                (["--from", "nowhere.json"], "cannot read nowhere.json"),
                (["--from", MODELLED, "--rung", "vectors"], "--from runs nothing"),
                (["--from", MODELLED, "--json", "a.json"], "--from shows records"),
                (["--from", MODELLED, "--html", "-", "--csv", "-"], "--from shows records"),
                (["add", "--html", "-", "--csv", "-"], "cannot both go to stdout")]:
            self.assertIn(complaint, self.climb(*arguments, code=2))
        self.assertIn("cannot write no/page.html", self.climb("--from", MODELLED, "--html", "no/page.html", code=8))
        broken = self.folder / "broken.json"
        for text in '{"climbs": [], "roofs": 3}', '{"climbs": [], "date": 3}', '{"climbs": [], "device": {"name": 3}}':
            broken.write_text(text)
            self.assertIn("is no record of a climb", self.climb("--from", broken, code=2))

    def test_a_page_on_stdout(self):
        page = self.climb("--from", MODELLED, "--html", "-")
        self.assertTrue(page.startswith("<!doctype html>"))
        begin = page.index('id="record">') + len('id="record">')
        record = json.loads(page[begin:page.index("</script>", begin)])
        self.assertEqual([climb["operator"] for climb in record["climbs"]], ["sum", "occupancy_vs_ilp"])
        step = next(step for step in record["climbs"][0]["steps"] if step["name"] == "vectors")
        self.assertEqual((step["bound"], step["why"]), ("memory", "67 MB at 92 % of the pins"))


if __name__ == "__main__":
    unittest.main()
