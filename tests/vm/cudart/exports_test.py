"""The library exports what the toolkit's does, and docs/runtime.md says of each function whether it is supported.
Its own functions begin with ridge_.

usage: exports_test.py OUR_LIBRARY TOOLKIT_LIBRARY SOURCE_ROOT
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

PER_THREAD = re.compile(r"_pt(sz|ds)$")


def exports(library):
    """Exported functions with their symbol versions, as nm shows them: cudaMalloc@@libcudart.so.13."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[-1] for line in lines.splitlines() if line.split()[-2] != "A"}
    return {symbol for symbol in symbols if not symbol.startswith("ridge_")}


def dynamic_section(library, tag):
    lines = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return re.findall(rf"\({tag}\).*\[(.*)\]", lines)


class Exports(unittest.TestCase):
    def test_same_as_the_toolkit(self):
        if not os.path.exists(THEIRS):
            self.skipTest(f"no {THEIRS}")
        ours, theirs = exports(OURS), exports(THEIRS)
        self.assertEqual(sorted(theirs - ours), [], "missing")
        self.assertEqual(sorted(ours - theirs), [], "exported, but not by the toolkit")

    def test_every_symbol_has_the_version(self):
        for symbol in exports(OURS):
            self.assertTrue(symbol.endswith("@@libcudart.so.13"), symbol)
        self.assertEqual(dynamic_section(OURS, "SONAME"), ["libcudart.so.13"])


class Documentation(unittest.TestCase):
    def setUp(self):
        text = pathlib.Path(ROOT, "docs/runtime.md").read_text()
        _, lists = text.split("## Supported functions")
        supported, refused = lists.split("## Refused functions")
        self.supported = re.findall(r"`(_*cuda\w+)`", supported)
        self.refused = re.findall(r"`(_*cuda\w+)`", refused)
        table = pathlib.Path(ROOT, "src/vm/cudart/abi/refused.def").read_text()
        self.table = set(re.findall(r"^RIDGE_REFUSED\((\w+),", table, re.M))
        counted = pathlib.Path(ROOT, "tests/vm/cudart/counted_functions.txt").read_text()
        self.counted = {line.split("\t")[1] for line in counted.splitlines() if not line.startswith("#")}
        self.text = text

    def test_refused_functions_are_the_table(self):
        self.assertEqual(sorted(self.refused), sorted(n for n in self.table if not PER_THREAD.search(n)))

    def test_supported_functions_are_the_rest(self):
        names = {symbol.split("@")[0] for symbol in exports(OURS)}
        self.assertEqual(sorted(self.supported), sorted(n for n in names - self.table if not PER_THREAD.search(n)))

    def test_the_counts(self):
        everything = {symbol.split("@")[0] for symbol in exports(OURS)}
        for what, names in (("imported by 498 public programs", self.counted), ("exported", everything)):
            refused = len(names & self.table)
            self.assertIn(f"| {what} | {len(names)} | {len(names) - refused} | {refused} |", self.text)
        self.assertEqual(sorted(self.counted - everything), [], "counted, but not exported")


if __name__ == "__main__":
    OURS, THEIRS, ROOT = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1], verbosity=2)
