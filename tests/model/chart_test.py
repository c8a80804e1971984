"""bench/model/chart.py: the picture of modelled against measured times.

    chart_test.py
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

MODEL = Path(__file__).resolve().parents[2] / "bench/model"
SVG = "{http://www.w3.org/2000/svg}"


def programs():
    """The ordinary programs as rows; every third is called held."""
    measured = json.loads((MODEL / "programs_h200.json").read_text())["programs"]
    modelled = json.loads((MODEL / "modelled_programs.json").read_text())
    return [{"family": name, "operator": name, "shape": "1", "dtype": "f32", "rung": name, "held": i % 3 == 0,
             "measured_us": measured[name]["cold_us"], "modelled_us": said["modelled_us"], "low_us": said["modelled_low_us"],
             "high_us": said["modelled_high_us"], "bound": said["bound"]} for i, (name, said) in enumerate(modelled.items())]


class Chart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ridge-chart-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_chart(self, *words):
        return subprocess.run([sys.executable, MODEL / "chart.py", self.folder / "rows.json", "--out", self.folder / "out.svg", *words],
                              capture_output=True, text=True)

    def draw(self, rows):
        (self.folder / "rows.json").write_text(json.dumps(rows))
        done = self.run_chart()
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "out.svg").read_text()

    def points(self, drawn, kind):
        """The points of a kind in the first panel, in pixels."""
        path = next(p for p in xml.fromstring(drawn).iter(SVG + "path") if p.get("class") == kind and p.get("d").count("M") > 1)
        found = [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.-]+)", path.get("d"))]
        return found if kind == "fitted" else [(x, y + 4) for x, y in found]  # a diamond starts at its top

    def test_every_rung_is_a_point_of_its_kind(self):
        rows = programs()
        drawn = self.draw(rows)
        held = [row for row in rows if row["held"]]
        self.assertEqual(len(self.points(drawn, "held")), len(held))
        self.assertEqual(len(self.points(drawn, "fitted")), len(rows) - len(held))
        self.assertIn(f"all: {len(rows)} rungs", drawn)
        self.assertIn(f"held: {len(held)} rungs", drawn)

    def test_a_rung_that_is_right_lies_on_the_diagonal(self):
        row = programs()[0] | {"held": False}
        drawn = self.draw([row | {"measured_us": us, "modelled_us": us * factor} for us, factor in ((1, 1), (10, 1), (100, 1.2), (1000, 0.8))])
        (x1, y1), (x2, y2), (x3, y3), (x4, y4) = self.points(drawn, "fitted")
        self.assertAlmostEqual(x2 - x1, y1 - y2, delta=0.2)
        self.assertAlmostEqual(x3 - x2, x2 - x1, delta=0.2)  # decades are equally far apart
        self.assertGreater((y2 - y3) - (x3 - x2), 5)  # too long: above the diagonal
        self.assertGreater((x4 - x2) - (y2 - y4), 5)  # too short: below

    def test_each_bound_has_a_row(self):
        rows = programs()
        drawn = self.draw(rows)
        texts = [t.text for t in xml.fromstring(drawn).iter(SVG + "text")]
        for bound in {row["bound"] for row in rows}:
            some = [row for row in rows if row["bound"] == bound]
            self.assertTrue(texts[texts.index(bound) + 1].startswith(f"{len(some)} · "), bound)

    def test_rungs_without_a_time_are_counted(self):
        rows = programs()
        for key in "modelled_us", "low_us", "high_us", "bound":
            del rows[1][key]
        self.assertIn("1 without a modelled time, which counts as an error of 100 %", self.draw(rows))
        self.assertNotIn("without", self.draw(rows[2:]))

    def test_the_same_rows_give_the_same_file(self):
        rows = programs()
        self.assertEqual(self.draw(rows), self.draw(rows))
        self.assertEqual(self.run_chart("--check").returncode, 0)
        self.assertIn("prefers-color-scheme:dark", self.draw(rows[1:]))
        (self.folder / "rows.json").write_text(json.dumps(rows))
        done = self.run_chart("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is out of date", done.stderr)

    def test_nothing_to_draw(self):
        (self.folder / "rows.json").write_text("[]")
        self.assertIn("there is nothing to draw", self.run_chart().stderr)


if __name__ == "__main__":
    unittest.main()
