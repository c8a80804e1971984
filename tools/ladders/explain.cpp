// Which rung the library takes for a case, told by the very function that the public API calls.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "select/device.h"

namespace ridge::ladders {
namespace {

using nlohmann::json;

json row_of(const Candidate& candidate, const RungInfo& rung) {
  json row = {{"rung", candidate.name}, {"idea", rung.idea}};
  if (!candidate.support) row["rejected"] = candidate.support.reason;
  else if (candidate.predicted_us > 0) row["predicted_us"] = candidate.predicted_us;
  else row["lesson"] = true;
  return row;
}

Expected<json> explained(const std::string& name, const Options& options,
                         const DeviceInfo& device) {
  const auto loaded = load_operator(name);
  if (!loaded) return loaded.error();
  const auto cases = cases_of(*loaded, options, loaded->ladder->timings());
  if (!cases) return cases.error();
  const Case& c = cases->front();
  const Workload workload = loaded->ladder->workload(c);
  KeptCall kept;
  const auto call = call_of(*loaded, c, workload, kept);
  if (!call) return call.error();
  const auto choices = loaded->ladder->choices(*call, device);
  if (!choices) return choices.error();
  json line = describe(*loaded, c, workload);
  const double bytes = workload.cost.read + workload.cost.written;
  line["bytes"] = bytes;
  line["floor_us"] = bytes / device.pin_bandwidth * 1e6;
  line["launches"] = choices->size();
  line["chosen"] = "";
  line["candidates"] = json::array();
  if (choices->empty()) return line;
  // A call of several launches is told by its first.
  const Ladder::Choice& first = choices->front();
  if (first.ladder != loaded->ladder) line["handed_to"] = first.ladder->family;
  if (first.chosen >= 0) line["chosen"] = first.ladder->rungs[size_t(first.chosen)].name;
  line["study"] = std::ranges::all_of(first.candidates,
                                      [](const Candidate& rung) { return rung.predicted_us == 0; });
  for (size_t r = 0; r < first.candidates.size(); ++r)
    line["candidates"].push_back(row_of(first.candidates[r], first.ladder->rungs[r]));
  return line;
}

}  // namespace

Expected<Call> call_of(const Loaded& loaded, const Case& c, const Workload& workload,
                       KeptCall& kept) {
  Call call = loaded.ladder->call(c, workload, nowhere(workload), kept);
  if (const Status s = check_call(call, loaded.op->name.c_str()); !s) return s.error();
  return call;
}

int explain(const Options& options) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  for (const std::string& name : options.operators) {
    const auto line = explained(name, options, *device);
    if (!line) return fail(line.error());
    tell(*line);
  }
  return 0;
}

}  // namespace ridge::ladders
