"""ridge run --clock model: events of a program take their times from the model (docs/model.md).

    RIDGE_BINARY=… clock_test.py
"""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

RIDGE = os.environ["RIDGE_BINARY"]

CLOCK = r"""
#include <cstdio>
#include <cstdlib>
#include <functional>

__global__ void nothing() {}
__global__ void wait(int turns, float* out) {
  float x = threadIdx.x;
  for (int i = 0; i < turns; ++i) x = x * 0.5f + 1;
  if (x == 77) *out = x;
}

int main() {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  const auto us = [&](int times, const std::function<void()>& work) {
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = -1;
    cudaEventElapsedTime(&ms, begin, end);
    return ms * 1e3 / times;
  };
  constexpr int kBytes = 2 << 20;
  char *device, *pinned, *pageable = (char*)calloc(kBytes, 1);
  cudaMalloc(&device, kBytes), cudaMallocHost(&pinned, kBytes);
  std::printf("nothing %.3f\n", us(1, [] {}));
  std::printf("launches %.3f\n", us(100, [] { for (int i = 0; i < 100; ++i) nothing<<<1, 32>>>(); }));
  std::printf("pinned %.3f\n", us(1, [&] { cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice); }));
  std::printf("pageable %.3f\n", us(1, [&] { cudaMemcpy(device, pageable, kBytes, cudaMemcpyHostToDevice); }));

  cudaStream_t one, two;
  cudaStreamCreate(&one), cudaStreamCreate(&two);
  cudaEvent_t inside[2];
  for (cudaEvent_t& event : inside) cudaEventCreate(&event);
  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  cudaEventRecordWithFlags(inside[0], one, cudaEventRecordExternal);
  for (int i = 0; i < 32; ++i) nothing<<<1, 32, 0, one>>>();
  cudaEventRecordWithFlags(inside[1], one, cudaEventRecordExternal);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamEndCapture(one, &graph), cudaGraphInstantiate(&exec, graph, 0);
  std::printf("graph %.3f\n", us(32, [&] { cudaGraphLaunch(exec, cudaStreamLegacy); }));
  float ms = -1;
  cudaEventElapsedTime(&ms, inside[0], inside[1]);
  std::printf("in_graph %.3f\n", ms * 1e3 / 32);

  // A kernel that is known takes another time if it has more to do.
  for (int i = 0; i < 5; ++i) wait<<<1, 32>>>(900, (float*)device);
  std::printf("short %.3f\n", us(1, [&] { wait<<<1, 32>>>(900, (float*)device); }));
  // Each of 35 us or so; both streams at once.
  std::printf("streams %.3f\n", us(1, [&] {
    wait<<<1, 32, 0, one>>>(9000, (float*)device);
    wait<<<1, 32, 0, two>>>(9000, (float*)device);
  }));
}
"""


class Clock(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "clock.cu").write_text(CLOCK)

    def ridge(self, clock, source="clock.cu", code=0):
        done = subprocess.run([RIDGE, "run", "--device", "vm", "--clock", clock, source], cwd=self.folder,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")},
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def test_events_take_what_was_measured(self):
        # What was measured on an H200 (bench/model/h200.json), in microseconds.
        out, _ = self.ridge("model")
        times = {name: float(us) for name, us in (line.split() for line in out.splitlines())}
        for name, us, off in (("nothing", 1.28, 0.1), ("launches", 3.7, 0.2), ("pinned", 42.2, 0.05),
                              ("pageable", 155, 0.2), ("graph", 0.85, 0.4), ("short", 8, 0.3), ("streams", 40, 0.2)):
            self.assertLess(abs(times[name] - us), off * us, f"{name}: {times}")
        self.assertAlmostEqual(times["in_graph"], times["graph"], delta=0.2)

    def test_copies_hide_behind_products(self):
        example = Path(__file__).parents[2] / "examples" / "20_gemm_pipeline.cu"
        out, _ = self.ridge("model", example)
        batch = int(re.match(r"(\d+) products", out)[1])
        stages = re.search(r"([\d.]+) us copy in, ([\d.]+) us multiply, ([\d.]+) us copy out", out)
        one_product = sum(float(us) for us in stages.groups())
        us = {int(streams): float(us) for streams, us in re.findall(r"(\d) streams? +([\d.]+) us", out)}
        self.assertEqual(list(us), [1, 2, 3])
        self.assertAlmostEqual(us[1], batch * one_product, delta=0.1 * us[1])  # nothing is hidden
        self.assertLess(us[2], 0.7 * us[1])
        self.assertLess(us[3], 0.95 * us[2])
        # No stream may be faster than the copies in, which share one way.
        self.assertGreater(us[3], batch * float(stages[1]))

    def test_other_clocks(self):
        _, err = self.ridge("sun", code=2)
        self.assertIn("--clock is model or host, not 'sun'", err)


if __name__ == "__main__":
    unittest.main()
