"""libcuda.so.1 exports every function that the toolkit's cuda.h and cudaProfiler.h declare, in every version, and
docs/driver.md says of each whether it is supported; functions.def agrees with cudaTypedefs.h.

usage: exports_test.py LIBRARY TOOLKIT_INCLUDE SOURCE_ROOT COMPILER
"""
import pathlib
import re
import subprocess
import sys
import unittest

PER_THREAD = re.compile(r"_pt(sz|ds)$")


def exports():
    lines = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[-1] for line in lines.splitlines()}
    return {symbol for symbol in symbols if not symbol.startswith("ridge_")}


def declared():
    """Names in the headers; __CUDA_API_VERSION_INTERNAL makes them show every version."""
    source = "#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n#include <cudaProfiler.h>\n"
    text = subprocess.run([COMPILER, "-E", "-P", "-x", "c++", f"-I{INCLUDE}", "-"], input=source, check=True,
                          capture_output=True, text=True).stdout
    return set(re.findall(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(", text))


def rows(path, macro):
    text = pathlib.Path(ROOT, path).read_text()
    return [tuple(field.strip() for field in row.split(",")) for row in re.findall(rf"^{macro}\((.*)\)$", text, re.M)]


class Exports(unittest.TestCase):
    def test_what_the_headers_declare(self):
        ours, theirs = exports(), declared()
        self.assertEqual(sorted(theirs - ours), [], "missing")
        self.assertEqual(sorted(ours - theirs), [], "exported, but not declared")

    def test_name_of_the_library(self):
        lines = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertIn("[libcuda.so.1]", lines)


class Functions(unittest.TestCase):
    def test_versions_are_those_of_the_typedefs(self):
        typedefs = {}
        for header in ("cudaTypedefs.h", "cudaProfilerTypedefs.h"):
            text = pathlib.Path(INCLUDE, header).read_text()
            for name, version, suffix in re.findall(r"PFN_(cu\w+?)_v(\d+)(_pt(?:sz|ds))?\)\s*\(", text):
                typedefs.setdefault((name, bool(suffix)), set()).add(int(version))
        ours = {}
        for exported, name, version, null_stream in rows("src/vm/driver/functions.def", "RIDGE_FUNCTION"):
            self.assertEqual(bool(PER_THREAD.search(exported)), null_stream == "per_thread", exported)
            ours.setdefault((name, null_stream == "per_thread"), {})[int(version)] = exported
        self.assertEqual({key: set(value) for key, value in ours.items()}, typedefs)
        for versions in ours.values():  # the newer the version, the higher the number in the name
            names = [PER_THREAD.sub("", versions[version]) for version in sorted(versions)]
            self.assertEqual(names, sorted(names))


class Documentation(unittest.TestCase):
    def setUp(self):
        text = pathlib.Path(ROOT, "docs/driver.md").read_text()
        head, lists = text.split("## Supported functions")
        supported, refused = lists.split("## Refused functions")
        self.head = head
        self.supported = re.findall(r"`(cu[A-Z]\w+)`", supported)
        self.refused = re.findall(r"`(cu[A-Z]\w+)`", refused)
        self.table = {row[0] for row in rows("src/vm/driver/refused.def", "RIDGE_REFUSED")}

    def plain(self, names):
        return sorted(name for name in names if not PER_THREAD.search(name))

    def test_refused_functions_are_the_table(self):
        self.assertEqual(sorted(self.refused), self.plain(self.table))

    def test_supported_functions_are_the_rest(self):
        self.assertEqual(sorted(self.supported), self.plain(exports() - self.table))

    def test_the_count(self):
        everything = exports()
        counts = f"{len(everything)} functions, of which {len(everything - self.table)} are supported and {len(self.table)} refused"
        self.assertIn(counts, self.head)


if __name__ == "__main__":
    LIBRARY, INCLUDE, ROOT, COMPILER = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1], verbosity=2)
