#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "select/device.h"

namespace ridge::ladders {
namespace {

// Selection looks at alignment, never at what is there: any address that no allocation has will do.
constexpr uintptr_t kNowhere = uintptr_t(1) << 40;

}  // namespace

int explain(const Options& options) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  for (const std::string& name : options.operators) {
    const Operator op = find_operator(name);
    if (!op.ladder) return fail(Error{2, "there is no operator '" + name + "'"});
    const auto cases = cases_of(op, options, op.ladder->timings);
    if (!cases) return fail(cases.error());
    const Case& c = cases->front();
    const Workload workload = op.ladder->workload(c);
    std::vector<void*> tensors;
    for (size_t t = 0; t < workload.tensors.size(); ++t)
      tensors.push_back(reinterpret_cast<void*>(kNowhere * (t + 1)));
    std::vector<Candidate> candidates;
    const int chosen = op.ladder->choose(c, tensors, *device, &candidates);
    // Nothing but lessons: there is no call to choose for.
    const bool is_study = std::ranges::all_of(
        candidates, [](const Candidate& rung) { return rung.support && rung.predicted_us == 0; });
    const double bytes = workload.cost.read + workload.cost.written;
    nlohmann::json line = {
        {"operator", name},
        {"dtype", name_of(c.dtype)},
        {"shape", shape_text(c.shape)},
        {"bytes", bytes},
        {"flops", workload.cost.flops},
        {"floor_us", bytes / device->pin_bandwidth * 1e6},
        {"study", is_study},
        {"chosen", is_study || chosen < 0 ? "" : op.ladder->rungs[size_t(chosen)].name}};
    for (size_t r = 0; r < candidates.size(); ++r) {
      nlohmann::json row = {{"rung", candidates[r].name}, {"idea", op.ladder->rungs[r].idea}};
      if (!candidates[r].support) row["rejected"] = candidates[r].support.reason;
      else if (candidates[r].predicted_us > 0) row["predicted_us"] = candidates[r].predicted_us;
      else row["lesson"] = true;
      line["candidates"].push_back(row);
    }
    std::printf("%s\n", line.dump().c_str());
  }
  return 0;
}

}  // namespace ridge::ladders
