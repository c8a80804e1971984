"""Programs that are right by luck are shown wrong under another order, and the seed shows it again.

    order_test.py RIDGE PROGRAM    PROGRAM is order.cu compiled
"""
import json
import subprocess
import sys


def check(ridge, *arguments):
    done = subprocess.run([ridge, "check", "--quiet", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def main(ridge, program):
    wrong = 0
    for what in ("blocks", "warps"):
        code, out, err = check(ridge, "--json", "-", "--schedules", "8", program, "--", what)
        found = [f for f in json.loads(out)["findings"] if f["kind"] == "schedule"]
        if code != 5 or len(found) != 1:
            wrong += 1
            print(f"{what}: the order makes no difference\n{err}")
            continue
        seed = str(found[0]["seed"])
        usual, first, second = (check(ridge, *seeded, program, "--", what)[1]
                                for seeded in ([], ["--seed", seed], ["--seed", seed]))
        if first == usual or first != second:
            wrong += 1
            print(f"{what}: --seed {seed} gives {first!r}, then {second!r}; usual is {usual!r}")
        code, out, err = check(ridge, "--schedules", "8", program, "--", what, "fixed")
        if code != 0:
            wrong += 1
            print(f"{what}: the repaired one ends with {code}\n{err}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
