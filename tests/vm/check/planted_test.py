"""Every planted bug is found, by its kind and its lines, and no repaired twin has a finding.

    planted_test.py RIDGE SOURCE PROGRAM    PROGRAM is SOURCE compiled (planted/planted.h says what it takes)
"""
import json
import re
import subprocess
import sys

# What a bug may lead to besides.
CONSEQUENCE = {"barrier": {"deadlock"}, "mask": {"deadlock"}, "async": {"race"}, "cluster": {"race", "fault"}}


def check(ridge, program, *arguments):
    done = subprocess.run([ridge, "check", "--quiet", "--timeout", "20", "--json", "-", program, "--", *arguments],
                          capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["findings"], done
    except (ValueError, KeyError):
        return None, done


def lines_of(finding):
    return {place["line"] for place in (finding, *finding.get("related", [])) if "line" in place}


def main(ridge, source, program):
    marked = {}
    for number, line in enumerate(open(source, encoding="utf-8"), 1):
        for name in re.findall(r"// BUG (\w+)", line):
            marked.setdefault(name, set()).add(number)
    bugs = [line.split() for line in subprocess.run([ridge, "run", "--quiet", "--device", "vm", program, "--", "list"],
                                                    capture_output=True, text=True, check=True).stdout.splitlines()]
    wrong = 0

    def complain(text, done):
        nonlocal wrong
        wrong += 1
        print(f"{source}: {text}\n{done.stderr}")

    for name, kind in bugs:
        findings, done = check(ridge, program, name)
        wanted = marked.get(name, set())
        if findings is None or done.returncode != 5:
            complain(f"{name}: nothing was found (exit code {done.returncode})", done)
        elif not any(f["kind"] == kind and lines_of(f) == wanted for f in findings):
            complain(f"{name}: no {kind} at lines {sorted(wanted)}", done)
        elif any(f["kind"] not in {kind} | CONSEQUENCE.get(kind, set()) for f in findings):
            complain(f"{name}: more than the bug was found", done)
    findings, done = check(ridge, program, "fixed")
    if findings is None or findings or done.returncode != 0:
        complain("a repaired twin has findings", done)
    print(f"{len(bugs)} bugs, {wrong} wrong answers")
    return 1 if wrong or not bugs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
