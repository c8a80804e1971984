"""ridge tune on the software GPU, and the selection that follows its table."""
import json
import sys
import unittest

from cli_test import CliTest

GEMM = ["gemm", "--device", "vm", "--gpu", "h200"]
TUNE = ["tune", *GEMM, "--rung", "reached_by_copies", "--dtype", "bf16", "--shapes", "2", "--json", "-"]
EXPLAIN = ["explain", *GEMM, "--shape", "1x1024x1024x1024", "--dtype", "bf16", "--predicted", "--json", "-"]


class Tune(CliTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.table = self.folder / "config/ridge/tuning/nvidia-h200-software/gemm.json"

    def table_with(self, **changes):
        table = {"schema": 1, "family": "gemm", "gpu": "NVIDIA H200", "software": True, "rungs": {}, "samples": []}
        self.table.parent.mkdir(parents=True, exist_ok=True)
        self.table.write_text(json.dumps({**table, **changes}))

    def chosen(self):
        out, err = self.ridge(*EXPLAIN)
        return json.loads(out)["chosen"], err

    def test_measures_once_and_goes_on(self):
        first = json.loads(self.ridge(*TUNE)[0])
        self.assertEqual(first["table"], str(self.table))
        self.assertGreater(first["candidates"], 0)
        self.assertEqual(first["measured"], first["candidates"])
        table = json.loads(self.table.read_text())
        self.assertEqual(len(table["samples"]), first["candidates"])
        self.assertEqual({sample["rung"] for sample in table["samples"]}, {"reached_by_copies"})

        # Counts times constants give the errors that the table tells.
        for name, variant in table["rungs"]["reached_by_copies"].items():
            errors = sorted(abs(self.predicted(sample, variant["constants"]) / sample["us"] - 1)
                            for sample in table["samples"] if sample["variant"] == name)
            self.assertEqual(len(errors), variant["samples"])
            self.assertAlmostEqual(errors[len(errors) // 2], variant["median_error"], places=6)

        again = json.loads(self.ridge(*TUNE)[0])
        self.assertEqual((again["measured"], again["known"]), (0, first["candidates"]))
        self.assertEqual(json.loads(self.table.read_text())["samples"], table["samples"])

        # A run that ended early: what is missing is measured, and nothing else.
        table["samples"] = table["samples"][:-3]
        self.table.write_text(json.dumps(table))
        rest = json.loads(self.ridge(*TUNE)[0])
        self.assertEqual((rest["measured"], rest["known"]), (3, first["candidates"] - 3))

    @staticmethod
    def predicted(sample, constants):
        counts = sample["counts"]
        work = sum(count * us for count, us in zip(counts[1:], constants[1:]))
        return sample["besides_us"] + counts[0] * constants[0] + max(work, sample["memory_us"])

    def test_selection_follows_the_table(self):
        cheap = {"constants": [0.001, 0, 0, 0]}
        for rung, variant in ("tile_sizes", "64x64"), ("split_k", "128x128/1"), ("reached_by_copies", "64x64"):
            self.table_with(rungs={rung: {variant: cheap}})
            self.assertEqual(self.chosen()[0], rung)

    def test_tables_that_cannot_be_used(self):
        usual, err = self.chosen()
        self.assertNotIn("is not used", err)
        cheap = {"reached_by_copies": {"64x64": {"constants": [0.001, 0, 0, 0]}}}
        for changes, why in ((dict(gpu="NVIDIA B200"), "made on NVIDIA B200"), (dict(software=False), "this is NVIDIA H200"),
                             (dict(schema=0), "schema"), (dict(family="scan"), "of the family scan")):
            self.table_with(rungs=cheap, **changes)
            chosen, err = self.chosen()
            self.assertEqual(chosen, usual)
            self.assertIn("gemm.json is not used: ", err)
            self.assertIn(why, err)
        self.table_with(rungs={"reached_by_copies": {"64x64": {"constants": [-1, 0, 0, 0]}}})
        self.assertIn("negative", self.chosen()[1])
        self.table.write_text("{")
        chosen, err = self.chosen()
        self.assertEqual(chosen, usual)
        self.assertIn("`ridge tune gemm --again` makes a new one", err)
        self.assertIn("--again", self.ridge(*TUNE, code=2)[1])  # it is not written over unasked
        self.assertEqual(self.table.read_text(), "{")

    def test_what_cannot_be_tuned(self):
        self.assertIn("tune what?", self.ridge("tune", code=2)[1])
        self.assertIn("there is no operator", self.ridge("tune", "gem", "--device", "vm", code=2)[1])
        self.assertIn("has nothing to tune", self.ridge("tune", *GEMM, "--rung", "naive", code=2)[1])
        self.assertIn("--shapes", self.ridge("tune", *GEMM, "--shapes", "0", code=2)[1])


if __name__ == "__main__":
    sys.exit(unittest.main())
