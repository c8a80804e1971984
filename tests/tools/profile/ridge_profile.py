"""What the tests of `ridge profile` share."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
RIDGE = os.environ["RIDGE_BINARY"]


class ProfileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ridge-profile-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.env = dict(os.environ, XDG_CACHE_HOME=str(cls.folder / "cache"))

    @classmethod
    def run_ridge(cls, *arguments):
        return subprocess.run([RIDGE, "profile", *map(str, arguments)], cwd=cls.folder, env=cls.env,
                              capture_output=True, text=True, timeout=120)

    def profile(self, *arguments, code=0):
        done = self.run_ridge(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr
