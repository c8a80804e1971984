#include "harness/verify.h"

#include <algorithm>
#include <cstdio>

#include "commands.h"
#include "ladder/cases.h"
#include "select/device.h"

namespace ridge::ladders {
namespace {

// What a sanitizer gets through, which makes a launch a thousand times as long.
constexpr int64_t kFastElements = 1 << 11;

bool is_small(const Ladder& ladder, const Case& c) {
  int64_t elements = 0;
  for (const TensorSpec& tensor : ladder.workload(c).tensors)
    elements = std::max(elements, count(tensor.shape));
  return elements <= kFastElements;
}

}  // namespace

int verify(const Options& options) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  int wrong = 0, right = 0, unsupported = 0;
  for (const Ladder* ladder : all_ladders()) {
    bool wanted = options.operators.empty();
    for (const std::string& name : options.operators) wanted |= name == ladder->family;
    if (!wanted) continue;
    for (const Case& c : ladder->tests) {
      if (const Status s = ladder->check(c); !s) {
        std::printf("%s: the case itself: %s\n", ladder->family.c_str(), s.message().c_str());
        ++wrong;
        continue;
      }
      if (options.fast && !is_small(*ladder, c)) continue;
      const harness::Prepared prepared = harness::prepare(*ladder, c);
      for (int r = 0; r < int(ladder->rungs.size()); ++r) {
        if (!options.rung.empty() && ladder->rungs[size_t(r)].name != options.rung) continue;
        const auto result = harness::verify(prepared, r, *device);
        const char* rung = ladder->rungs[size_t(r)].name.c_str();
        if (result.verdict == harness::Verdict::right) {
          ++right;
        } else if (result.verdict == harness::Verdict::unsupported) {
          ++unsupported;
        } else {
          ++wrong;
          std::printf("%s/%s: %s: %s\n", ladder->family.c_str(), rung,
                      harness::case_text(*ladder, c).c_str(), result.message.c_str());
          // After a fault the device is gone for this process.
          if (result.verdict == harness::Verdict::failed) return 1;
        }
      }
    }
  }
  std::printf("%d right, %d wrong, %d not supported\n", right, wrong, unsupported);
  return wrong || right == 0 ? 1 : 0;
}

}  // namespace ridge::ladders
