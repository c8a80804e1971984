"""`ridge profile --check`: counters and hazards of one run are those of two.

    RIDGE_BINARY=… check_test.py [Class]
"""
import json
import re
import subprocess
import unittest

from ridge_profile import HERE, RIDGE, ProfileTest

SOURCE = HERE / "racy.cu"
LINES = {word: number for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
         for word in ("WRITE", "READ") if "// " + word in line}


def without_addresses(record):
    """Where memory lies differs from run to run."""
    return json.loads(re.sub(r'"(base|address|memory)": ("[^"]*"|\d+)', r'"\1": 0', json.dumps(record)))


def without_times(kernels):
    """So do the lines that the model of time looks at, and with them the times."""
    for kernel in kernels:
        for key in [key for key in kernel if key.startswith("modelled")]:
            del kernel[key]
        for advice in kernel["advice"]:
            advice.pop("saves_us", None)
    return kernels


class Checked(ProfileTest):
    def check(self, *arguments, code):
        done = subprocess.run([RIDGE, "check", *map(str, arguments)], cwd=self.folder, env=self.env,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def test_both_reports_are_those_of_two_runs(self):
        alike = (SOURCE, "--quiet", "--threads", 1, "--json", "-")  # one worker: the same block comes first
        counted = json.loads(self.profile(*alike)[0])
        found = json.loads(self.check(*alike, code=5)[0])
        out, err = self.profile(*alike, "--check", code=5)
        both = json.loads(out)
        self.assertIn("1 finding: race", err)
        for key in ("findings", "launches", "finished", "suppressed"):
            self.assertEqual(without_addresses(both[key]), without_addresses(found[key]))
        self.assertEqual(without_times(without_addresses(both["kernels"])),
                         without_times(without_addresses(counted["kernels"])))
        (race,) = both["findings"]
        self.assertEqual({race["line"], race["related"][0]["line"]}, {LINES["WRITE"], LINES["READ"]})
        (kernel,) = both["kernels"]
        self.assertIn(("uncoalesced", LINES["READ"]), [(a["kind"], a.get("line")) for a in kernel["advice"]])

    def test_people_read_the_hazards_first(self):
        out, err = self.profile(SOURCE, "--check", code=5)
        self.assertIn("put __syncthreads() between", err)
        self.assertIn("uncoalesced", out)

    def test_both_variables_of_the_environment(self):
        """In the usual order and in a seeded one."""
        for schedule in ({"RIDGE_THREADS": "1"}, {"RIDGE_THREADS": "1", "RIDGE_SCHEDULE": "7"}):
            def observe(**files):
                wire = {name: self.folder / file for name, file in files.items()}
                env = {**self.env, **schedule, **{name: str(file) for name, file in wire.items()}}
                subprocess.run([RIDGE, "run", "--quiet", "--device", "vm", SOURCE], env=env, check=True,
                               stdout=subprocess.DEVNULL)
                return {name: file.read_text() for name, file in wire.items()}
            alone = {**observe(RIDGE_PROFILE="profile"), **observe(RIDGE_CHECK="check")}
            both = observe(RIDGE_PROFILE="profile", RIDGE_CHECK="check")
            counters = [without_ranges(json.loads(wires["RIDGE_PROFILE"])) for wires in (alone, both)]
            self.assertEqual(*counters)
            findings = [[without_addresses(json.loads(line)) for line in wires["RIDGE_CHECK"].splitlines()]
                        for wires in (alone, both)]
            self.assertEqual(*findings)
            self.assertIn("race", [one.get("kind") for one in findings[0]])

    def test_the_exit_code_is_that_of_check(self):
        _, err = self.profile(SOURCE, "--check", "--", 3, code=3)
        self.assertIn("no hazards in 1 launch", err)
        (self.folder / "known").write_text("race kernel:racy\n")
        _, err = self.profile(SOURCE, "--check", "--suppress", "known", "--sarif", "out.sarif")
        self.assertIn("1 finding is suppressed", err)
        self.assertIn("suppressions", (self.folder / "out.sarif").read_text())

    def test_refusals(self):
        for arguments, complaint in [(["--check", "--blocks", 2], "--check needs every block"),
                                     (["--sarif", "x.sarif"], "add --check"),
                                     (["--check", "--max-reports", "many"], "--max-reports")]:
            out, err = self.profile(SOURCE, *arguments, code=2)
            self.assertIn(complaint, err)
            self.assertNotIn("said:", out)  # before the run


def without_ranges(launch):
    """The counters of each instruction, and all else that does not tell where memory lies."""
    for one in launch["instructions"]:
        for key in ("range", "seen_global", "seen_shared", "worst"):
            one.pop(key, None)
    launch.pop("ptxas_said", None)
    return launch


if __name__ == "__main__":
    unittest.main()
