// Which rung the library takes for a case, told by the very functions that the public API calls.
#include <algorithm>

#include "commands.h"
#include "ladder/ask_model.h"
#include "select/device.h"
#include "select/tuning.h"
#include "sets.h"

namespace ridge::ladders {
namespace {

CandidateRung row_of(const Candidate& candidate, const RungInfo& rung) {
  CandidateRung row = {.rung = candidate.name, .idea = rung.idea};
  if (!candidate.support) row.rejected = candidate.support.reason;
  else if (candidate.predicted_us > 0) row.predicted_us = candidate.predicted_us;
  else row.lesson = true;
  return row;
}

// On the software GPU: what the model of time says, which needs tensors in memory.
Status ask_model_too(ChoiceAnswer& answer, const Loaded& loaded, const Case& c,
                     const Workload& workload, const DeviceInfo& device) {
  if (!is_software_gpu()) return Status::ok();
  const auto sets = make_sets(*loaded.ladder, c, workload, 1, false);
  if (!sets) return sets.error();
  Call& call = *sets->front().call;
  if (const Status s = check_call(call, loaded.op->name.c_str()); !s) return s;
  const std::vector<AskedRung> asked = ask_model(*loaded.ladder, call, device, nullptr);
  if (asked.empty()) return Status::ok();
  const AskedRung& first = asked.front();
  for (size_t r = 0; r < first.modelled_us.size(); ++r)
    if (first.modelled_us[r] > 0) answer.candidates[r].modelled_us = first.modelled_us[r];
  answer.chosen = answer.candidates[size_t(first.rung)].rung;
  return Status::ok();
}

Expected<ChoiceAnswer> choice_of(const std::string& name, const Request& request,
                                 const DeviceInfo& device) {
  const auto loaded = load_operator(name);
  if (!loaded) return loaded.error();
  const auto cases = cases_of(*loaded, request, loaded->ladder->timings());
  if (!cases) return cases.error();
  const Case& c = cases->front();
  const Workload workload = loaded->ladder->workload(c);
  KeptCall kept;
  const auto call = call_of(*loaded, c, workload, kept);
  if (!call) return call.error();
  const auto choices = loaded->ladder->choices(*call, device);
  if (!choices) return choices.error();
  const double bytes = workload.cost.read + workload.cost.written;
  ChoiceAnswer answer = {.of_case = describe(*loaded, c, workload),
                         .bytes = bytes,
                         .floor_us = bytes / device.pin_bandwidth * 1e6,
                         .launches = int64_t(choices->size())};
  if (choices->empty()) return answer;
  const Ladder& serving = *choices->front().ladder;
  if (device.tuning) {
    const auto is_of = [&](const std::string& text) {
      return text.find("/" + serving.family + ".json") != text.npos;
    };
    for (const std::string& file : device.tuning->files())
      if (is_of(file)) answer.tuned_by = file;
    for (const std::string& problem : device.tuning->problems())
      if (is_of(problem)) answer.bad_tables.push_back(problem);
  }
  // A call of several launches is told by its first.
  const Ladder::Choice& first = choices->front();
  if (first.ladder != loaded->ladder) answer.handed_to = first.ladder->family;
  if (first.chosen >= 0) answer.chosen = first.ladder->rungs[size_t(first.chosen)].name;
  answer.study = std::ranges::all_of(first.candidates,
                                     [](const Candidate& rung) { return rung.predicted_us == 0; });
  for (size_t r = 0; r < first.candidates.size(); ++r)
    answer.candidates.push_back(row_of(first.candidates[r], first.ladder->rungs[r]));
  if (request.predicted) return answer;
  if (const Status s = ask_model_too(answer, *loaded, c, workload, device); !s) return s.error();
  return answer;
}

}  // namespace

Expected<Call> call_of(const Loaded& loaded, const Case& c, const Workload& workload,
                       KeptCall& kept) {
  Call call = loaded.ladder->call(c, workload, nowhere(workload), kept);
  if (const Status s = check_call(call, loaded.op->name.c_str()); !s) return s.error();
  return call;
}

int choose(const Request& request) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  for (const std::string& name : request.operators) {
    const auto answer = choice_of(name, request, *device);
    if (!answer) return fail(answer.error());
    tell(*answer);
  }
  return 0;
}

}  // namespace ridge::ladders
