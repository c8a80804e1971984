"""What a finding says mends the program: applied to the text, the finding is gone, and the result is right.

    fix_test.py RIDGE SOURCE    the first line of SOURCE names the kind of fix (fixes/fixes.h says more)
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def check(ridge, source):
    done = subprocess.run([ridge, "check", "--quiet", "--json", "-", source.name], cwd=source.parent,
                          capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["findings"], done
    except (ValueError, KeyError):
        return None, done


def apply_edits(lines, edits):
    """Later lines first, so that the numbers of the others stay right."""
    for edit in sorted(edits, key=lambda edit: -edit["line"]):
        at = edit["line"] - 1
        if edit.get("from"):
            assert edit["from"] in lines[at], f"line {at + 1} has no {edit['from']!r}"
            lines[at] = lines[at].replace(edit["from"], edit["to"], 1)
        else:
            lines.insert(at, edit["to"])
    return lines


def apply_marks(lines):
    return [re.sub(r"^.*// WITH: ", "", line) for line in lines]


def main(ridge, source):
    source = pathlib.Path(source)
    lines = source.read_text(encoding="utf-8").splitlines()
    kind = re.match(r"// FIX (\S+)", lines[0]).group(1)
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / source.name
        shutil.copy(source.parent / "fixes.h", folder)
        shutil.copy(source, copy)
        findings, done = check(ridge, copy)
        if done.returncode != 5 or not findings or len(findings) != 1 or findings[0].get("fix_kind") != kind:
            print(f"not one finding with the fix {kind}\n{done.stdout}{done.stderr}")
            return 1
        print(findings[0]["fix"])
        edits = findings[0].get("edits", [])
        marks = any("// WITH: " in line for line in lines)
        if bool(edits) == marks:
            print(f"{len(edits)} edits, and the text has {'some' if marks else 'no'} marks")
            return 1
        mended = apply_edits(lines, edits) if edits else apply_marks(lines)
        copy.write_text("\n".join(mended) + "\n", encoding="utf-8")
        findings, done = check(ridge, copy)
        if findings != [] or done.returncode != 0:
            print(f"mended, it ends with {done.returncode}\n{done.stdout}{done.stderr}\n" + "\n".join(mended))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
