"""The page of `ridge profile --html`.

    RIDGE_BINARY=… RIDGE_PLANTED=… page_test.py
"""
import json
import os
import sys
import unittest
from pathlib import Path

from ridge_profile import HERE, ProfileTest

sys.path.insert(0, str(HERE.resolve().parent))
from browser import Browser, missing_browser  # noqa: E402

LONG = "DeviceScanKernel<cub::policy_hub<int, int, unsigned, cuda::std::plus<void>>::Policy1000, thrust::detail::" \
       "normal_iterator<thrust::device_ptr<int>>, thrust::detail::normal_iterator<thrust::device_ptr<int>>, int>"


SHORT = "DeviceScanKernel<…>"


class Page(ProfileTest):
    """The page in a browser, at the widths of a telephone, a tablet and a screen."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if missing := missing_browser():
            raise unittest.SkipTest(missing)
        cls.program = Path(os.environ["RIDGE_PLANTED"]) / "profile_planted_work"
        done = cls.run_ridge(cls.program, "--html", "planted.html", "-q")
        assert done.returncode == 0, done.stderr
        done = cls.run_ridge(HERE / "small.cu", "--html", "tiny.html", "-q")
        assert done.returncode == 0, done.stderr
        page = (cls.folder / "planted.html").read_text()
        begin = page.index('id="record">') + len('id="record">')
        end = page.index("</script>", begin)
        record = json.loads(page[begin:end])

        def write(name, kernels, source=None):
            changed = dict(record, kernels=kernels)
            if source:
                changed["sources"] = {file: source(lines) for file, lines in record["sources"].items()}
            (cls.folder / name).write_text(page[:begin] + json.dumps(changed).replace("</", "<\\/") + page[end:])
        write("long.html", [dict(k, name=f"{LONG}_{i}>", full_name=f"{LONG}_{i}>", short_name=SHORT,
                                 verdict=k["verdict"].replace(k["name"], SHORT))
                            for i, k in enumerate(record["kernels"])])
        write("many.html", [dict(k, name=f"{k['name']}_{i}") for i in range(4) for k in record["kernels"]][:61],
              lambda lines: lines + ["// and on"] * (20000 - len(lines)))

    def test_nothing_is_wider_than_the_screen_and_source_is_seen(self):
        measure = """
            const texts = [...document.querySelectorAll("tr.counted td.text")].map((t) => t.getBoundingClientRect());
            const clipped = [...document.querySelectorAll("td.text, .advice p, h1, #kernels button")]
                .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).textOverflow !== "ellipsis");
            const inner = [...document.querySelectorAll("main *")].filter((e) => /auto|scroll/.test(getComputedStyle(e).overflow));
            return {page: document.documentElement.scrollWidth, screen: innerWidth, clipped: clipped.length, inner: inner.length,
                    text: Math.min(...texts.map((t) => t.width)), rows: texts.length, top: Math.min(...texts.map((t) => t.top))};"""
        with Browser() as browser:
            for page in "planted", "tiny", "long", "many":
                for width, least in (390, 250), (768, 420), (1400, 800):
                    for dark in False, True:
                        with self.subTest(page=page, width=width, dark=dark):
                            browser.show_as(width, 1000, dark)
                            browser.open(f"file://{self.folder}/{page}.html")
                            seen = browser.run(measure)
                            self.assertLessEqual(seen["page"], seen["screen"])
                            self.assertEqual((seen["clipped"], seen["inner"]), (0, 0))
                            self.assertGreater(seen["rows"], 1)
                            self.assertGreaterEqual(seen["text"], least)
                            self.assertLess(seen["top"], 1000)
                            self.assertEqual(browser.errors(), [])

    def test_long_names_are_short_and_whole_in_the_tooltip(self):
        with Browser() as browser:
            browser.show_as(1400)
            browser.open(f"file://{self.folder}/long.html")
            self.assertTrue(browser.text("#verdict").startswith(SHORT))
            self.assertEqual(browser.text("#kernels button").split()[0], SHORT)
            title = browser.run('return document.querySelector("#kernels button").title')
            self.assertIn("normal_iterator", title)

    def test_columns_without_numbers_are_not_there(self):
        with Browser() as browser:
            browser.show_as(1400)
            browser.open(f"file://{self.folder}/tiny.html")
            heads = browser.run('return [...document.querySelectorAll("th")].map((t) => t.textContent).filter(Boolean)')
            self.assertEqual(heads, ["cost", "warp instr.", "lanes", "sectors"])  # no wavefronts

    def test_no_label_of_the_roofline_lies_on_a_point(self):
        with Browser() as browser:
            browser.show_as(1400)
            browser.open(f"file://{self.folder}/tiny.html")
            self.assertEqual(browser.count("#roofline svg circle"), 2)
            overlap = """
                const boxes = [...document.querySelectorAll("#roofline svg text")].map((t) => t.getBoundingClientRect());
                return [...document.querySelectorAll("#roofline svg circle")].map((c) => c.getBoundingClientRect())
                    .filter((c) => boxes.some((b) => b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom)).length"""
            self.assertEqual(browser.run(overlap), 0)


if __name__ == "__main__":
    unittest.main()
