"""How ridge behaves among other programs: full disks, plain terminals, signals, names of files."""
import os
import pty
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from cli_test import FAKE_NVCC, RIDGE, CliTest


class Output(CliTest):
    def test_a_full_disk_is_no_reason_to_abort(self):
        for arguments in ["device"], ["formats"], ["man"], ["completion", "bash"], ["--version"], ["run", "--help"]:
            with open("/dev/full", "w") as full:
                done = subprocess.run([RIDGE, *arguments], env=self.env, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (8, "ridge: cannot write to stdout: No space left on device\n"))

    def test_a_program_may_write_nothing(self):
        program = self.cxx("program", "#include <cstdio>\nint main() { for (int i = 0; i < 99999; ++i) std::puts(\"line\"); }")
        with open("/dev/full", "w") as full:
            done = subprocess.run([RIDGE, "check", program], env=self.env, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]),
                         (8, "ridge: cannot write to stdout: No space left on device"))

    def on_a_terminal(self, *arguments, **variables):
        """What appears on the screen."""
        child, screen = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(RIDGE, [RIDGE, *map(str, arguments)], {**self.env, **variables})
        text = b""
        try:
            while piece := os.read(screen, 4096):
                text += piece
        except OSError:  # the other side is closed
            pass
        os.waitpid(child, 0)
        os.close(screen)
        return text.decode()

    def test_escapes_only_where_they_are_understood(self):
        self.env.pop("NO_COLOR", None)
        device = ["device", "--device", "vm"]
        self.assertIn("\033[", self.on_a_terminal(*device, TERM="xterm"))
        for variables in {"TERM": "dumb"}, {"TERM": ""}, {"TERM": "xterm", "NO_COLOR": "1"}:
            self.assertNotIn("\033", self.on_a_terminal(*device, **variables))
        self.assertNotIn("\033", self.on_a_terminal(*device, "--no-color", TERM="xterm"))
        self.assertIn("\033[", self.on_a_terminal(*device, TERM="xterm", NO_COLOR=""))  # empty is not set

    def test_progress_on_a_plain_terminal(self):
        nvcc = self.write("bin/nvcc", FAKE_NVCC)
        nvcc.chmod(0o755)
        self.write("bin/nvcc.version", "1")
        self.cxx("bin/nvcc.program", "int main() {}")
        self.write("some folder/b.h", "")
        self.env["PATH"] = f"{nvcc.parent}:{self.env['PATH']}"
        for terminal, shown in ("dumb", "compiling a.cu …\r\n"), ("xterm", "\r\033[Kcompiling a.cu … 2 s"):
            source = self.write("a.cu", "// SLOW on " + terminal)
            text = self.on_a_terminal("run", "--device", "vm", source, TERM=terminal)
            self.assertIn(shown, text)
            self.assertEqual("\033" in text, terminal == "xterm")


    def test_progress_of_a_kernel_on_a_plain_terminal(self):
        source = self.write("spin.cu", "__global__ void spin(volatile int* p) { while (*p == 0) {} }\nint main() { int* d; "
                            "cudaMalloc(&d, 4); cudaMemset(d, 0, 4); spin<<<1, 1>>>(d); cudaDeviceSynchronize(); }")
        for terminal in "dumb", "xterm":
            text = self.on_a_terminal("run", "--device", "vm", "--timeout", "3", source, TERM=terminal)
            self.assertIn("ridge: spin: 0 of 1 blocks, 2 s", text)
            self.assertEqual("\033" in text, terminal == "xterm")


class Signals(CliTest):
    """What ends ridge ends what it started, and leaves no file behind."""

    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.env["TMPDIR"] = str(self.temporary)
        self.sleeper = self.cxx("sleeper", "#include <cstdio>\n#include <unistd.h>\n"
                                "int main() { std::printf(\"%d\\n\", getpid()); std::fflush(stdout); sleep(100); }")

    def wait_for(self, what):
        for _ in range(1000):
            if what():
                return
            time.sleep(0.02)
        self.fail("it did not happen")

    def assert_gone(self, process):
        def is_gone():
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                return True
            return Path(f"/proc/{process}/stat").read_text().split()[2] == "Z"
        self.wait_for(is_gone)

    def end_by(self, number, *arguments):
        ridge = subprocess.Popen([RIDGE, *map(str, arguments)], cwd=self.folder, env=self.env, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        program = int(ridge.stdout.readline())  # it runs by now
        ridge.send_signal(number)
        _, err = ridge.communicate(timeout=60)
        self.assertEqual(ridge.returncode, -number)
        self.assert_gone(program)
        self.assertEqual(list(self.temporary.iterdir()), [])
        return err

    def test_nothing_is_left(self):
        for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
            for verb in ["check"], ["profile"], ["run", "--device", "vm", "--count"]:
                self.assertNotIn("died", self.end_by(number, *verb, self.sleeper))

    def test_a_program_that_does_not_want_to_end(self):
        deaf = self.cxx("deaf", "#include <csignal>\n#include <cstdio>\n#include <unistd.h>\n"
                        "int main() { std::signal(SIGTERM, SIG_IGN); std::printf(\"%d\\n\", getpid());"
                        " std::fflush(stdout); while (true) sleep(100); }")
        self.end_by(signal.SIGTERM, "check", deaf)

    def test_a_compiler_at_work(self):
        nvcc = self.write("bin/nvcc", FAKE_NVCC.replace("sleep 2.5", "echo >\"$TMPDIR/left\"; echo >\"$0.began\"; sleep 100"))
        nvcc.chmod(0o755)
        self.write("bin/nvcc.version", "1")
        self.env["PATH"] = f"{nvcc.parent}:{self.env['PATH']}"
        source = self.write("a.cu", "// SLOW")
        ridge = subprocess.Popen([RIDGE, "run", "--device", "vm", source], env=self.env, stderr=subprocess.DEVNULL)
        self.wait_for((self.folder / "bin" / "nvcc.began").exists)
        ridge.terminate()
        self.assertEqual(ridge.wait(60), -signal.SIGTERM)
        kept = [path for path in (self.folder / "cache" / "ridge" / "run").iterdir()
                if not path.name.startswith("nvcc-")]  # what nvcc says of itself
        self.assertEqual(list(self.temporary.iterdir()) + kept, [])

    def test_ignored_signals_stay_ignored(self):  # as nohup has it
        program = self.cxx("program", "#include <unistd.h>\nint main() { sleep(1); return 7; }")
        ridge = subprocess.Popen([RIDGE, "run", "--device", "vm", program], env=self.env,
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.3)
        ridge.send_signal(signal.SIGHUP)
        self.assertEqual(ridge.wait(60), 7)

    def test_ctrl_c_is_the_programs(self):
        # The terminal tells both; ridge waits for the program and reports how it ended.
        program = self.cxx("program", "#include <csignal>\n#include <cstdio>\n#include <unistd.h>\n"
                           "int main() { std::signal(SIGINT, [](int) { _exit(9); }); std::puts(\"ready\"); sleep(100); }")
        child, screen = pty.fork()
        if child == 0:
            os.execve(RIDGE, [RIDGE, "run", "--device", "vm", "--count", str(program)], self.env)
        text = b""
        while b"ready" not in text:
            text += os.read(screen, 4096)
        os.write(screen, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 9)
        os.close(screen)
        self.assertEqual(list(self.temporary.iterdir()), [])


class Names(CliTest):
    """With the real compiler: names that a shell, make or nvcc would misread."""

    SOURCE = '#include "beside.h"\n#include <cstdio>\nint main() { std::puts(WORD); }\n'

    def test_unusual_names(self):
        for name in "a$b.cu", "it's here; `x`.cu", "one,two.cu", "a&b (1) #2.cu", "with$dollar/plain.cu":
            source = self.write(name, self.SOURCE)
            header = source.parent / "beside.h"
            for word in "first", "second":  # a changed header is seen
                header.write_text(f'#define WORD "{word}"\n')
                self.assertEqual(self.ridge("run", "--device", "vm", "--quiet", name)[0], word + "\n")
            before = {path for path in (self.folder / "cache").rglob("*")}
            self.ridge("run", "--device", "vm", "--quiet", name)  # it is kept
            self.assertEqual(before, {path for path in (self.folder / "cache").rglob("*")})

    def test_a_name_that_nvcc_cannot_take(self):
        self.write('a"b.cu', self.SOURCE)
        self.assertIn("double quote", self.ridge("run", "--device", "vm", 'a"b.cu', code=2)[1])


if __name__ == "__main__":
    sys.exit(unittest.main())
