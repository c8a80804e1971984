"""Programs with locks, queues and barriers of the grid end under check, on a machine that has too much to do.

    busy_test.py RIDGE PROGRAM [RUNS]    PROGRAM is clean/locks.cu compiled; 100 runs take minutes
"""
import concurrent.futures
import os
import subprocess
import sys
import time

LIMIT = 120  # seconds; a run takes one or two on an idle machine


def once(ridge, program):
    begin = time.monotonic()
    try:
        done = subprocess.run([ridge, "check", "--quiet", program], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"did not end within {LIMIT} s", LIMIT
    wrong = "" if done.returncode == 0 else f"ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return wrong, time.monotonic() - begin


def main(ridge, program, runs=12):
    with concurrent.futures.ThreadPoolExecutor(3 * (os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda _: once(ridge, program), range(int(runs))))
    for wrong in {wrong for wrong, _ in results if wrong}:
        print(wrong)
    print(f"{sum(not wrong for wrong, _ in results)} of {runs} runs ended well, the longest after "
          f"{max(seconds for _, seconds in results):.1f} s")
    return 1 if any(wrong for wrong, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
