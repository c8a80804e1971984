"""The programs of examples/triton run, as an H200 and as an A100, and `ridge check` has nothing to say.

    test_examples.py RIDGE PYTHON

Without Triton it says so and exits with 77.
"""
import ast
import subprocess
import sys
from pathlib import Path

from sizes import EXAMPLES, SIZES
from test_planted import has_triton


def complaints(path):
    """About what an example tells its reader before the code."""
    head = ast.get_docstring(ast.parse(path.read_text())) or ""
    if not head.startswith(f"triton/{path.stem}: "):
        yield f"does not begin with 'triton/{path.stem}: …'"
    for part in ("Stops at:", "Not for:"):
        if part not in head:
            yield f"has no '{part} …'"


def main():
    ridge, python = sys.argv[1:]
    if not has_triton(python):
        print(f"skipped: {python} has no Triton")
        return 77
    failures = []
    for example in sorted(EXAMPLES.glob("[0-9]*.py")):
        failures += [f"{example.name} {what}" for what in complaints(example)]
        sizes = SIZES[example.stem[:2]].split()
        for verb, gpu in (("run", "h200"), ("run", "a100"), ("check", "h200")):
            out = subprocess.run([ridge, verb, "--quiet", "--gpu", gpu, "--python", python, example, "--", *sizes],
                                 capture_output=True, text=True, timeout=300)
            if out.returncode or "right" not in out.stdout:
                failures.append(f"{verb} {example.name} as {gpu}: {out.stdout}\n{out.stderr}")
            print(verb, example.name, gpu, out.returncode, flush=True)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
