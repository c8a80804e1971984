"""README, docs and the help of every verb say "per": "16 bytes per lane", never "16 bytes a lane".

    per_test.py RIDGE ROOT
"""
import re
import subprocess
import sys
import unittest
from pathlib import Path

import per

RIDGE, ROOT = sys.argv[1], Path(sys.argv[2])
# Found by the pattern, and right all the same.
ALLOWED = {
    ("CONTRIBUTING.md", "16 bytes a lane"),         # shows what not to write
    ("examples/README.md", "14 calls a function"),  # 14 is the number of an example, and calls is a verb
}
# As our texts had it.
WRONG = ["16 bytes a lane and load", "one pack a thread", "a row an instruction", "Blocks run, a file a group.", "bytes an instruction",
         "a timeline with a row a stream", "(default: one a core)", "One line a rung", "a request a warp", "two transfers a clock",
         "8 tiles\na block", "A block a row"]
RIGHT = ["16 bytes per lane", "a thread loads a row", "blocks share a row", "one row per instruction", "how a number rounds",
         "one tile at a time", "a grid that fits the GPU", "name a format", "sizes 0, 1, a tile", "which rung serves a call",
         "## A PTX instruction: one row\n\nA row is the spelling", "times 15.7  a grid that fits"]


def said(*arguments):
    return subprocess.run([RIDGE, *arguments], capture_output=True, text=True, check=True).stdout


class Per(unittest.TestCase):
    def hold(self, name, text):
        with self.subTest(name):
            found = [phrase for phrase in per.found_in(text) if (name, phrase) not in ALLOWED]
            self.assertEqual(found, [], "write 'per' or 'each'")

    def test_pattern(self):
        for text in WRONG:
            self.assertTrue(per.found_in(text), text)
        for text in RIGHT:
            self.assertEqual(per.found_in(text), [], text)

    def test_pages(self):
        pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md", ROOT / "bench" / "results" / "README.md",
                 *sorted((ROOT / "docs").glob("*.md"))]
        self.assertGreater(len(pages), 20)
        for page in pages:
            self.hold(str(page.relative_to(ROOT)), page.read_text())

    def test_help(self):
        overview = said("help")
        self.hold("ridge help", overview)
        verbs = re.findall(r"^  ([a-z]+)  +\w", overview, re.M)
        self.assertGreater(len(verbs), 10)
        for verb in verbs:
            self.hold(f"ridge {verb} --help", said(verb, "--help"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
