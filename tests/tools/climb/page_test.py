"""The page of `ridge climb --html`, in a browser.

    RIDGE_BINARY=… page_test.py
"""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from browser import Browser, missing_browser  # noqa: E402


def time_text(us):
    return f"{us:.2f} µs" if us < 10 else f"{us:.1f} µs" if us < 1000 else f"{us / 1000:.2f} ms"


class Page(unittest.TestCase):
    """modelled.json and measured.json have the same two cases: a sum whose rungs differ by a factor of 1000, with rivals and a
    wrong rung, and a ladder bound by arithmetic."""
    @classmethod
    def setUpClass(cls):
        if missing := missing_browser():
            raise unittest.SkipTest(missing)
        cls.folder = Path(tempfile.mkdtemp(prefix="ridge-climb-page-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.measured, cls.modelled = (json.loads((HERE / name).read_text())["climbs"] for name in ("measured.json", "modelled.json"))
        counted = json.loads((HERE / "modelled.json").read_text())
        for climb in counted["climbs"]:
            for step in climb["steps"]:
                for key in "modelled_us", "modelled_low_us", "modelled_high_us", "bound", "why":
                    step.pop(key, None)
        (cls.folder / "counted.json").write_text(json.dumps(counted))
        for climb in counted["climbs"]:
            climb["steps"] = [{"name": "a", "wrong": "out[0] is </script> 1"}, {"name": "b", "unsupported": "not on Sundays"}]
        (cls.folder / "nothing.json").write_text(json.dumps(counted))
        for side in "modelled", "measured":
            record = (HERE / f"{side}.json").read_text()
            (cls.folder / f"long_{side}.json").write_text(record.replace('"vectors"', '"sequential_addressing_twice"'))
        for name, records in (("long", [cls.folder / "long_modelled.json", cls.folder / "long_measured.json"]), ("both", ["modelled.json", "measured.json"]), ("modelled", ["modelled.json"]), ("measured", ["measured.json"]),
                              ("counted", [cls.folder / "counted.json"]), ("nothing", [cls.folder / "nothing.json"])):
            words = [word for record in records for word in ("--from", HERE / record)]
            subprocess.run([os.environ["RIDGE_BINARY"], "climb", *words, "--html", cls.folder / f"{name}.html", "-q"], check=True)
        cls.browser = Browser()
        cls.browser.__enter__()
        cls.addClassCleanup(lambda: cls.browser.__exit__(None, None, None))

    def open(self, page, width=1400, dark=False, height=1000):
        self.browser.show_as(width, height, dark)
        self.browser.open(f"file://{self.folder}/{page}.html")

    def cells(self, climb):
        """The table as it is read: {rung: {column: text}}."""
        return self.browser.run(f"""
            const table = document.querySelectorAll("table.steps")[{climb}], heads = [...table.querySelectorAll("th")].map((t) => t.textContent);
            return Object.fromEntries([...table.tBodies].map((body) => [...body.rows[0].cells].map((t) => t.textContent))
                .map((row) => [row[0], Object.fromEntries(row.map((text, i) => [heads[i], text]))]));""")

    def test_numbers_are_those_of_the_records(self):
        self.open("both")
        for index, (measured, modelled) in enumerate(zip(self.measured, self.modelled)):
            cells = self.cells(index)
            timed = {step["name"]: median(step["us"]) for step in measured["steps"]}
            for name, us in timed.items():
                self.assertEqual(cells[name]["measured"].rstrip("*"), time_text(us))
            for step in modelled["steps"]:
                if "modelled_us" not in step:
                    continue
                row, us = cells[step["name"]], step["modelled_us"]
                self.assertEqual(row["modelled"].rstrip("*"), time_text(us))
                error = round(100 * (us / timed[step["name"]] - 1))
                self.assertEqual(row["error"], f"{error:+d} %".replace("-", "−"))
                self.assertTrue(row["bound by"].endswith(step["why"]))
        row, climb = self.cells(0)["vectors"], self.measured[0]
        us = median(next(step["us"] for step in climb["steps"] if step["name"] == "vectors"))
        self.assertEqual(row["of roof"], f"{100 * median(climb['memory']['us']) / us:.0f} %")
        self.assertEqual(row["GB/s"], f"{(climb['read'] + climb['written']) / us / 1e3:,.0f}")
        self.assertEqual(self.cells(0)["planted_wrong"]["result"], "wrong")
        us = median(self.measured[1]["steps"][-1]["us"])
        self.assertEqual(self.cells(1)["many_warps"]["of roof"], f"{100 * self.measured[1]['flops'] / 66.9e6 / us:.0f} %")
        self.assertIn("out[0] is 3, not 4", self.browser.text("table.steps"))

    def test_the_page_says_what_is_modelled_and_what_is_measured(self):
        self.open("both")
        text = self.browser.text("#sources")
        self.assertIn("modelled for NVIDIA H200, ± 17 – 18 % · 2026-11-18", text)
        self.assertIn("measured on NVIDIA H200 · 2026-11-16", text)
        self.open("measured")
        self.assertNotIn("modelled", self.browser.text("body"))

    def widths(self, climb):
        """By rung and kind: how far its bar reaches, as a share of the track."""
        return self.browser.run(f"""
            return Object.fromEntries([...document.querySelectorAll(".climb")[{climb}].querySelectorAll(".rung")].map((rung) =>
                [rung.querySelector(".name").textContent, Object.fromEntries([...rung.querySelectorAll(".bar")].map((bar) =>
                    [bar.classList[1], bar.querySelector("b").getBoundingClientRect().width / bar.getBoundingClientRect().width]))]));""")

    def test_bars_are_as_long_as_times(self):
        for width in 360, 1400:
            self.open("both", width)
            bars = self.widths(1)
            times = {(step["name"], "measured"): median(step["us"]) for step in self.measured[1]["steps"]}
            times |= {(step["name"], "modelled"): step["modelled_us"] for step in self.modelled[1]["steps"]}
            scales = [bars[name][kind] / us for (name, kind), us in times.items()]
            self.assertEqual(len(scales), 10)
            for scale in scales:
                self.assertAlmostEqual(scale / scales[0], 1, delta=0.02)

    def test_the_axis_is_logarithmic_where_times_differ_by_much(self):
        self.open("both")
        self.assertIn("logarithmic axis", self.browser.text(".legend"))
        bars = self.widths(0)
        times = {step["name"]: median(step["us"]) for step in self.measured[0]["steps"]}
        points = sorted((math.log(us), bars[name]["measured"]) for name, us in times.items())
        slope = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])
        for log, width in points:
            self.assertAlmostEqual(width, points[0][1] + slope * (log - points[0][0]), delta=0.01)

    def test_the_roof_and_the_library_are_lines_at_their_times(self):
        self.open("both")
        lines = self.browser.run("""
            const plot = document.querySelector(".plot"), under = plot.querySelector(".under").getBoundingClientRect();
            const of = (box) => (box - under.left) / under.width;
            return {roof: of(plot.querySelector(".under .roof").getBoundingClientRect().right),
                    rival: of(plot.querySelector(".under .rival").getBoundingClientRect().left),
                    best: Math.min(...[...plot.querySelectorAll(".rung:not(.rival) .bar.measured b")].map((b) => of(b.getBoundingClientRect().right)))};""")
        self.assertLess(lines["roof"], lines["best"])  # the fastest rung does not reach the roof
        bars = self.widths(0)
        self.assertAlmostEqual(lines["rival"], bars["CUB"]["measured"], delta=0.01)
        self.assertIn(f"not under {time_text(median(self.measured[0]['memory']['us']))}", self.browser.text(".legend"))

    def test_speed_turns_the_bars_round(self):
        self.open("both")
        before = self.widths(1)
        self.browser.click("[data-mode=speed]")
        after = self.widths(1)
        self.assertGreater(before["one_chain"]["measured"], before["many_warps"]["measured"])
        self.assertLess(after["one_chain"]["measured"], after["many_warps"]["measured"])
        self.assertEqual(self.browser.count("[data-mode=speed][aria-pressed=true]"), 2)  # of both ladders

    def test_every_time_is_a_point_on_the_roofline(self):
        self.open("both")
        points = self.browser.run("""
            return [...document.querySelectorAll(".roofline")].map((panel) => [...panel.querySelectorAll("g[data-step] .point")].map((p) => {
                const box = p.getBoundingClientRect();
                return [p.classList[1], +p.parentNode.dataset.step, box.left + box.width / 2, box.top + box.height / 2]; }));""")
        self.assertEqual([len(panel) for panel in points], [12, 10])  # 5 rungs twice and 2 rivals; 5 rungs twice
        for index, panel in enumerate(points):
            names = [rung.split(",")[0] for rung in self.browser.run(
                f'return [...document.querySelectorAll(".climb")[{index}].querySelectorAll(".rung")].map((r) => r.getAttribute("aria-label"))')]
            times = {step["name"]: step.get("modelled_us") for step in self.modelled[index]["steps"]}
            found = [(math.log10(times[names[step]]), y) for kind, step, _, y in panel if kind == "modelled"]
            (a, ya), *rest = found
            scale = max(((yb - ya) / (b - a) for b, yb in rest), key=abs)
            self.assertGreater(scale, 0)  # a longer time stands lower
            for b, yb in rest:
                self.assertAlmostEqual(yb - ya, scale * (b - a), delta=1)
        self.assertEqual(self.browser.count(".roofline .whisker"), 10)

    def test_nothing_is_wider_than_the_screen(self):
        measure = """
            const clipped = [...document.querySelectorAll("td, h1, h2, .name, .value, .hint, .legend li")].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth);
            const texts = [...document.querySelectorAll(".roofline div > svg")].map((svg) => {
                const frame = svg.getBoundingClientRect(), boxes = [...svg.querySelectorAll("text")].map((t) => t.getBoundingClientRect());
                const hit = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
                const marks = [...svg.querySelectorAll(".point, .whisker")].map((m) => m.getBoundingClientRect());
                return [[...boxes, ...marks].filter((b) => b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top || b.bottom > frame.bottom - 25 + 25 * boxes.includes(b)).length,
                        boxes.filter((a, i) => boxes.some((b, k) => k > i && hit(a, b))).length, Math.min(...boxes.map((b) => b.height))]; });
            const right = (e) => e.getBoundingClientRect().right;
            const out = [...document.querySelectorAll(".panel table, .panel .plot, .panel svg")].filter((e) => right(e) > right(e.closest(".panel")));
            return {out: out.length, page: document.documentElement.scrollWidth, screen: innerWidth, clipped: clipped.length, texts,
                    inner: [...document.querySelectorAll("main *")].filter((e) => /auto|scroll/.test(getComputedStyle(e).overflow)).length};"""
        for page in "both", "long", "modelled", "measured", "counted", "nothing":
            for width in 360, 800, 945, 1155, 1400:
                for dark in False, True:
                    with self.subTest(page=page, width=width, dark=dark):
                        self.open(page, width, dark)
                        seen = self.browser.run(measure)
                        self.assertLessEqual(seen["page"], seen["screen"])
                        self.assertEqual((seen["clipped"], seen["inner"], seen["out"]), (0, 0, 0))
                        for outside, overlapping, height in seen["texts"]:
                            self.assertEqual((outside, overlapping), (0, 0))
                            self.assertGreater(height, 10)  # readable
                        self.assertEqual(self.browser.errors(), [])

    def test_dark_and_light(self):
        light = """
            const of = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).map(Number); return (r + g + b) / 765; };
            return {back: of(getComputedStyle(document.body).backgroundColor), ink: of(getComputedStyle(document.body).color),
                    panel: of(getComputedStyle(document.querySelector(".panel")).backgroundColor)};"""
        self.open("both", dark=False)
        seen = self.browser.run(light)
        self.assertTrue(seen["back"] > 0.9 and seen["panel"] > 0.9 and seen["ink"] < 0.3, seen)
        self.open("both", dark=True)
        seen = self.browser.run(light)
        self.assertTrue(seen["back"] < 0.2 and seen["panel"] < 0.2 and seen["ink"] > 0.7, seen)

    def test_numbers_on_hover_and_by_keyboard(self):
        self.open("both")
        shown = 'const tip = document.getElementById("tip"); return tip.hidden ? "" : tip.textContent'
        self.assertEqual(self.browser.run(shown), "")
        self.browser.run('document.querySelector(".roofline g[data-step=\\"0\\"]").dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))')
        self.assertIn("one value per block", self.browser.run(shown))
        self.assertEqual(self.browser.run('return document.querySelectorAll(".climb .rung.on .name")[0].textContent'), "cpu_partials")
        self.browser.run('document.querySelector(".rung").focus()')
        press = 'document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "%s", bubbles: true, cancelable: true}));'
        self.browser.run(press % "ArrowDown")
        text = self.browser.run(shown)
        us = self.modelled[0]["steps"][1]["modelled_us"]
        for part in "global_atomics", time_text(us), "by atomics: 16,777,216 atomics on one address":
            self.assertIn(part, text)
        self.browser.run(press % "Escape")
        self.assertEqual(self.browser.run(shown), "")

    def test_an_index_leads_to_every_climb(self):
        self.open("both")
        links = self.browser.run('return [...document.querySelectorAll("#index a")].map((a) => !!document.querySelector(a.getAttribute("href")))')
        self.assertEqual(links, [True, True])

    def test_counted_instructions_are_bars_without_a_roof(self):
        self.open("counted")
        self.assertEqual(self.browser.count(".bar.counted"), 10)
        self.assertEqual(self.browser.count(".under .roof, .roofline"), 0)
        self.assertIn("1,012,345", self.browser.text(".plot"))

    def test_a_climb_without_any_number_says_why(self):
        self.open("nothing")
        self.assertEqual(self.browser.count(".bar"), 0)
        text = self.browser.text("table.steps")
        self.assertIn("out[0] is </script> 1", text)
        self.assertIn("not on Sundays", text)

    def test_on_paper_it_is_light_and_has_no_buttons(self):
        self.open("both", dark=True)
        self.browser._command("Emulation.setEmulatedMedia", {"media": "print"})
        seen = self.browser.run("""
            return [getComputedStyle(document.querySelector(".switch")).display, getComputedStyle(document.querySelector(".panel")).backgroundColor,
                    getComputedStyle(document.querySelector(".bar b")).printColorAdjust]""")
        self.browser._command("Emulation.setEmulatedMedia", {"media": ""})
        self.assertEqual(seen, ["none", "rgb(255, 255, 255)", "exact"])

    def test_the_page_needs_no_other_file(self):
        page = (self.folder / "both.html").read_text()
        for word in "<link", " src=", "@import", "url(", "fetch(":
            self.assertNotIn(word, page)


if __name__ == "__main__":
    unittest.main()
