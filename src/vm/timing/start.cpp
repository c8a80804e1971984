// The model of time listens from the start where the environment asks for it: one line of JSON per
// launch goes to the file that RIDGE_MODEL names.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/text.h"
#include "vm/timing/recorder.h"

namespace ridge::vm::timing {
namespace {

void write_line(std::FILE* out, const LaunchTime& launch) {
  const Dim3 &g = launch.grid, &b = launch.block;
  const model::Prediction& time = launch.time;
  const model::SmTime& sm = time.sm;
  std::fprintf(
      out,
      "{\"name\": %s, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"modelled_us\": %.3f, "
      "\"modelled_low_us\": %.3f, \"modelled_high_us\": %.3f, \"checked\": %s, \"bound\": %s, \"shares\": "
      "{\"memory\": %.3f, \"l2\": %.3f, \"l1_shared\": %.3f, \"issue\": %.3f, \"atomics\": "
      "%.3f}}\n",
      in_quotes(launch.kernel).c_str(), g.x, g.y, g.z, b.x, b.y, b.z, time.us, time.low_us,
      time.high_us, time.checked ? "true" : "false", in_quotes(time.bound).c_str(), sm.dram_of_peak, sm.l2_of_peak, sm.lsu, sm.issue,
      sm.atomics);
  std::fflush(out);
}

__attribute__((constructor)) void start() {
  const char* path = std::getenv("RIDGE_MODEL");
  if (!path || !*path) return;
  std::FILE* out = std::fopen(path, "we");
  if (!out) {  // before the program has done any work
    std::fprintf(stderr, "ridge: cannot write modelled times to %s: %s\n", path,
                 std::strerror(errno));
    std::_Exit(1);
  }
  const auto told = [out](const LaunchTime& launch) { write_line(out, launch); };
  add_observer(new Recorder(told, {}));  // outlives every launch
}

}  // namespace
}  // namespace ridge::vm::timing
