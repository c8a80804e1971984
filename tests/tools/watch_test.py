"""--watch: run again when a file changes. A stand-in for nvcc makes a program that prints its own source."""
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest

from cli_test import FAKE_NVCC, RIDGE, CliTest

PRINTS = """
#include <cstdio>
#include <initializer_list>
#include <unistd.h>
int main() {
  for (const char* name : {"a.cu", "some folder/b.h"}) {
    char text[99] = {};
    if (FILE* file = std::fopen(name, "r")) std::printf("%s\\n", std::fgets(text, 99, file)), std::fclose(file);
    std::fflush(stdout);
    if (text[0] == '!') sleep(100);
  }
}
"""


class WatchTest(CliTest):
    def setUp(self):
        super().setUp()
        nvcc = self.write("bin/nvcc", FAKE_NVCC)
        nvcc.chmod(0o755)
        self.write("bin/nvcc.version", "1")
        self.cxx("bin/nvcc.program", PRINTS)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.env.update(PATH=f"{nvcc.parent}:{self.env['PATH']}", TMPDIR=str(self.temporary))
        self.source = self.write("a.cu", "one")
        self.header = self.write("some folder/b.h", "alpha")

    def read_until(self, file, words):
        """What comes until the words have come."""
        text = ""
        end = time.monotonic() + 60
        while words not in text:
            self.assertLess(time.monotonic(), end, text)
            if select.select([file], [], [], 0.2)[0]:
                text += os.read(file, 65536).decode()
        return text

    def assert_nothing_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual([path for path in (self.folder / "cache").rglob("work-*")], [])


class Watch(WatchTest):
    def start(self, *arguments):
        ridge = subprocess.Popen([RIDGE, *arguments], cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(ridge.stdout.close)
        self.addCleanup(ridge.kill)
        return ridge

    def test_every_kind_of_change(self):
        ridge = self.start("run", "--device", "vm", "--watch", "a.cu")
        out = ridge.stdout.fileno()
        text = self.read_until(out, "(Ctrl-C ends)")
        self.assertIn("one\nalpha\n", text)
        self.assertRegex(text, r"ridge: \d\d:\d\d:\d\d: exit code 0 after \d+\.\d s; waiting for a change of a.cu or its header")
        self.source.write_text("two")
        self.assertIn("two\nalpha\n", self.read_until(out, "(Ctrl-C ends)"))
        self.header.write_text("beta")
        self.assertIn("two\nbeta\n", self.read_until(out, "(Ctrl-C ends)"))
        os.replace(self.write("a.cu~", "three"), self.source)  # as many editors save
        self.assertIn("three\nbeta\n", self.read_until(out, "(Ctrl-C ends)"))
        self.source.unlink()
        time.sleep(0.5)
        self.source.write_text("four")
        text = self.read_until(out, "(Ctrl-C ends)")
        self.assertIn("four\nbeta\n", text)
        self.assertNotIn("there is no file", text)
        self.source.write_text("ERROR")
        text = self.read_until(out, "(Ctrl-C ends)")
        self.assertIn("error: no good", text)
        self.assertIn("exit code 3 after", text)
        self.source.write_text("five")
        text = self.read_until(out, "(Ctrl-C ends)")
        self.assertIn("five\nbeta\n", text)
        self.assertNotIn("\033", text)  # a pipe is not cleared
        ridge.send_signal(signal.SIGINT)
        self.assertEqual(ridge.wait(30), -signal.SIGINT)
        self.assert_nothing_left()

    def test_other_verbs(self):
        for verb in "check", "profile":
            ridge = self.start(verb, "--watch", "a.cu")
            out = ridge.stdout.fileno()
            self.read_until(out, "(Ctrl-C ends)")
            self.source.write_text(f"for {verb}")
            self.assertIn(f"for {verb}\nalpha\n", self.read_until(out, "(Ctrl-C ends)"))
            ridge.terminate()
            self.assertEqual(ridge.wait(30), -signal.SIGTERM)
            self.assert_nothing_left()

    def test_a_program_is_watched_too(self):
        program = self.cxx("program", "#include <cstdio>\nint main() { std::puts(\"old\"); }")
        ridge = self.start("run", "--device", "vm", "--watch", str(program))
        self.assertIn("old\n", self.read_until(ridge.stdout.fileno(), "(Ctrl-C ends)"))
        os.replace(self.cxx("other", "#include <cstdio>\nint main() { std::puts(\"new\"); }"), program)
        self.assertIn("new\n", self.read_until(ridge.stdout.fileno(), "(Ctrl-C ends)"))
        ridge.terminate()
        ridge.wait(30)

    def test_a_rung_is_no_file(self):
        self.assertIn("--watch waits for changes of a file", self.ridge("check", "--watch", "transpose/03_padded", code=2)[1])


class Keyboard(WatchTest):
    """On a terminal, where Ctrl-C comes from."""

    def start(self):
        child, screen = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(RIDGE, [RIDGE, "run", "--device", "vm", "--watch", "a.cu"], {**self.env, "TERM": "xterm"})
        self.addCleanup(os.close, screen)
        return child, screen

    def test_clears_the_screen_and_ends(self):
        child, screen = self.start()
        self.assertNotIn("\033[2J", self.read_until(screen, "(Ctrl-C ends)"))
        self.source.write_text("two")
        self.assertIn("\033[H\033[2J", self.read_until(screen, "(Ctrl-C ends)"))
        os.write(screen, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), -signal.SIGINT)
        self.assert_nothing_left()

    def test_ends_while_the_program_runs(self):
        self.source.write_text("!")
        child, screen = self.start()
        self.read_until(screen, "!")
        os.write(screen, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 130)
        self.assert_nothing_left()


if __name__ == "__main__":
    sys.exit(unittest.main())
