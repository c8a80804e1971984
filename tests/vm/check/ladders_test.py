"""No rung of these ladders has a finding in any of its test cases.

    ladders_test.py RIDGE LADDERS [FAMILY…]    none: all families, which takes ten minutes
"""
import json
import subprocess
import sys


def main(ridge, ladders, *families):
    if not families:
        listed = subprocess.run([ridge, "run", "--quiet", "--device", "vm", ladders, "--", "list"],
                                capture_output=True, text=True, check=True).stdout
        families = [json.loads(line)["family"] for line in listed.splitlines()]
    wrong = 0
    for family in families:
        done = subprocess.run([ridge, "check", "--quiet", ladders, "--", "verify", family], capture_output=True, text=True)
        print(f"{family}: {done.stdout.strip()}; {done.stderr.strip()}")
        wrong += done.returncode != 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
