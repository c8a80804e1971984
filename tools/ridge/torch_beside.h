// PyTorch beside ours: a Python process that times it in turn with our library, case by case
// (bench/rivals/torch_rivals.py).
#pragma once

#include <sys/types.h>

#include <string>

#include "climb_record.h"
#include "target.h"

namespace ridge::tools {

class TorchBeside {
 public:
  // Started at once, so that Python loads PyTorch while ladders are built. `quick`: few samples,
  // and nothing is compiled by PyTorch.
  TorchBeside(const Target& target, bool quick);
  ~TorchBeside();
  TorchBeside(const TorchBeside&) = delete;
  TorchBeside& operator=(const TorchBeside&) = delete;

  // Adds PyTorch's times for the same case to a climb, and waits for them.
  void add_to(Climb& climb);
  // Why PyTorch is not timed: no Python, no PyTorch, no GPU. Empty if it is.
  const std::string& missing() const { return missing_; }

 private:
  bool read_line(std::string& line);
  void end();
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string unread_;
  std::string missing_;
};

}  // namespace ridge::tools
