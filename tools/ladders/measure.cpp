// Verifies every contestant, then times those that are right in turn; on the software GPU, has the
// model of time say how long they take on a GPU.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

#include "commands.h"
#include "harness/contestant.h"
#include "harness/device.h"
#include "harness/statistics.h"
#include "harness/timing.h"
#include "harness/verify.h"
#include "select/device.h"
#include "sets.h"

namespace ridge::ladders {
namespace {

using harness::Contestant;

// The sets for every contestant: one for all, unless some want their host tensors pageable.
class SetsInMemory {
 public:
  SetsInMemory(const Ladder& ladder, const Case& c, const Workload& workload, int sets)
      : ladder_(ladder), c_(c), workload_(workload), sets_(sets) {}

  Expected<const Sets*> of(const Contestant& contestant) {
    const bool pageable =
        contestant.pageable && std::any_of(workload_.tensors.begin(), workload_.tensors.end(),
                                           [](const TensorSpec& spec) { return spec.on_host; });
    std::optional<Sets>& made = made_[pageable];
    if (!made) {
      auto sets = make_sets(ladder_, c_, workload_, sets_, pageable);
      if (!sets) return sets.error();
      made = std::move(*sets);
    }
    return &*made;
  }

 private:
  const Ladder& ladder_;
  const Case& c_;
  const Workload& workload_;
  int sets_;
  std::optional<Sets> made_[2];  // pinned, pageable
};

// How contestants are checked before they are timed.
struct Checks {
  std::vector<Case> cases;
  // All of them, not only the first that a contestant can do.
  bool all = false;
  harness::Means means;
};

// The tour's case if it is of this operator, then the tests, the largest first.
std::vector<Case> smaller_cases(const Loaded& loaded, const Case& c) {
  const Ladder& ladder = *loaded.ladder;
  std::vector<Case> cases;
  for (const Case& test : ladder.tests())
    if (test.op == c.op && test.dtype == c.dtype && !test.specials) cases.push_back(test);
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Case& a, const Case& b) { return count(a.shape) > count(b.shape); });
  Case tour = ladder.tour();
  if (tour.op == c.op) {
    tour.dtype = c.dtype;
    tour.formats = c.formats;
    tour.parameters = c.parameters;
    tour.distribution = c.distribution;
    tour.with = c.with;
    if (complete(tour, *loaded.op) && ladder.check(tour)) cases.insert(cases.begin(), tour);
  }
  if (cases.empty()) cases.push_back(ladder.tour());
  return cases;
}

// What the software GPU verifies in a moment.
constexpr double kMostOnSoftware = 1 << 22;

// The case itself, and with whole numbers where that gives a proof; smaller ones where it is too
// large for all that its family offers, or for the software GPU.
Checks checks_of(const Loaded& loaded, const Case& c) {
  const Workload workload = loaded.ladder->workload(c);
  const bool is_large = is_software_gpu() && harness::reference_work(workload) > kMostOnSoftware;
  const auto means = is_large ? std::nullopt : harness::means_for(*loaded.ladder, c);
  if (!means) return {.cases = smaller_cases(loaded, c)};
  Checks checks = {.cases = {c}, .all = true, .means = *means};
  if (means->proof) checks.cases.push_back(harness::exact_case(c));
  return checks;
}

const char* name_of(const harness::Means& means) {
  if (means.samples == 0) return "reference";
  return means.proof ? "samples and proof" : "samples";
}

Step step_of(const Contestant& who) {
  return {.name = who.name, .idea = who.idea, .rival = who.rival};
}

// Which contestants are right.
Expected<std::vector<bool>> verify_all(const Loaded& loaded, const Checks& checks,
                                       const std::vector<Contestant>& contestants) {
  std::vector<bool> right(contestants.size(), false);
  std::vector<std::optional<Step>> steps(contestants.size());
  for (const Case& checked : checks.cases) {
    std::optional<harness::Prepared> prepared;  // made when the first one wants it
    for (size_t i = 0; i < contestants.size(); ++i) {
      const Contestant& who = contestants[i];
      std::optional<Step>& step = steps[i];
      const bool is_open = !step || !step->unsupported.empty() || (checks.all && right[i]);
      if (!is_open) continue;
      if (!prepared) {
        auto made = harness::prepare(*loaded.ladder, checked);
        if (!made) return made.error();
        prepared = std::move(*made);
      }
      const auto result = harness::verify(*prepared, who);
      step = step_of(who);
      right[i] = result.verdict == harness::Verdict::right;
      if (result.verdict == harness::Verdict::unsupported) step->unsupported = result.message;
      else if (!right[i])
        step->wrong = (checked.exact ? "with whole numbers: " : "") + result.message;
    }
  }
  for (const std::optional<Step>& step : steps)
    if (step) tell(StepAnswer{kVerified, *step});
  return right;
}

// What stands beside the family's rungs. For the software GPU nobody builds it unasked, and what
// was built once may be out of date: there it is to be asked for.
harness::RivalsFunction load_rivals(const std::string& name, const Request& request) {
  const FamilyInfo& family = *find_family(name);
  if (family.rivals.empty() || (is_software_gpu() && !request.rivals)) return nullptr;
  void* const library = dlopen(rivals_library(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? dlsym(library, harness::kRivalsSymbol) : nullptr;
  if (!found) tell(RivalsAnswer{family.rivals, dlerror()});
  return reinterpret_cast<harness::RivalsFunction>(found);
}

// Whether a contestant that is right elsewhere cannot do the case itself; it is told.
bool refuses(const Contestant& who, const Case& c, const Call& call) {
  const std::string why = who.refuses(c, call);
  if (why.empty()) return false;
  Step step = step_of(who);
  step.unsupported = why;
  tell(StepAnswer{kVerified, step});
  return true;
}

constexpr double kLeastForRoof = 16 << 20;  // bytes; less is in and out of caches and queues

std::vector<double> rounded(std::vector<double> us) {
  for (double& x : us) x = std::round(x * 1e3) / 1e3;
  return us;
}

// The fastest of those that only moved memory.
void tell_roof(std::span<const harness::Timing> memory) {
  const harness::Timing* best = nullptr;
  const auto median = [](const harness::Timing& t) { return harness::summarize(t.us).median; };
  for (const harness::Timing& t : memory)
    if (t.status && !t.us.empty() && (!best || median(t) < median(*best))) best = &t;
  if (best) tell(MemoryAnswer{best->name, rounded(best->us)});
}

void tell_timing(const Contestant& who, const harness::Timing& timing, double floor_us, bool hot) {
  Step step = step_of(who);
  if (!timing.status) step.failed = timing.status.message();
  step.us = rounded(timing.us);
  step.by_graph = timing.by_graph;
  // A hot L2 may well beat the memory's bandwidth.
  if (!timing.us.empty() && !hot && harness::summarize(timing.us).median < floor_us)
    step.implausible_under = floor_us;
  tell(StepAnswer{kTimed, step});
}

Status time_all(const Loaded& loaded, const Case& c, const Workload& workload,
                const std::vector<Contestant>& contestants, const DeviceInfo& device,
                const Request& request) {
  const double bytes = workload.cost.read + workload.cost.written;
  const int sets = request.hot ? 1 : harness::sets_beyond_l2(bytes, device);
  SetsInMemory sets_for(*loaded.ladder, c, workload, sets);
  std::vector<harness::Timed> timed;
  std::vector<const Contestant*> who_of;
  std::vector<harness::DeviceBuffer> workspaces;
  for (const Contestant& who : contestants) {
    const auto made = sets_for.of(who);
    if (!made) return made.error();
    const Call& call = *(*made)->front().call;
    if (refuses(who, c, call)) continue;
    const auto wanted = who.workspace(call);
    if (!wanted) return wanted.error();
    auto buffer = harness::DeviceBuffer::make(int64_t(*wanted), 0, false);
    if (!buffer) return buffer.error();
    workspaces.push_back(std::move(*buffer));
    const Workspace workspace = {workspaces.back().data(), *wanted};
    timed.push_back({who.name, [&who, workspace, sets = *made](int set, cudaStream_t stream) {
                       return who.launch(*(*sets)[size_t(set)].call, workspace, stream);
                     }});
    who_of.push_back(&who);
  }
  if (who_of.empty()) return Status::ok();
  if (!request.hot && bytes >= kLeastForRoof)
    for (auto& one : harness::memory_alone(workload.cost.read, workload.cost.written, device))
      timed.push_back(std::move(one));
  harness::TimingOptions timing = {.cold = !request.hot, .sets = sets};
  if (request.fast) timing.least = 10, timing.most = 30, timing.seconds = 0.3;
  const auto timings = harness::time_in_turn(timed, timing, device);
  tell_roof(std::span(timings).subspan(who_of.size()));
  const double floor_us = bytes / device.pin_bandwidth * 1e6;
  for (size_t i = 0; i < who_of.size(); ++i)
    tell_timing(*who_of[i], timings[i], floor_us, request.hot);
  return Status::ok();
}

// Launches a contestant once on the first set, by way of `watched`, which gets the launch as a
// function. False: it cannot do this case, which is told.
template <class Watched>
Expected<bool> launch_once(SetsInMemory& sets_for, const Contestant& who, const Case& c,
                           Watched watched) {
  const auto made = sets_for.of(who);
  if (!made) return made.error();
  const Call& call = *(*made)->front().call;
  if (refuses(who, c, call)) return false;
  const auto wanted = who.workspace(call);
  if (!wanted) return wanted.error();
  auto workspace = harness::DeviceBuffer::make(int64_t(*wanted), 0, false);
  if (!workspace) return workspace.error();
  Status status;
  watched([&] {
    status = who.launch(call, {workspace->data(), *wanted}, nullptr);
    if (status) status = harness::synchronize();
  });
  if (!status) return status.error();
  return true;
}

Status count_all(const Loaded& loaded, const Case& c, const std::vector<Contestant>& contestants) {
  const Workload workload = loaded.ladder->workload(c);
  SetsInMemory sets_for(*loaded.ladder, c, workload, 1);
  for (const Contestant& who : contestants) {
    Step step = step_of(who);
    const auto done = launch_once(sets_for, who, c, [&](const auto& launch) {
      const auto counted = harness::count_instructions(launch);
      step.warp_instructions = counted->warp;
      step.thread_instructions = counted->thread;
    });
    if (!done) return done.error();
    if (*done) tell(StepAnswer{kCounted, step});
  }
  return Status::ok();
}

Step with_model(Step step, const harness::Modelled& modelled, bool by_graph) {
  const double factor = by_graph ? modelled.graph_us / modelled.us : 1;
  step.modelled_us = modelled.us * factor;
  step.modelled_low_us = modelled.low_us * factor;
  step.modelled_high_us = modelled.high_us * factor;
  step.bound = modelled.bound;
  step.why = modelled.why;
  step.by_graph = by_graph;
  return step;
}

Status model_all(const Loaded& loaded, const Case& c, const Workload& workload,
                 const std::vector<Contestant>& contestants) {
  SetsInMemory sets_for(*loaded.ladder, c, workload, 1);
  std::vector<std::pair<Step, harness::Modelled>> all;
  for (const Contestant& who : contestants) {
    std::optional<harness::Modelled> modelled;
    const auto done = launch_once(
        sets_for, who, c, [&](const auto& launch) { modelled = harness::model_time(launch); });
    if (!done) {
      Step step = step_of(who);
      step.failed = done.error().message;
      tell(StepAnswer{kModelled, step});
      continue;
    }
    if (!*done || !modelled) continue;
    all.emplace_back(step_of(who), *modelled);
    tell(StepAnswer{kModelled, with_model(all.back().first, *modelled, false)});
  }
  // As a GPU's times are taken: if the fastest is too short for events, all go by graph.
  const bool by_graph = std::ranges::any_of(
      all, [](const auto& one) { return one.second.us < harness::kShortestByEvents; });
  for (const auto& [step, modelled] : all)
    if (by_graph) tell(StepAnswer{kModelled, with_model(step, modelled, true)});
  return Status::ok();
}

Status tell_roofs(const DeviceInfo& device) {
  const auto roofs = harness::measure_roofs(device);
  if (!roofs) return roofs.error();
  const harness::Weather now = harness::weather();
  tell(RoofsAnswer{.copy = roofs->copy,
                   .read = roofs->read,
                   .write = roofs->write,
                   .pins = device.pin_bandwidth,
                   .weather = {{"sm_mhz", now.sm_mhz},
                               {"memory_mhz", now.memory_mhz},
                               {"celsius", now.celsius},
                               {"watts", now.watts}}});
  return Status::ok();
}

// What the library does with a case: the rung that it takes or, where a call is made of several
// launches or handed to another family, all of that under the name of the first rung.
Expected<Contestant> library_of(const Loaded& loaded, const Case& c, const DeviceInfo& device) {
  const Ladder& ladder = *loaded.ladder;
  const Workload workload = ladder.workload(c);
  KeptCall kept;
  const auto call = call_of(loaded, c, workload, kept);
  if (!call) return call.error();
  const auto choices = ladder.choices(*call, device);
  if (!choices) return choices.error();
  if (choices->empty() || choices->front().chosen < 0)
    return Error{2, loaded.op->name + ": no rung serves " + shape_text(c.shape)};
  const Ladder::Choice& first = choices->front();
  const bool is_one = choices->size() == 1 && first.ladder == &ladder;
  if (is_one) return harness::contestant_of(ladder, first.chosen, device);
  Contestant all = harness::contestant_of(ladder, kChosen, device);
  all.name = first.ladder->rungs[size_t(first.chosen)].name;
  if (first.ladder != &ladder) all.name = first.ladder->family + "/" + all.name;
  return all;
}

bool is_library_only(const Case& c, const Request& request) {
  if (request.rung.empty()) return c.library_only && !is_software_gpu();
  return request.rung == kLibrary;
}

Expected<std::vector<Contestant>> contestants_of(const Loaded& loaded, const Case& c,
                                                 const Request& request,
                                                 harness::RivalsFunction rivals,
                                                 const DeviceInfo& device) {
  std::vector<Contestant> all;
  if (is_library_only(c, request)) {
    auto library = library_of(loaded, c, device);
    if (!library) return library.error();
    all.push_back(std::move(*library));
  } else {
    for (int r = 0; r < int(loaded.ladder->rungs.size()); ++r) {
      const RungInfo& rung = loaded.ladder->rungs[size_t(r)];
      if (!request.rung.empty() && request.rung != rung.name) continue;
      const int variants = request.variants ? int(rung.variants.size()) : 0;
      for (int v = variants > 0 ? 0 : -1; v < variants; ++v)
        all.push_back(harness::contestant_of(*loaded.ladder, r, device, v));
    }
  }
  if (rivals) rivals(*loaded.op, &all);
  return all;
}

Status measure_operator(const std::string& name, const Request& request, const DeviceInfo& device) {
  const bool software = is_software_gpu();
  const auto loaded = load_operator(name);
  if (!loaded) return loaded.error();
  const auto rivals = load_rivals(loaded->op->family, request);
  auto cases =
      cases_of(*loaded, request,
               request.small ? std::vector{loaded->ladder->tour()} : loaded->ladder->timings());
  if (!cases) return cases.error();
  if (request.tour || software) cases->resize(1);
  for (const Case& c : *cases) {
    const auto contestants = contestants_of(*loaded, c, request, rivals, device);
    if (!contestants) return contestants.error();
    const Workload workload = loaded->ladder->workload(c);
    const Checks checks = checks_of(*loaded, c);
    CaseAnswer answer = describe(*loaded, c, workload);
    answer.verified_at = shape_text(checks.cases.front().shape);
    answer.verified_by = name_of(checks.means);
    answer.samples = checks.means.samples;
    answer.library_only = is_library_only(c, request);
    const bool is_trusted = software && request.unverified;
    if (is_trusted) answer.verified_at = answer.verified_by = "";
    tell(answer);
    std::vector<Contestant> left;
    if (is_trusted) {
      left = *contestants;
    } else {
      const auto right = verify_all(*loaded, checks, *contestants);
      if (!right) return right.error();
      for (size_t i = 0; i < right->size(); ++i)
        if ((*right)[i]) left.push_back((*contestants)[i]);
    }
    if (software && request.instructions)
      if (const Status counted = count_all(*loaded, checks.cases.front(), left); !counted)
        return counted;
    const Status done = software ? model_all(*loaded, c, workload, left)
                                 : time_all(*loaded, c, workload, left, device, request);
    if (!done) return done;
  }
  return Status::ok();
}

}  // namespace

int measure(const Request& request) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  if (!is_software_gpu() && !request.known_roofs)
    if (const Status s = tell_roofs(*device); !s) return fail(s);
  for (const std::string& name : request.operators)
    if (const Status s = measure_operator(name, request, *device); !s) return fail(s);
  return 0;
}

}  // namespace ridge::ladders
