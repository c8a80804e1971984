"""The command line about operators: what there is, climbs, explanations, comparisons of records."""
import json
import re
import sys
import unittest
from pathlib import Path

from cli_test import CliTest


class Catalogue(CliTest):
    """What there is: operators, their descriptions, the names they had before."""

    def families(self):
        return json.loads(self.ridge("list", "--json", "-")[0])["families"]

    def operators(self):
        return [operator for family in self.families() for operator in family["operators"]]

    def test_list_has_every_family(self):
        out, _ = self.ridge("list")
        families = self.families()
        self.assertGreater(len(families), 10)
        for family in families:
            self.assertIn(f"\n  {family['family']} ", out)  # in the catalogue, and shown as there
        operators, rungs = (sum(len(family[key]) for family in families) for key in ("operators", "rungs"))
        self.assertIn(f"\n{operators} operators in {len(families)} families, {rungs} rungs.", out)

    def test_the_tour_has_families_that_there_are(self):
        source = (Path(__file__).parents[2] / "tools/ridge/catalogue.h").read_text()
        tour = re.findall(r'"(\w+)"', source[source.index("tour_families"):])
        self.assertGreater(len(tour), 5)
        self.assertLessEqual(set(tour), {family["family"] for family in self.families()})

    def test_list_of_rungs(self):
        out, _ = self.ridge("list", "--rungs")
        self.assertIn("  01  thread_per_element ", out)
        for family in self.families():
            for number, rung in enumerate(family["rungs"], 1):
                self.assertRegex(out, rf"\n  {number:02}  {rung['name']} +\S")

    def test_list_of_names(self):
        out, _ = self.ridge("list", "--names")
        self.assertEqual(out.splitlines(), [operator["name"] for operator in self.operators()])

    def test_page_of_an_operator(self):
        out, _ = self.ridge("list", "gemv")
        self.assertTrue(out.startswith("gemv  y = alpha A x + beta y\n"))
        for line in [r"Sizes, in the order of --shape\n  --rows", r"  a\[rows, cols\] +read +f32 f16 bf16 ",
                     r"  x\[cols\] +read +as a ", r"  y\[rows\] +read, written ", r"  --alpha +number +1 +factor",
                     r"  --beta +number +0 ", r"  01  \w+ +\w", r"  --dtype +f32 f16 bf16\n",
                     r"  C +ridge_gemv, ridge/c\.h\n", r"  C\+\+ +ridge::gemv, ridge/linear\.h\n"]:
            self.assertRegex(out, line)
        self.assertRegex(self.ridge("list", "softmax")[0], r"  backward +softmax_backward\n")

    def test_page_of_every_operator(self):
        families = self.families()
        out, _ = self.ridge("list", *(op["name"] for family in families for op in family["operators"]))
        pages = re.split(r"explain \w+` says which rung a size gets\.\n\n?", out)[:-1]
        pages = dict(page.split("  ", 1) for page in pages)
        for family in families:
            for operator in family["operators"]:
                page = pages[operator["name"]]
                self.assertTrue(page.startswith(operator["formula"] + "\n"), page)
                for tensor in operator["tensors"]:
                    self.assertIn(f"\n  {tensor['name']}[{tensor['shape']}] ", page)
                for setting in operator["dimensions"] + operator["parameters"]:
                    self.assertRegex(page, rf"\n  --{setting['name']}\b")
                for rung in family["rungs"]:
                    self.assertIn(f"  {rung['name']} ", page)

    def test_a_name_leads_to_one_operator(self):
        leads_to = {}
        for operator in self.operators():
            for name in (operator["name"], *operator.get("aliases", ())):
                self.assertNotIn(name, leads_to)
                leads_to[name] = operator["name"]
        out, _ = self.ridge("list", *leads_to)
        pages = re.findall(r"\n`ridge climb (\w+)` climbs it", out)
        self.assertEqual(pages, list(leads_to.values()))

    def test_names_in_old_records_are_known(self):
        records = (Path(__file__).parents[2] / "bench" / "results").glob("*.json")
        names = {climb["operator"] for record in records for climb in json.loads(record.read_text()).get("climbs", ())}
        self.assertGreater(len(names), 20)
        self.ridge("list", *names)

    def test_a_family_is_its_first_operator(self):
        self.assertTrue(self.ridge("list", "reduce")[0].startswith("sum  "))

    def test_json_of_some(self):
        record = json.loads(self.ridge("list", "softmax_bwd", "gemv", "--json", "-")[0])
        self.assertEqual(record["schema"], 2)
        self.assertEqual({op["name"] for family in record["families"] for op in family["operators"]},
                         {"gemv", "softmax_backward"})

    def test_unknown_operator(self):
        for verb in "list", "climb", "explain":
            _, error = self.ridge(verb, "softmx", code=2)
            self.assertIn("there is no operator 'softmx'. Did you mean 'softmax'? `ridge list` shows them.", error)


class Ladders(CliTest):
    def test_climb(self):
        out, _ = self.ridge("climb", "--device", "vm", "add", "--shape", "1000", "--dtype", "bf16")
        self.assertRegex(out, r"add 1000 bf16\b")
        self.assertRegex(out, r"\n  vectors +right +[\d,.]+ ")
        self.assertEqual(len(list((self.folder / "results").glob("climb-*.json"))), 1)

    def test_climb_with_sizes_and_parameters(self):
        out, _ = self.ridge("climb", "--device", "vm", "gemv", "--rows", "96", "--cols", "40", "--dtype", "bf16",
                            "--alpha", "2", "--json", "climb.json")
        self.assertRegex(out, r"gemv 96x40 bf16 alpha=2\b")
        self.assertRegex(out, r"\n  \w+ +right +[\d,.]+ ")
        (climb,) = json.loads((self.folder / "climb.json").read_text())["climbs"]
        self.assertEqual((climb["operator"], climb["shape"], climb["dtype"], climb["parameters"]),
                         ("gemv", "96x40", "bf16", {"alpha": 2}))

    def test_climb_with_formats_and_a_distribution(self):
        out, _ = self.ridge("climb", "--device", "vm", "embedding", "--tokens", "9", "--vocab", "20", "--dim=8",
                            "--dtype", "table=bf16", "--distribution", "padding", "--rung", "vectors")
        self.assertRegex(out, r"embedding 9x20x8 .*table=bf16.* distribution=padding\b")

    def test_climb_by_an_old_name(self):
        for old, new in ("softmax_bwd", "softmax_backward"), ("vector_add", "add"), ("reduce", "sum"):
            out, _ = self.ridge("climb", "--device", "vm", old, "--shape", "4x64" if old == "softmax_bwd" else "256")
            self.assertIn(f"{new} ", out.splitlines()[0])

    def test_climb_of_a_rung_with_its_number(self):
        out, _ = self.ridge("climb", "--device", "vm", "add", "--shape", "1000", "--rung", "03_vectors")
        self.assertRegex(out, r"\n  vectors +right ")
        self.assertNotIn("grid_stride", out)

    def test_climb_of_every_variant_of_a_rung(self):
        out, _ = self.ridge("climb", "--device", "vm", "gemm", "--m", "48", "--n", "40", "--k", "32", "--dtype", "bf16",
                            "--rung", "tile_sizes", "--variants", "--transposed", "a,b")
        rows = re.findall(r"\n  tile_sizes (\w+(?: pairs)?) +right ", out)
        self.assertGreater(len(rows), 4)
        self.assertEqual(len(rows), len(set(rows)))
        self.assertIn(" a=transposed b=transposed", out.splitlines()[0])

    def test_all_is_for_tours(self):
        _, error = self.ridge("climb", "--device", "vm", "--all", "add", code=2)
        self.assertIn("--all climbs all families", error)

    def test_climb_of_an_operator_that_the_tour_is_not_of(self):
        for name in "rgb_invert", "clip_by_global_norm", "embedding":
            out, _ = self.ridge("climb", "--device", "vm", name, "--rung", "vectors")
            self.assertRegex(out, rf"{name} [\dx]+ \w+\b")

    def test_climb_records(self):
        out, _ = self.ridge("climb", "--device", "vm", "add", "--rung", "vectors", "--instructions", "--json", "-",
                            "--csv", "climb.csv", "--html", "climb.html")
        record = json.loads(out)
        self.assertEqual(record["device"]["kind"], "vm")
        (climb,) = record["climbs"]
        (step,) = climb["steps"]
        self.assertEqual(step["name"], "vectors")
        self.assertGreater(step["warp_instructions"], 1000)
        self.assertIn("ridge climb", (self.folder / "climb.html").read_text())
        rows = (self.folder / "climb.csv").read_text().splitlines()
        self.assertEqual(len(rows), 2)
        self.assertTrue(rows[1].startswith("add,f32,"))
        self.assertEqual(dict(zip(rows[0].split(","), rows[1].split(",")))["result"], "right")

    def test_climb_keeps_every_record(self):
        for _ in range(3):  # within a second or two
            self.ridge("climb", "--device", "vm", "add", "--shape", "100")
        self.assertEqual(len(list((self.folder / "results").glob("climb-*.json"))), 3)

    def test_climb_where_nothing_can_be_kept(self):
        self.write("results", "a file, no folder")
        out, error = self.ridge("climb", "--device", "vm", "add", "--shape", "100", "--csv", "climb.csv")
        self.assertIn("not kept: cannot write results/", error)
        self.assertEqual(len((self.folder / "climb.csv").read_text().splitlines()), 4)

    def test_refusals(self):
        for arguments, complaint in [
                (["add", "--shape", "3x"], "'3x' is no shape"),
                (["gemv", "--shape", "3"], "gemv takes a shape of 2 numbers (ROWSxCOLS), not 3"),
                (["gemv", "--rows", "-3"], "--rows: '-3' is no size"),
                (["gemv", "--rows", "99999999", "--cols", "99999999"], "is more than any memory holds"),
                (["gemv", "--row", "3"], "gemv has no size or parameter 'row'. Did you mean 'rows'? "
                                         "It has rows, cols, alpha, beta."),
                (["gemv", "--alhpa", "3"], "gemv has no size or parameter 'alhpa'. Did you mean 'alpha'? "
                                           "It has rows, cols, alpha, beta."),
                (["gemv", "--alpha", "much"], "--alpha: 'much' is no number"),
                (["gemv", "--alpha"], "--alpha wants a value"),
                (["dropout", "--probability", "2"], "probability is 2; it has to be at least 0 and at most 1"),
                (["add", "--dtype", "f64"], "add has no format 'f64'. It has f32, f16, bf16."),
                (["add", "--dtype", "bf61"], "add has no format 'bf61'. Did you mean 'bf16'? It has f32, f16, bf16."),
                (["embedding", "--dtype", "tabel=f16"], "embedding has no tensor 'tabel'. Did you mean 'table'? "
                                                        "It has tokens, table, out."),
                (["embedding", "--dtype", "tokens=f16"], "embedding has no format 'f16'. It has i32."),
                (["embedding", "--dtype", "out=f16"], "the format of out follows from that of table"),
                (["embedding", "--distribution", "uniforn"], "embedding has no distribution 'uniforn'. "
                                                             "Did you mean 'uniform'? It has uniform, padding."),
                (["gemv", "--distribution", "uniform"], "gemv has no distributions to choose from"),
                (["add", "--transposed", "a"], "add takes no tensor transposed"),
                (["gemm", "--transposed", "d,bias"], "gemm does not take bias transposed, but a, b, d, c"),
                (["add", "--seed", "x"], "--seed: 'x' is not a number")]:
            for verb in "climb", "explain":
                _, error = self.ridge(verb, "--device", "vm", *arguments, code=2)
                self.assertIn(complaint, error)

    def test_climb_refuses(self):
        for arguments, complaint in [
                (["add", "--rung", "vektors"], "add has no rung 'vektors'. Did you mean 'vectors'?"),
                (["add", "--json", "-", "--csv", "-"], "cannot both go to stdout"),
                (["--dtype", "bf16"], "belong to an operator"),
                (["--distribution", "uniform"], "belong to an operator"),
                (["--shape", "3"], "belong to an operator"),
                (["--rung", "vectors"], "--rung belongs to an operator"),
                (["--rows", "3"], "there is no flag '--rows'"),
                (["--hott"], "Did you mean '--hot'?")]:
            _, error = self.ridge("climb", "--device", "vm", *arguments, code=2)
            self.assertIn(complaint, error)

    def test_explain(self):
        out, _ = self.ridge("explain", "--device", "vm", "add", "--n", "1048576", "--dtype", "f16")
        self.assertIn("add 1048576 f16 on NVIDIA H200 (software GPU)\n", out)
        self.assertRegex(out, r"→ +vectors +[\d.]+ µs +least")
        self.assertRegex(out, r"grid_stride +a lesson")

    def test_explain_of_every_operator_without_a_size(self):
        for name in self.ridge("list", "--names")[0].split():
            answer = json.loads(self.ridge("explain", "--device", "vm", name, "--predicted", "--json", "-")[0])
            self.assertTrue(answer["chosen"], name)

    def test_explain_asks_the_model_where_predictions_are_close(self):
        explain = ["explain", "--device", "vm", "softmax", "--shape", "300x4096", "--json", "-"]
        answer = json.loads(self.ridge(*explain)[0])
        modelled = {c["rung"]: c["modelled_us"] for c in answer["candidates"] if "modelled_us" in c}
        self.assertGreater(len(modelled), 1)
        self.assertEqual(answer["chosen"], min(modelled, key=modelled.get))
        predicted = {c["rung"]: c["predicted_us"] for c in answer["candidates"] if "predicted_us" in c}
        for rung, us in predicted.items():
            self.assertEqual(rung in modelled, us <= 1.5 * min(predicted.values()), rung)
        answer = json.loads(self.ridge(*explain, "--predicted")[0])
        self.assertEqual(answer["chosen"], min(predicted, key=predicted.get))

    def test_explain_takes_sizes_and_parameters(self):
        out, _ = self.ridge("explain", "--device", "vm", "gemv", "--rows", "4096", "--cols", "512", "--beta", "0.5",
                            "--json", "-")
        answer = json.loads(out)
        self.assertEqual((answer["shape"], answer["parameters"]), ("4096x512", {"beta": 0.5}))
        self.assertIn(answer["chosen"], [candidate["rung"] for candidate in answer["candidates"]])

    def test_explain_of_nothing_to_do(self):
        out, _ = self.ridge("explain", "--device", "vm", "copy", "--shape", "0x5")
        self.assertIn("Nothing to do: ", out)
        self.assertNotIn("→", out)

    def test_explain_says_what_a_study_is(self):
        out, _ = self.ridge("explain", "--device", "vm", "match_redux")
        self.assertIn("A study: all its rungs are lessons, of which the library takes the last.", out)

    def test_compare(self):
        def record(name, scale):
            samples = [scale * (100 + i % 5) for i in range(40)]
            text = {"climbs": [{"operator": "x", "dtype": "f32", "shape": "1", "steps": [
                {"name": "rung", "us": samples}, {"name": "few", "us": samples[:2]}]}]}
            return self.write(name, json.dumps(text))
        before, after = record("a.json", 1.0), record("b.json", 0.8)
        out, _ = self.ridge("compare", before, after)
        self.assertRegex(out, r"rung .*0\.800 .*faster")
        self.assertRegex(out, r"few .*can't tell")
        self.assertRegex(self.ridge("compare", after, before)[0], r"rung .*slower")
        self.assertRegex(self.ridge("compare", before, before)[0], r"rung .*same")
        self.ridge("compare", before, code=2)
        for text in ["{}", "[]", "", '{"climbs": [1]}', '{"climbs": {"a": 1}}', '{"climbs": [{"operator": 5}]}',
                     '{"climbs": [{"steps": [{"us": "x"}]}]}', '{"climbs": [], "device": 3}', '{"climbs": [']:
            self.assertIn("is no record of a climb",
                          self.ridge("compare", before, self.write("c.json", text), code=2)[1], text)
        self.assertIn("is no record of a climb", self.ridge("compare", before, ".", code=2)[1])
        none = self.write("d.json", json.dumps({"climbs": [{"operator": "x", "dtype": "f32", "shape": "0", "steps": [
            {"name": "rung", "warp_instructions": 0}]}]}))
        self.assertRegex(self.ridge("compare", none, none)[0], r"rung .*1\.000 .*same")

    def test_compare_knows_old_names(self):
        def record(name, operator, rung):
            return self.write(name, json.dumps({"climbs": [{"operator": operator, "dtype": "f32", "shape": "4x4", "steps": [
                {"name": rung, "us": [100 + i % 5 for i in range(40)]}]}]}))
        now = record("now.json", "gemv", "split_rows")
        self.assertRegex(self.ridge("compare", record("old.json", "gemv", "vectors"), now)[0], r"split_rows .*same")
        # Other operators have a rung of that name today.
        add = record("add.json", "add", "vectors")
        self.assertRegex(self.ridge("compare", record("old.json", "vector_add", "vectors"), add)[0], r"vectors .*same")


if __name__ == "__main__":
    sys.exit(unittest.main())
