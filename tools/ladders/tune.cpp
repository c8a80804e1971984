// Times every variant of every rung that says what its time is made of, on sizes drawn from ranges,
// and fits the constants of its cost. Each variant is verified first, in each format and
// transposition. On the software GPU, times are those of the model.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include "commands.h"
#include "core/number.h"
#include "harness/contestant.h"
#include "harness/device.h"
#include "harness/statistics.h"
#include "harness/timing.h"
#include "harness/verify.h"
#include "select/device.h"
#include "select/tuning.h"
#include "sets.h"
#include "tune_table.h"

namespace ridge::ladders {
namespace {

using harness::Contestant;

constexpr int kShapes = 16;  // for each format and transposition, unless the request says more
constexpr double kWriteEvery = 5;  // seconds

// Ctrl-C ends the run after the case that is being timed, and the table is written.
volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

struct Trial {
  int rung, variant;
  Terms terms;
};

struct Planned {
  Case c;
  std::string text, of_class;
  std::vector<Trial> candidates;  // that are not in the table
};

// A case without its sizes.
std::string class_of(const Case& c) {
  std::string text = name_of(c.dtype);
  for (const std::string& name : c.transposed) text += " " + name + "'";
  return text;
}

Expected<std::string> gpu_name() {
  int device = 0;
  cudaDeviceProp properties;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return Error{4, "the device does not tell its name"};
  return std::string(properties.name);
}

class Tuner {
 public:
  Tuner(const Loaded& loaded, const DeviceInfo& device, TuneTable& table, TuneAnswer progress)
      : loaded_(loaded), device_(device), table_(table), progress_(std::move(progress)) {}

  Status plan(const Request& request);
  Status run();

 private:
  const Ladder& ladder() const { return *loaded_.ladder; }
  const RungInfo& rung_of(const Trial& trial) const { return ladder().rungs[size_t(trial.rung)]; }
  const std::string& variant_of(const Trial& trial) const {
    return rung_of(trial).variants[size_t(trial.variant)];
  }
  Contestant contestant_of(const Trial& trial) const {
    return harness::contestant_of(ladder(), trial.rung, device_, trial.variant);
  }
  Status verify(Planned& planned);
  Status time(const Planned& planned);
  Expected<std::vector<double>> times_of(const Planned& planned);
  Expected<std::vector<double>> modelled(const std::vector<harness::Timed>& timed) const;
  Status write_now_and_then();

  const Loaded& loaded_;
  const DeviceInfo& device_;
  TuneTable& table_;
  TuneAnswer progress_;
  std::vector<Planned> plan_;
  std::set<std::tuple<std::string, int, int>> right_;  // class, rung, variant
  std::set<std::pair<int, int>> wrong_;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

Status Tuner::plan(const Request& request) {
  const int count = request.shapes ? int(request.shapes) : kShapes;
  bool is_tunable = false;
  for (const Case& c : ladder().tuning(count, request.seed, is_software_gpu())) {
    const auto is_of = [&](const std::string& name) { return parse_dtype(name) == c.dtype; };
    if (c.op != loaded_.op->index ||
        (!request.dtypes.empty() && std::ranges::none_of(request.dtypes, is_of)))
      continue;
    Planned planned = {.c = c,
                       .text = class_of(c) + " " + shape_text(c.shape),
                       .of_class = class_of(c),
                       .candidates = {}};
    const Workload workload = ladder().workload(c);
    KeptCall kept;
    auto call = call_of(loaded_, c, workload, kept);
    if (!call) return call.error();
    for (int r = 0; r < int(ladder().rungs.size()); ++r) {
      const RungInfo& rung = ladder().rungs[size_t(r)];
      if (!request.rung.empty() && request.rung != rung.name) continue;
      for (int v = 0; v < int(rung.variants.size()); ++v) {
        call->variant = v;
        const auto terms = ladder().terms(r, *call, device_);
        is_tunable |= terms.has_value();
        if (!terms || !ladder().supports(r, *call, device_)) continue;
        ++progress_.candidates;
        if (table_.has(rung.name, rung.variants[size_t(v)], planned.text)) ++progress_.known;
        else planned.candidates.push_back({r, v, *terms});
      }
    }
    if (!planned.candidates.empty()) plan_.push_back(std::move(planned));
  }
  if (is_tunable) return Status::ok();
  return Error{2, request.rung.empty()
                      ? ladder().family +
                            " has nothing to tune: no rung has variants whose cost "
                            "is made of constants"
                      : "the rung " + request.rung + " has nothing to tune"};
}

// Takes those that are wrong out of the plan.
Status Tuner::verify(Planned& planned) {
  std::optional<harness::Prepared> prepared;  // made when the first one wants it
  for (const Trial& trial : planned.candidates) {
    const std::pair<int, int> who = {trial.rung, trial.variant};
    const auto key = std::tuple(planned.of_class, trial.rung, trial.variant);
    if (wrong_.count(who) || right_.count(key)) continue;
    if (!prepared) {
      auto made = harness::prepare(ladder(), planned.c);
      if (!made) return made.error();
      prepared = std::move(*made);
    }
    const auto contestant = contestant_of(trial);
    const auto result = harness::verify(*prepared, contestant);
    if (result.verdict == harness::Verdict::right) {
      right_.insert(key);
      continue;
    }
    wrong_.insert(who);
    table_.forget(rung_of(trial).name, variant_of(trial));
    tell(StepAnswer{kVerified,
                    {.name = contestant.name, .wrong = planned.text + ": " + result.message}});
  }
  std::erase_if(planned.candidates, [&](const Trial& trial) {
    return wrong_.count({trial.rung, trial.variant}) > 0;
  });
  return Status::ok();
}

Expected<std::vector<double>> Tuner::modelled(const std::vector<harness::Timed>& timed) const {
  std::vector<double> us;
  for (const harness::Timed& one : timed) {
    Status status;
    const auto model = harness::model_time([&] {
      status = one.launch(0, nullptr);
      if (status) status = harness::synchronize();
    });
    if (!status) return Error{status.code(), one.name + ": " + status.message()};
    us.push_back(model ? model->graph_us : 0);
  }
  return us;
}

// Of each trial, in microseconds; 0: it could not be timed.
Expected<std::vector<double>> Tuner::times_of(const Planned& planned) {
  const Workload workload = ladder().workload(planned.c);
  const bool software = is_software_gpu();
  const double bytes = workload.cost.read + workload.cost.written;
  const int count = software ? 1 : harness::sets_beyond_l2(bytes, device_);
  const auto sets = make_sets(ladder(), planned.c, workload, count, false);
  if (!sets) return sets.error();
  std::vector<harness::DeviceBuffer> workspaces;
  std::vector<harness::Timed> timed;
  for (const Trial& trial : planned.candidates) {
    const Contestant who = contestant_of(trial);
    const auto wanted = who.workspace(*sets->front().call);
    if (!wanted) return wanted.error();
    auto buffer = harness::DeviceBuffer::make(int64_t(*wanted), 0, false);
    if (!buffer) return buffer.error();
    workspaces.push_back(std::move(*buffer));
    const Workspace workspace = {workspaces.back().data(), *wanted};
    timed.push_back({who.name, [who, workspace, &sets](int set, cudaStream_t stream) {
                       return who.launch(*(*sets)[size_t(set)].call, workspace, stream);
                     }});
  }
  if (software) return modelled(timed);
  const harness::TimingOptions options = {
      .sets = count, .least = 7, .most = 25, .noise = 0.01, .seconds = 0.5};
  std::vector<double> us;
  for (const harness::Timing& timing : harness::time_in_turn(timed, options, device_)) {
    if (!timing.status)
      return Error{timing.status.code(), timing.name + ": " + timing.status.message()};
    us.push_back(timing.us.empty() ? 0 : harness::summarize(timing.us).median);
  }
  return us;
}

Status Tuner::time(const Planned& planned) {
  const auto us = times_of(planned);
  if (!us) return us.error();
  for (size_t i = 0; i < us->size(); ++i) {
    const Trial& trial = planned.candidates[i];
    if ((*us)[i] > 0)
      table_.add({rung_of(trial).name, variant_of(trial), planned.text, {trial.terms, (*us)[i]}});
  }
  return Status::ok();
}

Status Tuner::write_now_and_then() {
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - written_).count() < kWriteEvery) return Status::ok();
  written_ = now;
  return table_.write();
}

// The table is kept whatever happens.
Status Tuner::run() {
  Status status;
  for (Planned& planned : plan_) {
    if (interrupted) break;
    progress_.now = planned.text;
    tell(progress_);
    const int64_t before = int64_t(planned.candidates.size());
    status = verify(planned);
    if (status && !planned.candidates.empty()) status = time(planned);
    if (status) status = write_now_and_then();
    if (!status) {
      status = Error{status.code(), planned.text + ": " + status.message()};
      break;
    }
    progress_.measured += before;
  }
  progress_.now = "";
  tell(progress_);
  if (const Status written = table_.write(); !written) return written;
  for (const TunedAnswer& tuned : table_.fitted()) tell(tuned);
  return status;
}

Status tune_operator(const std::string& name, const Request& request, const DeviceInfo& device) {
  const auto loaded = load_operator(name);
  if (!loaded) return loaded.error();
  const auto gpu = gpu_name();
  if (!gpu) return gpu.error();
  const bool software = is_software_gpu();
  const std::string& family = loaded->ladder->family;
  const std::string file = request.table.empty()
                               ? tuning_folder(*gpu, software) + "/" + family + ".json"
                               : request.table;
  TuneTable table(file, family, *gpu, software, request.seed);
  if (!request.again)
    if (const Status read = table.read(); !read) return read;
  Tuner tuner(*loaded, device, table, {.file = file});
  if (const Status planned = tuner.plan(request); !planned) return planned;
  return tuner.run();
}

}  // namespace

int tune(const Request& request) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  std::signal(SIGINT, interrupt);
  for (const std::string& name : request.operators)
    if (const Status status = tune_operator(name, request, *device); !status) return fail(status);
  if (interrupted) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  return 0;
}

}  // namespace ridge::ladders
