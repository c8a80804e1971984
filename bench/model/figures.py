#!/usr/bin/env python3
"""Turns a record of measure.py into figures of src/core/gpus.json.

    figures.py RECORD                          prints each figure that the record gives, beside what gpus.json has
    figures.py RECORD --add KEY [--like GPU]   adds the card to gpus.json, or renews its measured figures

A figure whose rule has no `record`, or whose measurement the record lacks, follows from the card's spec and from the card that it
is like. `--checked` says that modelled times were compared with this card.
"""
import argparse
import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src" / "core"))
import gpu_tables  # noqa: E402

NEAR = 0.06  # how far a measured figure may be from the record: it is rounded, and two runs differ by some percent
NEAR_CURVE = 0.15


def rounded(value):
    if isinstance(value, list): return [rounded(one) for one in value]
    return value if isinstance(value, int) else float(f"{value:.5g}")


def from_record(resolver, record):
    """By figure: the value and the names of the measurements, for those that the record gives."""
    found, renewed = {}, {}
    for name, rule in resolver.rules.items():
        if "record" not in rule: continue
        used = {}
        try:
            value = resolver.evaluate(rule["record"], name, gpu_tables.record_functions(record, used) | renewed)
        except KeyError:
            continue  # not measured on this card
        found[name] = (rounded(value), ", ".join(used))
        if name == "clock_ghz": renewed[name] = value  # the rules below count in cycles of the measured clock
    return found


def measured(data, key, record):
    """By figure that gpus.json calls measured: its value there and in the record."""
    resolver = gpu_tables.resolvers(data)[key]
    given = data["gpus"][key]["figures"]
    return {name: (given[name]["value"], value) for name, (value, _) in from_record(resolver, record).items()
            if given.get(name, {}).get("from") == "measured"}


def differences(data, key, record):
    """What gpus.json calls measured and has otherwise than the record."""
    seen, off = measured(data, key, record), []
    for name, figure in data["gpus"][key]["figures"].items():
        if figure["from"] != "measured": continue
        if name not in seen:
            off.append(f"{key}: {name} is called measured, and the record does not give it")
            continue
        ours, theirs = seen[name]
        near = NEAR_CURVE if isinstance(ours, list) else NEAR
        pairs = zip(ours, theirs) if isinstance(ours, list) else [(ours, theirs)]
        if any(abs(a / b - 1) > near for a, b in pairs): off.append(f"{key}: {name} is {ours}, and {theirs} in the record")
    return off


def nearest(data, spec):
    """The card of the same compute capability, or of the nearest below it."""
    def number(one): return (one["major"], one["minor"])
    older = [key for key, entry in data["gpus"].items() if number(entry["spec"]) <= number(spec)]
    return max(older, key=lambda key: number(data["gpus"][key]["spec"]), default=next(iter(data["gpus"])))


def add(data, key, record, path, like, checked):
    known = data["gpus"].get(key, {})
    spec = record.get("spec") or known.get("spec")
    if not spec: raise gpu_tables.Wrong(f"{path} has no spec: `ridge device --measure` writes records with one")
    if not like: like = known.get("like") if known else nearest(data, spec)
    entry = data["gpus"][key] = known | {"name": record["name"], "record": path, "checked": checked,
                                         "spec": known.get("spec", {}) | spec, "spec_source": "card"}
    if like: entry["like"] = like
    entry["figures"] = {name: figure for name, figure in entry.get("figures", {}).items() if figure["from"] != "measured"}
    resolver = gpu_tables.resolvers(data)[key]
    new = {name: {"value": value, "from": "measured", "by": by} for name, (value, by) in from_record(resolver, record).items()}
    both = entry["figures"] | new
    entry["figures"] = {name: both[name] for name in data["rules"] if name in both}


def text_of(data):
    """One line per source, rule and figure."""
    def line(value): return json.dumps(value, ensure_ascii=False)
    def block(items, indent): return ",\n".join(" " * indent + f"{line(key)}: {line(value)}" for key, value in items.items())
    cards = []
    for key, entry in data["gpus"].items():
        head = ", ".join(f"{line(name)}: {line(entry[name])}" for name in ("name", "record", "like", "checked") if name in entry)
        cards.append(f'  {line(key)}: {{{head},\n   "spec": {line(entry["spec"])},\n   "spec_source": {line(entry["spec_source"])},\n'
                     f'   "figures": {{\n{block(entry["figures"], 4)}}}}}')
    about = ",\n".join("  " + line(one) for one in data["about"])
    return (f'{{\n "about": [\n{about}\n ],\n "sources": {{\n{block(data["sources"], 2)}\n }},\n "rules": {{\n{block(data["rules"], 2)}\n }},\n'
            ' "gpus": {\n' + ",\n".join(cards) + "\n }\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--add", metavar="KEY", help="the card's name for --gpu: a100")
    parser.add_argument("--like", metavar="GPU", help="the card that gives what the record lacks (default: the nearest compute capability)")
    parser.add_argument("--checked", action="store_true")
    options = parser.parse_args()
    data = gpu_tables.load()
    record = json.loads(options.record.read_text())
    if options.like and options.like not in data["gpus"]: sys.exit(f"there is no GPU {options.like}; known: {' '.join(data['gpus'])}")
    if options.add:
        kept = ROOT / "bench" / "model" / f"{options.add}.json"
        add(data, options.add, record, str(kept.relative_to(ROOT)), options.like, options.checked)
        gpu_tables.resolvers(data)  # says what is wrong before anything is written
        if options.record.resolve() != kept: shutil.copyfile(options.record, kept)
        gpu_tables.DATA.write_text(text_of(data))
        print(f"{options.add} is in {gpu_tables.DATA}, its record in {kept}; ./ridge build, then --gpu {options.add}", file=sys.stderr)
        return 0
    key = next((key for key, entry in data["gpus"].items() if entry["name"] == record["name"]),
               options.like or nearest(data, record["spec"]))
    resolver = gpu_tables.resolvers(data)[key]
    for name, (value, by) in from_record(resolver, record).items():
        print(f"{name:30} {value!s:>12}  {resolver.figure(name)[0]!s:>12} in gpus.json for {key}, by {by}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except gpu_tables.Wrong as wrong:
        sys.exit(str(wrong))
