"""What Triton has made of each line, for `ridge profile`: layouts, conversions through shared memory, pipelines, masks."""
import json
import os
import re

FILE = os.environ.get("RIDGE_TRITON_NOTES")
noted = set()


def note(kernel, title):
    """One line of JSON per kernel, when it is first launched."""
    text = kernel.asm.get("ttgir") if FILE and title not in noted else None
    if not text:
        return
    noted.add(title)
    with open(FILE, "a") as out:
        lines = [{"file": file, "line": line, "text": what} for (file, line), what in sorted(explained(text).items())]
        json.dump({"kernel": title, "lines": lines}, out)
        out.write("\n")


class Places:
    """The lines of the program behind the #loc of an operation."""

    def __init__(self, text):
        self.known = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, re.M))

    def of(self, name, depth=0):
        """The outermost one: what the standard library of Triton does belongs to the line that calls it."""
        what = self.known.get(name, "")
        if found := re.match(r'"([^"]*)":(\d+):\d+', what):
            return found.group(1), int(found.group(2))
        calls = re.findall(r"#loc\d*", what)
        return self.of(calls[-1], depth + 1) if calls and depth < 20 else None


def layout_of(text):
    """`each thread has 1 × 4 neighbours, a warp 2 × 16 threads`, of the layouts that have these."""
    found = {}
    for name, body in re.findall(r"^(#\w+) = #ttg\.blocked<\{(.*)\}>", text, re.M):
        field = dict(re.findall(r"(\w+) = \[([\d, ]+)\]", body))
        size, lanes = (" × ".join(field[key].split(", ")) for key in ("sizePerThread", "threadsPerWarp"))
        found[name] = f"{size} values per thread, {lanes} threads per warp"
    return found


def explained(text):
    places, layouts, lines = Places(text), layout_of(text), {}

    def say(place, what):
        if place and what not in lines.setdefault(place, []):
            lines[place].append(what)

    for line in text.splitlines():
        loc = re.search(r"loc\((#loc\d*)\)$", line)
        place = places.of(loc.group(1)) if loc else None
        if found := re.search(r"ttg\.convert_layout .* : tensor<([^,>]+), (#\w+).*> -> tensor<[^,>]+, (#\w+)", line):
            shape, before, after = found.groups()
            if after == "#ttg":
                say(place, f"{shape} becomes an operand of the product")
            else:
                say(place, f"{shape} changes its layout from {before[1:]} to {after[1:]}, through shared memory or shuffles")
        elif found := re.search(r"tt\.(load|store) (.*?) : tensor<([\dx]+x)!tt\.ptr<(\w+)>, (#\w+)", line):
            verb, operands, shape, element, layout = found.groups()
            masked = operands.count("%") > (1 if verb == "load" else 2)
            say(place, f"{verb} of {shape}{element}, {layouts.get(layout, layout[1:])}{', masked' if masked else ''}")
        elif "ttg.async_copy_global_to_local" in line:
            say(place, "copied to shared memory by cp.async, ahead of its use")
        elif "async_tma_copy_global_to_local" in line:
            say(place, "copied to shared memory by the tensor copy engine")
        elif "async_tma_copy_local_to_global" in line:
            say(place, "stored from shared memory by the tensor copy engine")
        elif found := re.search(r"ttg\.local_alloc %.* : \(tensor<([^,>]+)", line):
            say(place, f"{found.group(1)} is put into shared memory")
        elif "ttng.warp_group_dot " in line:
            say(place, "wgmma")
        elif re.search(r"tt\.dot .*#mma", line):
            say(place, "mma.sync")
        elif re.search(r"tt\.dot ", line):
            say(place, "a product without tensor cores: fma")
    return {place: "; ".join(what) for place, what in lines.items()}
