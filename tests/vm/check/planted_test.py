"""Every planted bug is found, by its kind and its lines, and no repaired twin has a finding.

    planted_test.py RIDGE SOURCE PROGRAM    PROGRAM is SOURCE compiled (planted/planted.h says what it takes)
"""
import json
import os
import re
import subprocess
import sys

# What a bug may lead to besides.
CONSEQUENCE = {"barrier": {"deadlock"}, "mask": {"deadlock"}, "async": {"race", "deadlock", "uninitialised"},
               "mbarrier": {"async", "race", "deadlock", "fault"}, "cluster": {"race", "fault"}}
# Other orders of threads in which the bugs of these files must be found as well.
SEEDS = {"bulk.cu": (1, 2), "mbarrier.cu": (1, 2), "tensor.cu": (1, 2), "wgmma.cu": (1, 2)}


def check(ridge, program, *arguments, seed=None):
    order = ["--seed", str(seed)] if seed else []
    done = subprocess.run([ridge, "check", "--quiet", "--timeout", "20", *order, "--json", "-", program, "--", *arguments],
                          capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["findings"], done
    except (ValueError, KeyError):
        return None, done


def lines_of(finding):
    return {place["line"] for place in (finding, *finding.get("related", [])) if "line" in place}


def main(ridge, source, program):
    marked, words = {}, {}  # words: what the report must say of a bug
    for number, line in enumerate(open(source, encoding="utf-8"), 1):
        for name in re.findall(r"// BUG (\w+)", line):
            marked.setdefault(name, set()).add(number)
        for name in re.findall(r"// CALLS (\w+)", line):
            words[name] = f"is called from line {number}"
        for name, text in re.findall(r"SAYS (\w+): (.*)", line):
            words[name] = text
    bugs = [line.split() for line in subprocess.run([ridge, "run", "--quiet", "--device", "vm", program, "--", "list"],
                                                    capture_output=True, text=True, check=True).stdout.splitlines()]
    wrong = 0

    def complain(text, done):
        nonlocal wrong
        wrong += 1
        print(f"{source}: {text}\n{done.stderr}")

    seeds = (None, *SEEDS.get(os.path.basename(source), ()))
    for name, kind in bugs:
        for seed in seeds:
            findings, done = check(ridge, program, name, seed=seed)
            wanted = marked.get(name, set())
            who = f"{name}, order {seed}" if seed else name
            if findings is None or done.returncode != 5:
                complain(f"{who}: nothing was found (exit code {done.returncode})", done)
            elif not any(f["kind"] == kind and lines_of(f) == wanted for f in findings):
                complain(f"{who}: no {kind} at lines {sorted(wanted)}", done)
            elif kind == "proxy-fence" and len(findings) > 1:
                complain(f"{who}: one fence is missing, and there are {len(findings)} findings", done)
            elif not any(f["kind"] == kind and lines_of(f) == wanted and words.get(name, "") in json.dumps(f) for f in findings):
                complain(f"{who}: the report does not say '{words[name]}'", done)
            elif any(f["kind"] != kind and f["kind"] not in CONSEQUENCE.get(kind, ()) for f in findings):
                complain(f"{who}: more than the bug was found", done)
    for seed in seeds:
        findings, done = check(ridge, program, "fixed", seed=seed)
        if findings is None or findings or done.returncode != 0:
            complain(f"a repaired twin has findings, order {seed}", done)
    print(f"{len(bugs)} bugs, {wrong} wrong answers")
    return 1 if wrong or not bugs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
