"""What `ridge run` does with accesses that a GPU forbids, and with those that it lets pass.

    access_test.py RIDGE SOURCE PROGRAM    PROGRAM is SOURCE compiled
"""
import os
import re
import subprocess
import sys
import unittest

RIDGE, SOURCE, PROGRAM = sys.argv[1:4]
LINES = {name: number for number, line in enumerate(open(SOURCE, encoding="utf-8"), 1)
         for name in re.findall(r"// HERE (\w+)", line)}


class Access(unittest.TestCase):
    def run_it(self, what, *flags, **environment):
        done = subprocess.run([RIDGE, "run", "--quiet", "--device", "vm", *flags, PROGRAM, "--", what],
                              capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
        return done.returncode, done.stdout, done.stderr

    def test_host_writes_to_device_memory(self):
        code, out, err = self.run_it("host_write")
        self.assertEqual(code, 128 + 11, err)  # SIGSEGV, as with a GPU
        self.assertEqual(out, "")
        self.assertRegex(err, rf"access\.cu:{LINES['host_write']}: error: the host writes to device memory: "
                              r"0x[0-9a-f]+ is 28 bytes into cudaMalloc allocation #\d+ \(256 bytes\)")
        self.assertIn("copy with cudaMemcpy, or allocate with cudaMallocManaged", err)

    def test_the_programs_own_handler_comes_to_its_turn(self):
        code, out, err = self.run_it("handled")
        self.assertEqual((code, out), (0, "handled\n"), err)
        self.assertIn("the host writes to device memory", err)

    def test_one_switch_opens_everything(self):
        code, out, err = self.run_it("host_write", RIDGE_OPEN_MEMORY="1")
        self.assertEqual((code, out, err), (0, "written\n", ""))

    def test_what_a_gpu_lets_pass(self):
        code, out, err = self.run_it("past_the_end")
        self.assertEqual((code, out), (0, f"{sum(range(100, 121))} cudaSuccess\n"), err)
        self.assertEqual(err.count("a GPU lets this pass"), 2, err)  # once for each line, not for each launch
        self.assertIn(f"access.cu:{LINES['past_the_end']}:", err)

    def test_strict_stops_at_the_exact_end(self):
        code, out, err = self.run_it("past_the_end", "--strict")
        self.assertEqual(code, 5, err)
        self.assertIn("cudaErrorIllegalAddress", out)
        self.assertNotIn("a GPU lets this pass", err)

    def test_a_page_that_nobody_has(self):
        code, out, err = self.run_it("far_away")
        self.assertEqual((code, out), (0, "cudaErrorIllegalAddress\n"), err)
        self.assertIn("bytes after the end of cudaMalloc allocation", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
