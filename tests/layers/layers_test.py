"""Who may include whom in src/: docs/architecture.md says it in words, and this holds it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = "form facts operands inst reserved"  # of src/vm/isa: what an instruction is, without how it runs

# Folder: what it may include beside itself.
MAY = {
    "core": "ridge",
    "model": "core",
    "vm/report": "core",
    "vm/parse": "core",
    "vm/mem": "core",
    "vm/texture": "core",
    "vm/isa": "core vm/parse vm/mem vm/texture vm/decode vm/exec",  # handlers act on a running warp
    "vm/decode": "core vm/parse vm/mem vm/isa",
    "vm/exec": "core vm/report vm/parse vm/mem vm/texture vm/isa vm/decode",
    "vm/observe": "core vm/report vm/parse vm/mem vm/isa vm/decode vm/exec",
    "vm/timing": "core model vm/mem vm/decode vm/exec vm/isa vm/observe",
    "vm/check": "core vm/report vm/parse vm/mem vm/isa vm/decode vm/exec",
    "vm/cudart": "core ridge vm/report vm/mem vm/texture vm/decode vm/exec vm/timing",
    "vm/driver": "core vm/mem vm/cudart",
    "operator": "core ridge",
    "select": "core ladder",
    "ladder": "core ridge operator select",
    "ops": "core ridge operator ladder select",
    "device": "core ridge ladder",
    "kernels": "core ridge operator ladder select ops device harness",  # harness: for rivals
    "harness": "core ridge operator ladder select",
    "standin": "core ridge",
}


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "vm" else parts[0]


def wrong_includes(source, text):
    """Includes of this file, named relative to src/, that the rules do not allow."""
    home = folder_of(source)
    allowed = set(MAY[home].split()) | {home}
    is_table = home == "vm/isa" and pathlib.Path(source).stem in TABLES.split()
    for name in re.findall(r'^#include "([a-z_]+/[^"]+)"', text, re.M):
        there = folder_of(name)
        if there not in allowed:
            yield f"src/{source} includes {name}: {home} may include {MAY[home]}"
        if is_table and there not in ("core", "vm/parse", "vm/isa"):
            yield f"src/{source} includes {name}: the instruction tables know nothing of how they run"
        if home == "kernels" and there == "harness" and "rivals" not in source and "/rivals/" not in name:
            yield f"src/{source} includes {name}: only rivals include the harness"


def main():
    # A test that cannot fail is none: these two are wrong.
    assert list(wrong_includes("vm/decode/emit.cpp", '#include "vm/exec/warp.h"\n'))
    assert list(wrong_includes("vm/isa/form.h", '#include "vm/exec/warp.h"\n'))
    wrong = []
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".cu", ".cuh"):
            continue
        source = path.relative_to(ROOT / "src").as_posix()
        if folder_of(source) not in MAY:
            wrong.append(f"src/{source}: its folder has no rule in tests/layers/layers_test.py")
            continue
        wrong += wrong_includes(source, path.read_text())
    # The binding for Python sees the public headers alone.
    for path in sorted((ROOT / "bindings").rglob("*")):
        if path.suffix in (".h", ".cpp"):
            wrong += [f"{path.relative_to(ROOT)} includes {name}: bindings may include ridge/ and their own folder"
                      for name in re.findall(r'^#include "([^"]+/[^"]+)"', path.read_text(), re.M) if not name.startswith("ridge/")]
    print("\n".join(wrong) or "every include is allowed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
