// Verifies every rung, then times them in turn with the rivals; on the software GPU, counts.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "harness/device.h"
#include "harness/inputs.h"
#include "harness/rival.h"
#include "harness/statistics.h"
#include "harness/timing.h"
#include "harness/verify.h"
#include "ladder/cases.h"
#include "select/device.h"
#include "sets.h"

namespace ridge::ladders {
namespace {

using nlohmann::json;

// Larger ones are verified at the tour's size: a float64 reference of gigabytes would take minutes.
constexpr int64_t kLargestReference = 1 << 22;  // elements

int64_t elements_of(const Workload& workload) {
  int64_t most = 0;
  for (const TensorSpec& t : workload.tensors) most = std::max(most, count(t.shape));
  return most;
}

// The sets for every rung: one for all, unless some want their host tensors pageable.
class SetsOfRungs {
 public:
  SetsOfRungs(const Ladder& ladder, const Case& c, const Workload& workload, int sets)
      : ladder_(ladder), c_(c), workload_(workload), sets_(sets) {}

  Expected<const Sets*> of(int rung) {
    const RungInfo& info = ladder_.rungs[size_t(rung)];
    std::optional<Sets>& made = made_[info.pageable && has_host_tensors()];
    if (!made) {
      auto sets = make_sets(ladder_, c_, workload_, sets_, info);
      if (!sets) return sets.error();
      made = std::move(*sets);
    }
    return &*made;
  }

 private:
  bool has_host_tensors() const {
    return std::any_of(workload_.tensors.begin(), workload_.tensors.end(),
                       [](const TensorSpec& spec) { return spec.on_host; });
  }
  const Ladder& ladder_;
  const Case& c_;
  const Workload& workload_;
  int sets_;
  std::optional<Sets> made_[2];  // pinned, pageable
};

// Where a rung is checked: the case itself, or, where that is too large for a reference, the tour's
// case if it is of this operator, then the tests, the largest first.
std::vector<Case> checked_cases(const Operator& op, const Case& c) {
  if (elements_of(op.ladder->workload(c)) <= kLargestReference) return {c};
  std::vector<Case> cases;
  for (Case test : op.ladder->tests)
    if (test.op == c.op && test.dtype == c.dtype && !test.specials) cases.push_back(test);
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Case& a, const Case& b) { return count(a.shape) > count(b.shape); });
  if (op.ladder->tour.op == c.op) {
    cases.insert(cases.begin(), op.ladder->tour);
    cases.front().dtype = c.dtype;
  }
  if (cases.empty()) cases.push_back(op.ladder->tour);
  return cases;
}

// Which rungs are right, each at the first of the cases that it supports.
std::vector<bool> verify_all(const Operator& op, const Case& c, const DeviceInfo& device,
                             const Options& options) {
  std::vector<bool> right(op.ladder->rungs.size(), false);
  std::vector<json> lines(right.size());
  for (const Case& checked : checked_cases(op, c)) {
    std::optional<harness::Prepared> prepared;  // made when the first rung wants it
    for (int r = 0; r < int(right.size()); ++r) {
      const std::string& name = op.ladder->rungs[size_t(r)].name;
      json& line = lines[size_t(r)];
      if (!options.rung.empty() && options.rung != name) continue;
      if (!line.is_null() && !line.contains("unsupported")) continue;
      if (!prepared) prepared = harness::prepare(*op.ladder, checked);
      const auto result = harness::verify(*prepared, r, device);
      line = {{"event", "verified"},
              {"rung", name},
              {"worst", result.worst},
              {"at", shape_text(checked.shape)}};
      switch (result.verdict) {
        case harness::Verdict::right: right[size_t(r)] = true; break;
        case harness::Verdict::unsupported: line["unsupported"] = result.message; break;
        default: line["wrong"] = result.message;
      }
    }
  }
  for (const json& line : lines)
    if (!line.is_null()) tell(line);
  return right;
}

std::vector<harness::Rival> load_rivals(const std::string& path) {
  std::vector<harness::Rival> rivals;
  if (path.empty()) return rivals;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    std::fprintf(stderr, "ridge: no rivals: %s\n", dlerror());
    return rivals;
  }
  if (const auto f =
          reinterpret_cast<harness::RivalsFunction>(dlsym(library, harness::kRivalsSymbol)))
    f(&rivals);
  return rivals;
}

constexpr double kLeastForRoof = 16 << 20;  // bytes; less is in and out of caches and queues

json rounded(const std::vector<double>& us) {
  json samples = json::array();
  for (const double x : us) samples.push_back(std::round(x * 1e3) / 1e3);
  return samples;
}

// The fastest of those that only moved memory.
void tell_roof(std::span<const harness::Timing> memory) {
  const harness::Timing* best = nullptr;
  const auto median = [](const harness::Timing& t) { return harness::summarize(t.us).median; };
  for (const harness::Timing& t : memory)
    if (t.status && !t.us.empty() && (!best || median(t) < median(*best))) best = &t;
  if (best) tell({{"event", "roof"}, {"by", best->name}, {"us", rounded(best->us)}});
}

Status time_all(const Operator& op, const Case& c, const Workload& workload,
                const std::vector<bool>& right, const DeviceInfo& device, const Options& options,
                const std::vector<harness::Rival>& rivals) {
  const double bytes = workload.cost.read + workload.cost.written;
  const int sets = options.hot ? 1 : harness::sets_beyond_l2(bytes, device);
  SetsOfRungs sets_of(*op.ladder, c, workload, sets);

  std::vector<harness::Contestant> contestants;
  std::vector<harness::DeviceBuffer> workspaces;
  const auto workspace_of = [&](size_t wanted) -> Expected<void*> {
    auto buffer = harness::DeviceBuffer::make(int64_t(wanted), 0, false);
    if (!buffer) return buffer.error();
    workspaces.push_back(std::move(*buffer));
    return workspaces.back().data();
  };
  for (int r = 0; r < int(right.size()); ++r) {
    if (!right[size_t(r)]) continue;
    const auto made = sets_of.of(r);
    if (!made) return made.error();
    const auto& tensors = (*made)->pointers;
    if (const Support support = op.ladder->supports(r, c, tensors[0], device); !support) {
      tell({{"event", "verified"},
            {"rung", op.ladder->rungs[size_t(r)].name},
            {"unsupported", support.reason}});
      continue;
    }
    const size_t wanted = op.ladder->workspace(r, c, tensors[0], device);
    const auto workspace = workspace_of(wanted);
    if (!workspace) return workspace.error();
    contestants.push_back({op.ladder->rungs[size_t(r)].name,
                           [&, r, wanted, at = *workspace](int set, cudaStream_t stream) {
                             return op.ladder->launch(r, c, tensors[size_t(set)], at, wanted,
                                                      device, stream);
                           }});
  }
  const size_t ours = contestants.size();
  if (ours == 0) return Status::ok();
  const auto top = sets_of.of(int(right.size()) - 1);
  if (!top) return top.error();
  const auto& tensors = (*top)->pointers;
  for (const harness::Rival& rival : rivals) {
    if (rival.operator_ != op.ladder->operators[size_t(op.op)] || !rival.serves(c)) continue;
    const size_t wanted = rival.workspace ? rival.workspace(c, tensors[0]) : 0;
    const auto workspace = workspace_of(wanted);
    if (!workspace) return workspace.error();
    contestants.push_back(
        {rival.library, [&, wanted, at = *workspace](int set, cudaStream_t stream) {
           return rival.launch(c, tensors[size_t(set)], at, wanted, stream);
         }});
  }
  const size_t rivals_end = contestants.size();
  if (!options.hot && bytes >= kLeastForRoof)
    for (auto& one : harness::memory_alone(workload.cost.read, workload.cost.written, device))
      contestants.push_back(std::move(one));
  harness::TimingOptions timing = {.cold = !options.hot, .sets = sets};
  if (options.fast) timing.least = 10, timing.most = 30, timing.seconds = 0.3;
  const auto timings = harness::time_in_turn(contestants, timing, device);
  tell_roof(std::span(timings).subspan(rivals_end));
  const double floor_us = bytes / device.pin_bandwidth * 1e6;
  for (size_t i = 0; i < rivals_end; ++i) {
    json line = {{"event", "timed"}, {i < ours ? "rung" : "rival", timings[i].name}};
    if (!timings[i].status) line["failed"] = timings[i].status.message();
    line["us"] = rounded(timings[i].us);
    line["by_graph"] = timings[i].by_graph;
    auto sorted = timings[i].us;
    std::sort(sorted.begin(), sorted.end());
    // A hot L2 may well beat the memory's bandwidth.
    if (!sorted.empty() && !options.hot && sorted[sorted.size() / 2] < floor_us)
      line["implausible"] = floor_us;
    tell(line);
  }
  return Status::ok();
}

Status count_all(const Operator& op, const Case& c, const Workload& workload,
                 const std::vector<bool>& right, const DeviceInfo& device) {
  SetsOfRungs sets_of(*op.ladder, c, workload, 1);
  for (int r = 0; r < int(right.size()); ++r) {
    if (!right[size_t(r)]) continue;
    const auto made = sets_of.of(r);
    if (!made) return made.error();
    const auto& tensors = (*made)->pointers[0];
    const size_t wanted = op.ladder->workspace(r, c, tensors, device);
    auto workspace = harness::DeviceBuffer::make(int64_t(wanted), 0, false);
    if (!workspace) return workspace.error();
    Status status;
    const auto counted = harness::count_instructions([&] {
      status = op.ladder->launch(r, c, tensors, workspace->data(), wanted, device, nullptr);
      if (status) status = harness::synchronize();
    });
    if (!status) return status;
    tell({{"event", "counted"},
          {"rung", op.ladder->rungs[size_t(r)].name},
          {"warp_instructions", counted->warp},
          {"thread_instructions", counted->thread}});
  }
  return Status::ok();
}

}  // namespace

int climb(const Options& options) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  const bool software = is_software_gpu();
  const auto rivals = load_rivals(software ? "" : options.rivals);
  if (!software) {
    const auto roofs = harness::measure_roofs(*device);
    if (!roofs) return fail(roofs.error());
    const harness::Weather now = harness::weather();
    tell({{"event", "roofs"},
          {"copy", roofs->copy},
          {"read", roofs->read},
          {"write", roofs->write},
          {"pins", device->pin_bandwidth},
          {"weather",
           {{"sm_mhz", now.sm_mhz},
            {"memory_mhz", now.memory_mhz},
            {"celsius", now.celsius},
            {"watts", now.watts}}}});
  }
  for (const std::string& name : options.operators) {
    const Operator op = find_operator(name);
    if (!op.ladder) return fail(Error{2, "there is no operator '" + name + "'"});
    const bool small = software || options.tour;
    const auto cases =
        cases_of(op, options, small ? std::vector<Case>{op.ladder->tour} : op.ladder->timings);
    if (!cases) return fail(cases.error());
    for (const Case& c : *cases) {
      const Workload workload = op.ladder->workload(c);
      json header = describe(op, c, workload);
      header["event"] = "case";
      header["verified_at"] = shape_text(checked_cases(op, c).front().shape);
      tell(header);
      const std::vector<bool> right = verify_all(op, c, *device, options);
      const Status done = software ? count_all(op, c, workload, right, *device)
                                   : time_all(op, c, workload, right, *device, options, rivals);
      if (!done) return fail(done);
    }
  }
  return 0;
}

}  // namespace ridge::ladders
