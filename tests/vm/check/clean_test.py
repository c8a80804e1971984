"""A program without hazards has no findings, under the usual order of threads or any other.

    clean_test.py RIDGE PROGRAM [ARGUMENT…]
"""
import subprocess
import sys


def main(ridge, program, *arguments):
    done = subprocess.run([ridge, "check", "--quiet", "--schedules", "2", program, "--", *arguments],
                          capture_output=True, text=True)
    print(done.stdout, done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
