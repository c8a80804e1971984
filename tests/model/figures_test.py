"""src/core/gpus.json: every figure has a field, a rule and an origin; what it says was measured is what the record says."""
import copy
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src" / "core"))
sys.path.insert(0, str(ROOT / "bench" / "model"))
import figures  # noqa: E402
import gpu_tables  # noqa: E402


def fields_of(header):
    """Names in struct Figures, in their order."""
    body = header[header.index("struct Figures {"):header.index("static constexpr int kSchedulers")]
    for line in re.findall(r"^  (?:double|int|std::array<double, \d+>) ([^;=]+)[;=]", body, re.M):
        yield from re.split(r",\s*", line.strip())


def fails(data, change, words):
    wrong = copy.deepcopy(data)
    change(wrong)
    try:
        for key, resolver in gpu_tables.resolvers(wrong).items():
            for name in wrong["rules"]: gpu_tables.check(key, name, resolver.figure(name)[0])
    except gpu_tables.Wrong as error:
        assert words in str(error), f"'{words}' is not in '{error}'"
        return
    raise AssertionError(f"nobody says '{words}'")


def main():
    data = gpu_tables.load()
    fields = list(fields_of((ROOT / "src/model/figures.h").read_text()))
    assert fields == list(data["rules"]), f"figures.h and the rules of gpus.json differ: {set(fields) ^ set(data['rules']) or 'in order'}"
    made = gpu_tables.resolvers(data)
    for key, entry in data["gpus"].items():
        for name, figure in entry["figures"].items():
            where = {"measured": "by", "fitted": "by", "published": "source", "assumed": "note"}[figure["from"]]
            assert where in figure, f"{key}: {name} is {figure['from']}, and does not say {where}"
            if "source" in figure: assert figure["source"] in data["sources"], f"{key}: {name} names an unknown source"
        if "record" not in entry:
            assert not any(f["from"] in ("measured", "fitted") for f in entry["figures"].values()), f"{key} has no record"
            continue
        record = json.loads((ROOT / entry["record"]).read_text())
        off = figures.differences(data, key, record)
        assert not off, "\n".join(off)
        assert figures.measured(data, key, record), f"{key} has a record, and no figure of it"
    # A difference is seen, and so is what cannot be.
    h200 = json.loads((ROOT / "bench/model/h200.json").read_text())
    wrong = copy.deepcopy(data)
    wrong["gpus"]["h200"]["figures"]["l2_latency"]["value"] = 300
    assert len(figures.differences(wrong, "h200", h200)) == 1
    fails(data, lambda d: d["gpus"]["h200"]["figures"].pop("l2_latency"), "needs a value for l2_latency")
    fails(data, lambda d: d["gpus"]["t4"]["figures"].update(l3_latency={"value": 1, "from": "assumed"}), "no rule for the figure l3_latency")
    fails(data, lambda d: d["gpus"]["t4"]["figures"]["l2_latency"].update(value=-1), "figures are above 0")
    fails(data, lambda d: d["rules"]["sms"].update(otherwise="sms + 1"), "sms needs sms")
    fails(data, lambda d: d["gpus"]["t4"].update(like="b200"), "has to stand before it")
    # A new card: what its record has is taken from there, the rest is derived; it can be told from the others.
    card = {"name": "NVIDIA H200 NVL", "compute_capability": "9.0", "spec": data["gpus"]["h200"]["spec"] | {"sm_count": 100},
            "figures": {"dram.read": {"value": 4000}, "clock.sm": {"value": 1900000}}}
    added = copy.deepcopy(data)
    figures.add(added, "h200nvl", card, "my.json", like="h200", checked=False)
    new = gpu_tables.resolvers(added)["h200nvl"]
    assert new.figure("dram_read_bytes_per_ns") == (4000, "measured: dram.read"), new.figure("dram_read_bytes_per_ns")
    assert abs(new.figure("dram_bytes_per_cycle")[0] - 1.01 * 4000 / 100 / 1.9) < 0.01
    assert new.figure("l2_latency")[1].startswith("derived") and new.figure("sms")[0] == 100
    assert json.loads(figures.text_of(added)) == added
    assert figures.nearest(data, {"major": 8, "minor": 7}) == "rtx3090" and figures.nearest(data, {"major": 12, "minor": 0}) == "b200"
    # To measure a known card again renews what was measured, and keeps the rest.
    again = copy.deepcopy(data)
    figures.add(again, "h200", h200, "bench/model/h200.json", like=None, checked=True)
    assert again["gpus"]["h200"]["figures"]["l1_latency"]["value"] != 33 and "like" not in again["gpus"]["h200"]
    assert again["gpus"]["h200"]["figures"]["l2_spread"] == data["gpus"]["h200"]["figures"]["l2_spread"]
    assert again["gpus"]["h200"]["spec"] == data["gpus"]["h200"]["spec"]
    assert figures.text_of(data) == (ROOT / "src/core/gpus.json").read_text(), "gpus.json is not laid out as figures.py writes it"


if __name__ == "__main__":
    main()
