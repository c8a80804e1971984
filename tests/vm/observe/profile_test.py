"""What a profile says beyond its counters: samples of large launches, launches that fault, and bad settings.

    profile_test.py RIDGE PROGRAM    with programs/launches.cu as PROGRAM
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RIDGE, PROGRAM = sys.argv[1:3]
COUNTERS = ("warps", "threads", "requests", "sectors", "wavefronts", "branches", "barriers", "bytes_used")


def run(which, **settings):
    """The process, and its launches by kernel."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.json"
        env = {**os.environ, "RIDGE_PROFILE": str(file), **{k: str(v) for k, v in settings.items()}}
        process = subprocess.run([RIDGE, "run", "--quiet", "--device", "vm", PROGRAM, "--", which], env=env,
                                 capture_output=True, text=True)
        launches, text, decoder = {}, file.read_text() if file.exists() else "", json.JSONDecoder()
        while text.strip():
            launch, end = decoder.raw_decode(text.lstrip())
            text = text.lstrip()[end:]
            launches[launch["kernel"]] = launch
        return process, launches


def totals(launch):
    scale = launch["blocks"] / launch["blocks_run"]
    return {name: scale * sum(i.get(name, 0) for i in launch["instructions"]) for name in COUNTERS}


class Sampling(unittest.TestCase):
    def test_a_sample_stands_for_the_whole(self):
        _, whole = run("alike")
        self.assertEqual(len(whole), 3)
        for seed in (1, 2):
            process, sampled = run("alike", RIDGE_PROFILE_BLOCKS=64, RIDGE_PROFILE_SEED=seed)
            self.assertEqual(process.stderr, "")
            for kernel, launch in sampled.items():
                self.assertLess(launch["blocks_run"], 9 * 64)
                self.assertEqual(launch["blocks"], whole[kernel]["blocks_run"])
                for name, value in totals(whole[kernel]).items():
                    self.assertLessEqual(abs(totals(launch)[name] - value), 0.02 * value, f"{kernel} {name}")

    def test_the_seed_decides(self):
        first, again, other = (run("alike", RIDGE_PROFILE_BLOCKS=64, RIDGE_PROFILE_SEED=s)[1] for s in (7, 7, 8))
        picks = [[totals(launch) for launch in launches.values()] for launches in (first, again, other)]
        self.assertEqual(picks[0], picks[1])
        self.assertNotEqual(picks[0], picks[2])

    def test_small_launches_are_not_sampled(self):
        _, launches = run("alike", RIDGE_PROFILE_BLOCKS=100000)
        for launch in launches.values():
            self.assertEqual(launch["blocks_run"], launch["blocks"])
            self.assertNotIn("not_sampled", launch)

    def test_blocks_that_communicate_all_run(self):
        process, launches = run("communicating", RIDGE_PROFILE_BLOCKS=8)
        self.assertEqual(process.returncode, 0, process.stderr)
        why = {name: next(l for k, l in launches.items() if name in k)
               for name in ("last_block", "waits", "together")}
        for launch in why.values():
            self.assertEqual(launch["blocks_run"], 64)
        self.assertIn("atomic", why["last_block"]["not_sampled"])
        self.assertIn("another block", why["waits"]["not_sampled"])
        self.assertIn("cooperative", why["together"]["not_sampled"])
        self.assertEqual(process.stderr.count("communicate"), 3)


class Trouble(unittest.TestCase):
    def test_a_fault_is_told_with_what_came_before(self):
        process, launches = run("fault")
        self.assertNotEqual(process.returncode, 0)
        (launch,) = launches.values()
        self.assertTrue(launch["faulted"])
        self.assertLess(launch["blocks_run"], launch["blocks"])
        stores = [i for i in launch["instructions"] if i.get("action") == "st"]
        self.assertGreater(stores[0]["requests"], 0)

    def test_a_path_that_cannot_be_written_stops_before_the_run(self):
        process, _ = run("alike", RIDGE_PROFILE="/nowhere/profile.json")
        self.assertEqual(process.returncode, 1)
        self.assertIn("cannot write the profile to /nowhere/profile.json", process.stderr)

    def test_a_number_that_is_none(self):
        process, _ = run("alike", RIDGE_PROFILE_BLOCKS="many")
        self.assertEqual(process.returncode, 1)
        self.assertIn("RIDGE_PROFILE_BLOCKS is 'many'", process.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
