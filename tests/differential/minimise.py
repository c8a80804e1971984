#!/usr/bin/env python3
"""Shrinks programs that two devices disagree on.

  minimise.py --one COMMAND --other COMMAND [--jobs N] [--keep FOLDER] SEED...

A COMMAND starts `differential` on a device, e.g. "env LD_LIBRARY_PATH=build/vm/lib build/vm/tests/differential/differential". For
each seed: statements are left out, and branches and loops taken away from around them, for as long as the two results
still differ. With --keep the rest is written to FOLDER as PTX with the result of --one.
"""
import argparse
import concurrent.futures
import pathlib
import shlex
import subprocess


class Device:
    """A `differential serve` that is started again after a program broke it."""

    def __init__(self, command):
        self.command = shlex.split(command)
        self.process = None

    def result(self, seed, mask):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command + ["serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(f"{seed} {mask}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if not answer or answer.startswith("error"):
            self.process.kill()
            self.process.wait()
            self.process = None
        return answer or "crash"

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def minimise(seed, one, other):
    """The mask of what is left, or None where the two agree."""
    nodes = int(subprocess.run(one.command + ["nodes", str(seed)], capture_output=True, text=True, check=True).stdout)

    def differs(mask):
        results = one.result(seed, mask), other.result(seed, mask)
        # A program that the first one refuses says nothing about the second.
        return results[0] != results[1] and not results[0].startswith(("error", "crash"))

    mask = ["+"] * nodes
    if not differs("".join(mask)):
        return None
    while True:
        before = list(mask)
        size = max(1, nodes // 2)
        while size:
            for start in range(0, nodes, size):
                trial = list(mask)
                trial[start:start + size] = "-" * len(trial[start:start + size])
                if trial != mask and differs("".join(trial)):
                    mask = trial
            size //= 2
        for i in range(nodes):
            if mask[i] == "+":
                trial = list(mask)
                trial[i] = "u"
                if differs("".join(trial)):
                    mask = trial
        if mask == before:
            return "".join(mask)


def statements(text):
    """The lines of the functions and of the kernel that are not the same in every program."""
    inside = text.split("// statements\n", 1)[-1].split("// end of statements\n", 1)[0]
    return inside


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", required=True)
    parser.add_argument("--other", required=True)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("seeds", nargs="*", type=int)
    arguments = parser.parse_args()

    def work(seed):
        one, other = Device(arguments.one), Device(arguments.other)
        mask = minimise(seed, one, other)
        if mask is None:
            return seed, None, "", ""
        results = one.result(seed, mask) + " and " + other.result(seed, mask)
        one.close()
        other.close()
        text = subprocess.run(one.command + ["keep", str(seed), mask], capture_output=True, text=True).stdout
        return seed, mask, results, text

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for seed, mask, results, text in pool.map(work, arguments.seeds):
            if mask is None:
                print(f"seed {seed}: no difference", flush=True)
                continue
            print(f"seed {seed}: {results}\n{statements(text)}", flush=True)
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"seed_{seed}.ptx").write_text(text)


main()
