"""The stand-ins export what the toolkit's libraries do, each name is either done or refused, docs/cublas.md says which, and
the header is right.

usage: exports_test.py STANDIN_FOLDER STUB_FOLDER TOOLKIT SOURCE_ROOT CXX
"""
import pathlib
import re
import subprocess
import sys
import unittest


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def exports(library):
    """Exported functions with their symbol versions: cublasCreate_v2@@libcublas.so.13."""
    lines = run("nm", "-D", "--defined-only", library)
    return {line.split()[-1] for line in lines.splitlines() if line.split()[-2] != "A"}


def soname(library):
    return re.findall(r"\(SONAME\).*\[(.*)\]", run("readelf", "-d", library))


def table(folder):
    """The rows of functions.def: names that are done, and refused ones with their group."""
    text = (ROOT / "src/standin" / folder / "functions.def").read_text()
    return set(re.findall(r"^RIDGE_DONE\((\w+)\)", text, re.M)), dict(re.findall(r'^RIDGE_REFUSED\((\w+), "(.*)"\)', text, re.M))


LIBRARIES = [("libcublas.so.13", "cublas"), ("libcublasLt.so.13", "cublaslt")]


class Exports(unittest.TestCase):
    def test_same_as_the_toolkit(self):
        for file, _ in LIBRARIES:
            theirs = TOOLKIT / "lib64" / file
            if not theirs.exists():
                self.skipTest(f"no {theirs}")
            self.assertEqual(sorted(exports(theirs) ^ exports(STANDIN / file)), [], "in one of the two only")

    def test_names_versions_and_the_table(self):
        for file, folder in LIBRARIES:
            done, refused = table(folder)
            self.assertEqual(sorted(done & refused.keys()), [])
            wanted = sorted(f"{name}@@{file}" for name in done | refused.keys())
            stub = STUBS / file.removesuffix(".13")
            for library in (STANDIN / file, stub):
                self.assertEqual(sorted(exports(library)), wanted, library)
                self.assertEqual(soname(library), [file])


class Documentation(unittest.TestCase):
    """docs/cublas.md lists every function, by its name without _v2 and _64."""

    def test_lists(self):
        text = (ROOT / "docs/cublas.md").read_text()
        _, lists = text.split("## Supported functions")
        supported, refused = lists.split("## Refused functions")
        done, groups = table("cublas")
        plain = lambda names: sorted({re.sub(r"(_v2)?(_64)?$", "", name) for name in names})
        self.assertEqual(sorted(re.findall(r"`(cublas\w+)`", supported)), plain(done))
        for group in set(groups.values()):
            self.assertIn(f"| {group} | {sum(g == group for g in groups.values())} |", refused)
        self.assertIn(f"{len(done)} of the {len(done) + len(groups)} functions", text)


class Header(unittest.TestCase):
    """Ridge's header says the same as the toolkit's: values of constants, types of functions, names behind names."""

    def preprocess(self, which, *flags):
        folder = ["-I", OUR_HEADERS] if which == "ours" else []
        return run(CXX, "-x", "c++", "-E", "-P", *flags, *folder, "-I", TOOLKIT / "include", "-include", "cublas_v2.h", "/dev/null")

    def setUp(self):
        if not (TOOLKIT / "include/cublas_v2.h").exists():
            self.skipTest("the toolkit has no cublas_v2.h")
        self.ours, self.theirs = self.preprocess("ours"), self.preprocess("theirs")

    def functions(self, text):
        """What each declared function returns and takes, without the names of parameters."""
        found = {}
        for result, name, parameters in re.findall(r"(\w[\w ]*\*?)\s*\b(cublas\w+)\s*\(([^;{}()]*)\)\s*;", text):
            types = [result.strip()]
            for parameter in parameters.split(","):
                words = re.sub(r"\b(\w+)\s*(\[\])?\s*$", r"\2", parameter.strip())
                types.append(re.sub(r"\s+", "", words.replace("long long int", "long long")))
            found.setdefault(name, types)
        return found

    def test_functions(self):
        done, _ = table("cublas")
        ours, theirs = self.functions(self.ours), self.functions(self.theirs)
        self.assertEqual(sorted(done - ours.keys()), [])
        for name in sorted(done):
            self.assertEqual(ours[name], theirs.get(name), name)

    def test_constants(self):
        ours, theirs = (dict(re.findall(r"\b(CUBLAS_\w+)\s*=\s*(-?\d+)", text)) for text in (self.ours, self.theirs))
        self.assertGreater(len(ours), 80)
        self.assertEqual(ours, {name: theirs.get(name) for name in ours})

    def test_names(self):
        pattern = re.compile(r"#define (cublas\w+|CUBLAS_VER\w+) (\w+|\(.*\))$", re.M)
        ours, theirs = (dict(pattern.findall(self.preprocess(which, "-dM"))) for which in ("ours", "theirs"))
        self.assertEqual(ours, {name: theirs.get(name) for name in ours})
        self.assertEqual(ours["cublasSgemm_64"], "cublasSgemm_v2_64")

    def test_plain_c(self):
        run(CXX, "-x", "c", "-std=c11", "-fsyntax-only", "-Wall", "-Werror", "-I", OUR_HEADERS, "-isystem", TOOLKIT / "include", "-include",
            "cublas_v2.h", "/dev/null")


if __name__ == "__main__":
    STANDIN, STUBS, TOOLKIT, ROOT = (pathlib.Path(word) for word in sys.argv[1:5])
    CXX = sys.argv[5]
    OUR_HEADERS = ROOT / "src/standin/cublas/include"
    unittest.main(argv=sys.argv[:1], verbosity=2)
