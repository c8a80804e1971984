#!/usr/bin/env python3
"""Lists the families that the model of time is never fitted to: those whose SHA-256(name) starts with a byte below 0x55.

    held.py                  prints one name per line
    held.py docs/model.md    fails if the list on that page is another one
"""
import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BELOW = 0x55  # a third of all bytes


def is_held(name):
    return hashlib.sha256(name.encode()).digest()[0] < BELOW


def families():
    return re.findall(r"^RIDGE_FAMILY\((\w+)\)", (ROOT / "src/kernels/families.def").read_text(), re.M)


def main():
    held = [name for name in families() if is_held(name)]
    if len(sys.argv) == 1:
        print(*held, sep="\n")
        return 0
    page = Path(sys.argv[1])
    said = re.search(r"<!-- held -->\n(.*?)<!-- /held -->", page.read_text(), re.S)
    listed = re.findall(r"`(\w+)`", said[1]) if said else []
    if listed == held:
        return 0
    print(f"{page} lists {listed} as held families, but the rule gives {held}; write these between the marks on that page",
          file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
