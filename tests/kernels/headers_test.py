"""What every rung tells its reader before the code: its idea, where it stops, and when to leave it alone, in plain words.

    headers_test.py FOLDER    of the families
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "words"))
import per


def complaints(path):
    number, name = path.stem.split("_", 1)
    lines = path.read_text().splitlines()
    head = " ".join(line[2:].strip() for line in lines[:next(i for i, line in enumerate(lines) if not line.startswith("//"))])
    if not head.startswith(f"{path.parent.name} rung {number}, {name}:"):
        yield f"does not begin with '{path.parent.name} rung {number}, {name}: …'"
    for found in per.found_in(head + "\n\n" + "".join(line for line in lines if ".idea = " in line)):
        yield f"says '{found}': 'per' is easier to read than 'a'"
    if number != "01" and not re.search(r"\bSince \d\d_\w+:", head):
        yield "does not say what it adds ('Since NN_rung: …')"
    if "Stops at:" not in head:
        yield "does not say where it stops ('Stops at: …')"
    if not re.search(r"\bNot (for:|where)", head):
        yield "does not say when to leave it alone ('Not for: …')"


def main():
    rungs = sorted(Path(sys.argv[1]).glob("*/[0-9][0-9]_*.cu"))
    found = [f"{path.parent.name}/{path.name} {what}" for path in rungs for what in complaints(path)]
    print("\n".join(found) or f"{len(rungs)} rungs say what they should")
    return 1 if found or not rungs else 0


if __name__ == "__main__":
    sys.exit(main())
