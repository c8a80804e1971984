"""`ridge profile --against`.

    RIDGE_BINARY=… against_test.py
"""
import json
import unittest

from ridge_profile import ProfileTest

TURN = """
constexpr int kRow = 32;
__global__ void turn(const float* in, float* out) {
  __shared__ float tile[32][kRow];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  turn<<<1, dim3(32, 32)>>>(a, b);
  return cudaDeviceSynchronize();
}
"""


class Against(ProfileTest):
    """Two profiles beside each other."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder.joinpath("turn.cu").write_text(TURN)
        done = cls.run_ridge("turn.cu", "--json", "before.json")
        assert done.returncode == 0, done.stderr

    def against(self, text, name="turn.cu"):
        (self.folder / name).write_text(text)
        out, _ = self.profile(name, "--against", "before.json", "--json", "after.json")
        return out, json.loads((self.folder / "after.json").read_text())["against"]

    def test_lines_are_matched_by_their_text(self):
        out, against = self.against(TURN.replace("kRow = 32", "kRow = 33").replace("constexpr", "// padded\n\nconstexpr"))
        (kernel,) = against["kernels"]
        self.assertEqual(against["file"], "before.json")
        self.assertEqual(kernel["counters"]["wavefronts"], [32 + 1024, 64])
        self.assertGreater(*kernel["time_cycles"])
        (line,) = [line for line in kernel["lines"] if line["counters"].get("conflicts")]
        self.assertEqual((line["line_before"], line["line"]), (7, 9))
        self.assertEqual(line["text"], line["text_before"])
        self.assertEqual(line["counters"]["conflicts"], [992, 0])
        self.assertRegex(out, r"wavefronts +1,056 +64 +−94 %")
        self.assertRegex(out, r"line 7 → 9\n +out\[.*\n.*wavefronts 1,024 → 32 \(−97 %\), bank conflicts 992 → 0 \(gone\)")

    def test_the_same_program(self):
        out, against = self.against(TURN)
        self.assertIn("no line changed", out)
        for line in against["kernels"][0]["lines"]:
            self.assertEqual((line["line"], line["text"]), (line["line_before"], line["text_before"]))

    def test_edited_new_and_lost_lines(self):
        edited = TURN.replace("tile[threadIdx.x][threadIdx.y]", "tile[threadIdx.y][threadIdx.x] * 2").replace(
            "  __syncthreads();\n", "").replace("__global__", "__device__ float spare;\n__global__").replace(
            "\n}\nint", "\n  if (out == in) spare = 1;\n}\nint")
        out, against = self.against(edited)
        (kernel,) = against["kernels"]
        by_text = {line.get("text_before", line.get("text")): line for line in kernel["lines"]}
        changed = by_text["out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];"]
        self.assertIn("* 2", changed["text"])
        self.assertNotIn("line", by_text["__syncthreads();"])
        self.assertNotIn("line_before", by_text["if (out == in) spare = 1;"])
        self.assertRegex(out, r"- out\[.*\n +\+ out\[.* \* 2;")
        self.assertIn(", gone", out)
        self.assertIn(", new", out)

    def test_kernels_that_were_renamed_added_or_lost(self):
        out, against = self.against(TURN.replace("turn(", "turn_around(").replace("turn<", "turn_around<"), "other.cu")
        self.assertEqual([(k["name_before"], k["name"]) for k in against["kernels"]], [("turn", "turn_around")])
        self.assertIn("turn → turn_around", out)
        two = TURN.replace("int main", "__global__ void clear(float* x) { x[threadIdx.x] = 0; }\nint main").replace(
            "  return", "  clear<<<1, 32>>>(a);\n  return")
        out, against = self.against(two)
        self.assertEqual((len(against["kernels"]), against["only_after"]), (1, ["clear"]))
        self.assertRegex(out, r"clear +is new")


if __name__ == "__main__":
    unittest.main()
