// Writes down what the warps of one SM do in each launch, and what all blocks ask of the second
// cache, for the model of time.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "model/l2.h"
#include "model/trace.h"
#include "vm/exec/observer.h"
#include "vm/observe/count.h"
#include "vm/observe/plan.h"

namespace ridge::vm::trace {

class Tracer : public Observer {
 public:
  // Traces go to `folder`, one file per launch.
  explicit Tracer(std::string folder);
  ~Tracer() override;
  std::vector<uint64_t> choose(const GridRun& grid) override;
  void begin(const GridRun& grid, unsigned workers) override;
  Watch watch(const Warp& w) override;
  void before(const Warp& w, const Inst* inst) override;
  void end(const GridRun& grid) override;
  void finish() override {}

 private:
  struct Function;
  struct Tally;
  struct Run;
  Tally& tally(const Warp& w);
  Run& run_of(const GridRun& grid);

  const std::string folder_;
  std::mutex mutex_;
  std::unordered_map<const GridRun*, std::unique_ptr<Run>> runs_;
  uint64_t launches_ = 0;
};

}  // namespace ridge::vm::trace
