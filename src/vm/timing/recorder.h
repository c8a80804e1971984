// Writes down what the warps of one SM do in each launch and what blocks ask of the second cache,
// and has the model of time say how long that takes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/launch.h"
#include "model/work.h"
#include "vm/exec/observer.h"
#include "vm/observe/count.h"
#include "vm/observe/plan.h"
#include "vm/timing/known.h"

namespace ridge::vm::timing {

// A launch, and how long it takes.
struct LaunchTime {
  std::string kernel;
  Dim3 grid, block;
  model::Prediction time;
};

class Recorder : public Observer {
 public:
  struct Options {
    // Runs only as many blocks as it takes to know the time (waves.h). Nobody may use the results.
    bool sampled = false;
  };
  // Each launch is told of when it has ended, one at a time.
  using Told = std::function<void(const LaunchTime&)>;
  Recorder(Told told, Options options);
  ~Recorder() override;
  std::vector<uint64_t> choose(const GridRun& grid) override;
  bool chooses_clusters() const override { return options_.sampled; }
  void begin(const GridRun& grid, unsigned workers) override;
  bool wants_order(const GridRun& grid) override;
  bool watches(const GridRun& grid) override;
  Watch watch(const Warp& w) override;
  void before(const Warp& w, const Inst* inst) override;
  void end(const GridRun& grid) override;
  bool ends_blocks() const override { return options_.sampled; }
  bool has_enough(const Block& block) override;
  void block_ends(const Block& block) override;
  bool wants_host_calls() const override { return false; }
  void finish() override {}
  void copy_starts(const Warp& w, const AsyncEntry& entry) override;
  void phase_completes(const Block& block, uint32_t offset) override;
  void phase_asked(const Warp& w, const Inst* inst, const uint32_t* barriers,
                   uint32_t over) override;

  struct Branch {  // that the machine has not
    const std::vector<uint32_t>* body = nullptr;
    uint32_t lanes = 0;
  };

 private:
  struct Function;
  struct Tally;
  struct Run;
  static void pass_by(std::vector<uint32_t>& stream, Branch& before, const Function& function,
                      const Warp& w, uint32_t step);
  static void add_barrier(std::vector<uint32_t>& stream, const observe::Plan& plan,
                          const observe::Step& step, const Warp& w, const Inst* inst);
  Tally& tally(const Warp& w);
  Run& run_of(const GridRun& grid);

  const Told told_;
  const Options options_;
  std::mutex mutex_;
  std::unordered_map<const GridRun*, std::unique_ptr<Run>> runs_;
  KnownLaunches known_;
};

}  // namespace ridge::vm::timing
