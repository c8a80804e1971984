// One tensor-core instruction, run on registers that a test fills.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "vm/exec/warp.h"
#include "vm/isa/fragment.h"

namespace ridge::vm::test {

// The registers of one operand: bits of an element of a lane.
class Registers {
 public:
  Registers(size_t count, bool wide) : words_(count), wide_(wide) {}
  size_t size() const { return words_.size(); }
  bool wide() const { return wide_; }
  std::array<uint64_t, 32>& operator[](size_t i) { return words_[i]; }

  // Element i of a lane, `bits` each, packed from the lowest.
  void put(int lane, int i, int bits, uint64_t value) {
    const int per = bits == 64 ? 1 : 32 / bits;
    words_[size_t(i / per)][size_t(lane)] |= value << (bits * (i % per) % 64);
  }
  uint64_t get(int lane, int i, int bits) const {
    const int per = bits == 64 ? 1 : 32 / bits;
    const uint64_t word = words_[size_t(i / per)][size_t(lane)];
    return bits == 64 ? word : word >> (bits * (i % per)) & ((1ull << bits) - 1);
  }

 private:
  std::vector<std::array<uint64_t, 32>> words_;
  bool wide_;
};

// Executes one instruction; operands as written, the destination first. Scalars are literals.
inline void run(const std::string& spelling, Registers& d, std::vector<Registers*> sources,
                std::vector<uint32_t> literals = {}) {
  std::string error;
  const Match* match = find_instruction(spelling, &error);
  ASSERT_NE(match, nullptr) << error;
  alignas(64) static uint8_t frame[64 * 256];
  std::memset(frame, 0xa5, sizeof frame);
  uint32_t next = 0;
  std::vector<uint32_t> list;
  const auto place = [&](Registers& registers, bool fill) {
    for (size_t i = 0; i < registers.size(); ++i, next += 256) {
      list.push_back(next);
      for (int lane = 0; fill && lane < 32; ++lane)
        if (registers.wide()) std::memcpy(frame + next + 8 * lane, &registers[i][size_t(lane)], 8);
        else std::memcpy(frame + next + 4 * lane, &registers[i][size_t(lane)], 4);
    }
  };
  place(d, false);
  for (Registers* source : sources) place(*source, true);
  list.insert(list.end(), literals.begin(), literals.end());
  const auto& counts = match->handlers.fragments;
  ASSERT_EQ(counts[0], d.size()) << spelling;
  for (size_t k = 0; k < 3; ++k) ASSERT_EQ(counts[k + 1], sources[k]->size()) << spelling;
  ASSERT_LE(next, sizeof frame);

  std::vector<Inst> code(1 + (list.size() + 7) / 8);
  std::memcpy(static_cast<void*>(code.data() + 1), list.data(), 4 * list.size());
  code[0].d = match->handlers.flags;
  code[0].c = uint32_t(code.size());
  Warp w;
  w.base[0] = frame;
  w.mask = kAllLanes;
  ASSERT_EQ(match->handlers.full(w, code.data()), code.data() + code.size()) << spelling;
  for (size_t i = 0; i < d.size(); ++i)
    for (size_t lane = 0; lane < 32; ++lane) {
      d[i][lane] = 0;
      std::memcpy(&d[i][lane], frame + list[i] + (d.wide() ? 8 : 4) * lane, d.wide() ? 8 : 4);
    }
}

}  // namespace ridge::vm::test
