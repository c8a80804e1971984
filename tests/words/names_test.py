"""What README, CONTRIBUTING and docs name is there: files and folders of the tree, links, and every RIDGE_ variable.

    names_test.py ROOT
"""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1])
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "src|tools|tests|include|docs|bench|examples|cmake"


class Names(unittest.TestCase):
    def test_paths(self):
        count = 0
        for page in PAGES:
            # `src/vm/isa/form.h`, but not `src/kernels/<family>/NN_idea.cu`
            for path in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", page.read_text()):
                count += 1
                self.assertTrue((ROOT / path).exists(), f"{page.name} names {path}")
        self.assertGreater(count, 50)

    def test_links(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
                if not link.startswith("http"):
                    self.assertTrue((page.parent / link).exists(), f"{page.name} links to {link}")

    def test_variables(self):
        read = set()
        for source in [*ROOT.glob("src/vm/**/*.cpp"), *ROOT.glob("tools/**/*.cpp")]:
            read |= set(re.findall(r'"(RIDGE_[A-Z_]+)"', source.read_text()))
        self.assertGreater(len(read), 10)
        listed = set(re.findall(r"`(RIDGE_[A-Z_]+)`", (ROOT / "docs" / "architecture.md").read_text()))
        self.assertEqual(sorted(read), sorted(listed), "docs/architecture.md lists the variables that are read, and by whom")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
