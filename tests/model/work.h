// Work for the model, written by hand: a list of instructions, and how often each warp runs it.
#pragma once

#include "model/figures.h"
#include "model/work.h"

namespace ridge::model {

inline const Figures& h200() {
  static const Figures figures = figures_of(*find_gpu("h200"));
  return figures;
}

struct WorkMaker {
  Work work;

  WorkMaker() {
    work.blocks = work.blocks_run = 132;
    work.block_threads = 32;
    work.register_count = 64;
  }
  // Returns the step's number.
  uint32_t add(Op op, std::vector<uint32_t> reads, std::vector<uint32_t> writes) {
    op.registers = uint32_t(work.registers.size());
    op.reads = uint16_t(reads.size());
    op.writes = uint16_t(writes.size());
    work.registers.insert(work.registers.end(), reads.begin(), reads.end());
    work.registers.insert(work.registers.end(), writes.begin(), writes.end());
    work.steps.push_back({uint32_t(work.ops.size()), 1});
    work.ops.push_back(op);
    work.traffic.emplace_back();
    return uint32_t(work.steps.size() - 1);
  }
  uint32_t fma(uint32_t to, uint32_t from) {
    return add({.pipe = Pipe::fma, .busy = 1, .latency = 4}, {from}, {to});
  }
  uint32_t load(uint32_t to, uint32_t address) {
    return add({.kind = Op::Kind::load, .pipe = Pipe::lsu, .accesses = 1}, {address}, {to});
  }
  uint32_t barrier() {
    return add({.kind = Op::Kind::barrier, .pipe = Pipe::control, .ends = true}, {}, {});
  }
  void blocks(size_t count, const std::vector<std::vector<uint32_t>>& warps) {
    for (size_t i = 0; i < count; ++i) work.sm.emplace_back().warps = warps;
  }
  // The words behind a load: one whole line.
  static void line(std::vector<uint32_t>& stream, uint32_t number) {
    stream.insert(stream.end(), {0, 1, number, 0xfu << 28});
  }
};

}  // namespace ridge::model
