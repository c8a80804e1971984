// The registers of a block, which its warps give back and ask for with setmaxnreg.
//
// A kernel starts with the same number of registers in every warp (KernelCode::entry_registers).
// setmaxnreg.dec gives a warp's surplus back to its block, setmaxnreg.inc waits until the block has
// enough. What a warp computes does not depend on it here, but whether it gets its registers does:
// an inc that nobody makes room for hangs on hardware, and is reported as a deadlock here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ridge::vm {

struct Block;
struct Code;
struct Inst;
struct Warp;

class RegisterPool {
 public:
  static constexpr uint32_t kWarps = 4;  // of a warpgroup
  static constexpr uint32_t kStep = 8;   // registers per thread that a warp gets at once
  void clear() {
    warps_.clear();
    free_ = 0;
  }
  bool is_used() const { return !warps_.empty(); }
  bool waits() const;  // some warp does
  // Some warp waits, and all others that could make room have done what they do: only spinning is
  // left.
  bool is_hopeless(const Block& block) const;

  // The running warp sets its number of registers per thread; true: it has them. False: it waits.
  bool set(Warp& w, const Inst* inst, uint32_t count);
  // What is wrong now that all warps have ended: a warp of a warpgroup that did not execute what
  // the others did. Raises a fault and returns false.
  bool agrees(Block& block) const;
  // How the registers are spread: one line for each warpgroup.
  std::vector<std::string> lines() const;
  uint32_t free() const { return free_; }
  uint32_t wanted_by(uint32_t warp) const { return warps_[warp].wanted; }
  uint32_t held_by(uint32_t warp) const { return warps_[warp].held; }

 private:
  struct Step {
    const Inst* inst = nullptr;
    const Code* code = nullptr;
  };
  struct PerWarp {
    uint32_t held = 0;    // registers per thread
    uint32_t wanted = 0;  // what it waits for; 0: nothing
    bool gave_back = false;
    std::vector<Step> steps;
  };
  void start(const Warp& w);
  void let_waiting_go(Block& block);

  std::vector<PerWarp> warps_;  // none before the first setmaxnreg
  uint32_t free_ = 0;           // registers that no warp holds
};

// setmaxnreg.inc and .dec.
const Inst* set_registers(Warp& w, const Inst* inst, const Inst* next, uint32_t count);

}  // namespace ridge::vm
