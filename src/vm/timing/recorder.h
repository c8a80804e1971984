// Writes down what the warps of one SM do in each launch and what blocks ask of the second cache,
// and has the model of time say how long that takes.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/figures.h"
#include "model/l2.h"
#include "model/launch.h"
#include "model/work.h"
#include "vm/exec/observer.h"
#include "vm/observe/count.h"
#include "vm/observe/plan.h"

namespace ridge::vm::timing {

class Recorder : public Observer {
 public:
  // One line of JSON per launch goes to `out`.
  explicit Recorder(std::FILE* out);
  ~Recorder() override;
  void begin(const GridRun& grid, unsigned workers) override;
  Watch watch(const Warp& w) override;
  void before(const Warp& w, const Inst* inst) override;
  void end(const GridRun& grid) override;
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

  std::FILE* const out_;
  const model::Figures figures_;
  std::mutex mutex_;
  std::unordered_map<const GridRun*, std::unique_ptr<Run>> runs_;
  struct Known {
    uint64_t launches = 0;
    model::Prediction time;
  };
  std::unordered_map<std::string, Known> known_;  // by kernel and shape
};

}  // namespace ridge::vm::timing
