"""`ridge check` finds every planted bug by its line of Python, and says nothing of the twin, in which it is mended.

    test_planted.py RIDGE PYTHON [PROGRAM …]

Without Triton it says so and exits with 77.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent / "planted"
# A race of two launches is between lines of kernels, not at the line that chooses the stream.
NAMED = {"streams": {"read_of_a_result": {"tl.store(x + i, 2 * v", "v = tl.load(x + i"}, "two_writers": {"tl.store(x + i, (value"},
                     "input_overwritten": {"v = tl.load(x + i", "tl.store(x + i, (value"}}}


def has_triton(python):
    return subprocess.run([python, "-c", "import triton, numpy"], capture_output=True).returncode == 0


def bugs_of(text):
    """Name, expected kinds, and the number of the marked line, which stands before the function or in it."""
    lines = text.splitlines()
    marked = [k for k, line in enumerate(lines, 1) if "# twin: " in line]
    found = re.findall(r"^@bug\((.*?)\)\ndef (\w+)", text, re.M)
    assert len(found) == len(marked) == 3, "a program has three bugs and three marked lines"
    return [(name, re.findall(r'"([\w-]+)"', kinds), line) for (kinds, name), line in zip(found, marked)]


def check(ridge, python, program, name):
    out = subprocess.run([ridge, "check", "--quiet", "--python", python, "--json", "-", program, "--", name],
                         capture_output=True, text=True, timeout=300)
    try:
        return json.loads(out.stdout)["findings"], out
    except (json.JSONDecodeError, KeyError):
        sys.exit(f"{program} {name} has no report: {out.stdout}\n{out.stderr}")


def lines_of(finding, file):
    """Of the finding and of what belongs to it."""
    return {place.get("line") for place in [finding, *finding.get("related", [])] if Path(place.get("file", "")).name == file}


def main():
    ridge, python, *wanted = sys.argv[1:]
    if not has_triton(python):
        print(f"skipped: {python} has no Triton")
        return 77
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "bugs.py").write_text((HERE / "bugs.py").read_text())
        for source in sorted(HERE.glob("*.py")):
            if source.name == "bugs.py" or wanted and source.stem not in wanted:
                continue
            text = source.read_text()
            twin = folder / source.name
            twin.write_text(re.sub(r"^( *)\S.*# twin: (.*)$", r"\1\2", text, flags=re.M))
            for name, kinds, line in bugs_of(text):
                count += 1
                named = NAMED.get(source.stem, {}).get(name)
                lines = {k for k, l in enumerate(text.splitlines(), 1) if any(n in l for n in named)} if named else {line}
                findings, out = check(ridge, python, source, name)
                hits = [f for f in findings if f["kind"] in kinds and lines & lines_of(f, source.name)]
                others = [f for f in findings if not lines & lines_of(f, source.name)]
                if not hits or others:
                    failures.append(f"{source.stem}.{name}: line {line} is not the only finding: "
                                    f"{json.dumps(findings, indent=1)}\n{out.stderr}")
                findings, out = check(ridge, python, twin, name)
                if findings or out.returncode:
                    failures.append(f"the twin of {source.stem}.{name}: {json.dumps(findings, indent=1)}\n{out.stderr}")
                print(f"{source.stem}.{name}", "ok" if not failures else f"({len(failures)} failures so far)", flush=True)
    print("\n\n".join(failure[:2500] for failure in failures))
    print(f"{count} bugs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
