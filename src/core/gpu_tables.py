#!/usr/bin/env python3
"""Makes C++ tables of gpus.json: one row per GPU for ridge::GpuSpec, and one for ridge::model::Figures.

    gpu_tables.py SPECS.inc FIGURES.inc      the build runs this
    gpu_tables.py --list [GPU…]              every figure with its value and where it comes from

A figure that a GPU's entry lacks follows from its rule; an expression sees the GPU's `spec`, its other figures by name, and `like`,
the figures (and `like.spec`) of the card that it is like.
"""
import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

DATA = Path(__file__).resolve().parent / "gpus.json"
ORIGINS = ("measured", "fitted", "published", "assumed")


class Wrong(Exception):
    pass


def load(path=DATA):
    return json.loads(Path(path).read_text())


def places(curve, name):
    if "at" not in curve: raise Wrong(f"{name} is a single value, not a curve")
    return dict(zip(curve["at"], curve["value"]))


def record_functions(record, used):
    """What a rule's `record` expression may call; KeyError where the record lacks the measurement. Adds to `used` what it looks at."""
    def figure(*names):  # the first that was measured: mma.sync where there is no wgmma
        name = next((name for name in names if name in record["figures"]), names[0])
        used[name] = record["figures"][name]
        return used[name]
    return {"value": lambda name: figure(name)["value"],
            "at": lambda name, place: places(figure(name), name)[place],
            "at_each": lambda name, several: [places(figure(name), name)[place] for place in several],
            "most": lambda *names: max(figure(*names)["value"])}


class Resolver:
    """The figures of one GPU, each with its origin."""

    def __init__(self, data, key, like=None):
        self.entry, self.rules, self.key, self.like = data["gpus"][key], data["rules"], key, like
        self.spec = SimpleNamespace(**self.entry["spec"])
        self.found, self.open = {}, []

    def __getattr__(self, name):  # like.l2_latency
        if name.startswith("_") or name not in self.rules: raise AttributeError(name)
        return self.figure(name)[0]

    def figure(self, name):
        """The value, and where it comes from."""
        if name not in self.found:
            if name in self.open: raise Wrong(f"{self.key}: {' needs '.join([*self.open, name])}")
            self.open.append(name)
            self.found[name] = self.resolve(name)
            self.open.pop()
        return self.found[name]

    def resolve(self, name):
        given = self.entry["figures"].get(name)
        if given:
            if given["from"] not in ORIGINS: raise Wrong(f"{self.key}: {name} is from '{given['from']}'; known: {' '.join(ORIGINS)}")
            about = ", ".join(str(given[word]) for word in ("by", "source", "note") if word in given)
            value = self.evaluate(given["rule"], name) if "rule" in given else given["value"]
            return value, f"{given['from']}: {about}"
        rule = self.rules[name]
        return self.evaluate(rule["otherwise"], name), f"derived: {rule['otherwise']} ({rule['because']})"

    def evaluate(self, expression, name, more=()):
        if "like." in expression and not self.like:
            raise Wrong(f"{self.key} needs a value for {name}: it is like no other card")
        names = Names(self, dict(more))
        try:
            return eval(expression, {"__builtins__": {}}, names)
        except (AttributeError, NameError, TypeError, SyntaxError, ZeroDivisionError) as error:
            raise Wrong(f"{self.key}: the rule of {name}, `{expression}`, fails: {error}") from error


class Names(dict):
    def __init__(self, resolver, more):
        super().__init__(spec=resolver.spec, like=resolver.like, times=lambda values, by: [value * by for value in values], **more)
        self.resolver = resolver

    def __missing__(self, name):
        if name not in self.resolver.rules: raise NameError(f"there is no figure {name}")
        return self.resolver.figure(name)[0]


def resolvers(data):
    """By key, in the order of the file."""
    made = {}
    for key, entry in data["gpus"].items():
        like = entry.get("like")
        if like is not None and like not in made: raise Wrong(f"{key} is like {like}, which has to stand before it")
        made[key] = Resolver(data, key, made.get(like))
        for name in entry["figures"]:
            if name not in data["rules"]: raise Wrong(f"{key}: there is no rule for the figure {name}")
    return made


def check(key, name, value):
    for one in value if isinstance(value, list) else [value]:
        if not math.isfinite(one) or one <= 0: raise Wrong(f"{key}: {name} is {one}; figures are above 0")


def literal(value):
    if isinstance(value, list): return "{{" + ", ".join(map(literal, value)) + "}}"
    return repr(value)


def spec_row(key, entry):
    fields = {"key": json.dumps(key), "name": json.dumps(entry["name"])}
    for name, value in entry["spec"].items():
        fields[name] = "{" + ", ".join(map(str, value)) + "}" if isinstance(value, list) else str(value)
    return "    {" + ",\n     ".join(f".{name} = {value}" for name, value in fields.items()) + "},\n"


def figure_row(data, key, resolver):
    lines = [f"    {{{json.dumps(key)},", f"     {{.checked = {str(data['gpus'][key]['checked']).lower()},"]
    for name in data["rules"]:
        value, origin = resolver.figure(name)
        check(key, name, value)
        lines.append(f"      .{name} = {literal(value)},  // {origin}")
    return "\n".join(lines) + "\n     }},\n"


def write(path, text):
    Path(path).write_text("// Made from src/core/gpus.json by src/core/gpu_tables.py.\n" + text)


def main(arguments):
    data = load()
    made = resolvers(data)
    if arguments and arguments[0] == "--list":
        for key in arguments[1:] or made:
            if key not in made: raise Wrong(f"there is no GPU {key}; known: {' '.join(made)}")
            print(f"{key}: {data['gpus'][key]['name']}" + ("" if data["gpus"][key]["checked"] else ", unchecked on this card"))
            for name in data["rules"]:
                value, origin = made[key].figure(name)
                shown = " ".join(f"{one:.4g}" for one in value) if isinstance(value, list) else f"{value:.6g}"
                print(f"  {name:30} {shown:>10}  {origin}")
        return 0
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    specs, figures = arguments
    write(specs, "".join(spec_row(key, entry) for key, entry in data["gpus"].items()))
    write(figures, "".join(figure_row(data, key, made[key]) for key in made))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Wrong as wrong:
        sys.exit(f"{DATA}: {wrong}")
