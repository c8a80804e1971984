// Runs one instruction on values given as bits, for tests that compute with bits rather than with
// C++ types.
//
//   run_rows("add.f32", {{0x3f800000, 0x40000000}, …})  ->  {0x40400000, …}
//
// Every run is done in each way a decoder may set it up (registers or constants as sources, the
// destination on top of a source, the handler for full masks and the one for any mask); a test
// fails where two of them disagree or where an inactive lane changes. A predicate is 0 or 1.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "vm/isa/inst.h"
#include "vm/exec/warp.h"
#include "vm/isa/form.h"

namespace ridge::vm::test {

using LaneBits = std::array<uint64_t, kWarpSize>;

inline LaneBits broadcast(uint64_t bits) {
  LaneBits lanes;
  lanes.fill(bits);
  return lanes;
}

// The types of a matched row's operands in the order written; Type::none where the row names none.
inline std::vector<Type> operand_types(const Match& match) {
  std::vector<Type> types;
  std::string_view rest = match.row->operands;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const size_t colon = one.find(':');
    const std::string_view name =
        colon == std::string_view::npos ? std::string_view() : one.substr(colon + 1);
    if (name.size() == 1 && name[0] >= '0' && name[0] <= '5')
      types.push_back(match.form.types[size_t(name[0] - '0')]);
    else if (name == "w") {
      const Type t = match.form.types[0];
      types.push_back(t == Type::u16   ? Type::u32
                      : t == Type::s16 ? Type::s32
                      : t == Type::u32 ? Type::u64
                                       : Type::s64);
    } else if (!name.empty()) types.push_back(type_from_name(name).value_or(Type::none));
    else types.push_back(one.front() == 'p' ? Type::pred : match.form.types[0]);
  }
  return types;
}

// Bytes of a lane in a register; 8-bit types live in 16 bits.
inline int lane_bytes(Type type) { return std::max(2, size_of(type)); }

namespace detail {

inline constexpr size_t kSlot = kWarpSize * 8;
inline constexpr uint64_t kPoison = 0xa5c3a5c3a5c3a5c3ull;

inline void write_lanes(uint8_t* at, Type type, const LaneBits& lanes) {
  if (type == Type::pred) {
    uint32_t bits = 0;
    for (int i = 0; i < kWarpSize; ++i) bits |= uint32_t(lanes[size_t(i)] & 1) << i;
    std::memcpy(at, &bits, 4);
    return;
  }
  const int size = lane_bytes(type);
  for (int i = 0; i < kWarpSize; ++i) std::memcpy(at + i * size, &lanes[size_t(i)], size_t(size));
}
inline LaneBits read_lanes(const uint8_t* at, Type type) {
  LaneBits lanes{};
  if (type == Type::pred) {
    uint32_t bits = 0;
    std::memcpy(&bits, at, 4);
    for (int i = 0; i < kWarpSize; ++i) lanes[size_t(i)] = bits >> i & 1;
    return lanes;
  }
  const int size = lane_bytes(type);
  for (int i = 0; i < kWarpSize; ++i) std::memcpy(&lanes[size_t(i)], at + i * size, size_t(size));
  return lanes;
}

}  // namespace detail

struct Setup {
  bool constants = false;  // sources in the constant area
  int on_top_of = -1;      // the source whose register the destination shares
  bool full = false;       // the handler for full masks
};

// One way of running it; the whole destination register, of which inactive lanes keep what `before`
// held.
inline LaneBits run_once(const Match& match, const std::vector<LaneBits>& sources, uint32_t mask,
                         const Setup& setup, const LaneBits& before) {
  const std::vector<Type> types = operand_types(match);
  alignas(64) uint8_t registers[12 * detail::kSlot], constants[12 * detail::kSlot];
  for (size_t i = 0; i < sizeof(registers); i += 8) {
    std::memcpy(registers + i, &detail::kPoison, 8);
    std::memcpy(constants + i, &detail::kPoison, 8);
  }
  Warp w;
  w.base[0] = registers;
  w.base[1] = constants;
  w.mask = mask;

  Inst code[3] = {};
  Wide extra;
  extra.flags = match.handlers.flags;
  uint32_t* fields[] = {&code[0].a, &code[0].b, &code[0].c, &extra.x[0], &extra.x[1], &extra.x[2]};
  for (size_t k = 0; k < sources.size(); ++k) {
    const uint32_t offset = uint32_t((k + 1) * detail::kSlot);
    *fields[k] = setup.constants ? offset | kConstantBit : offset;
    detail::write_lanes((setup.constants ? constants : registers) + offset, types[k + 1],
                        sources[k]);
  }
  code[0].d = setup.on_top_of >= 0 ? uint32_t((setup.on_top_of + 1) * detail::kSlot) : 0;
  if (setup.on_top_of < 0) detail::write_lanes(registers, types[0], before);
  std::memcpy(static_cast<void*>(&code[1]), &extra, sizeof extra);

  const Handler handler = setup.full ? match.handlers.full : match.handlers.masked;
  const Inst* next = handler(w, code);
  EXPECT_EQ(next - code, match.handlers.wide ? 2 : 1)
      << "next instruction of " << match.row->spelling;
  return detail::read_lanes(registers + code[0].d, types[0]);
}

// The result of `mnemonic` on `sources`, of which lanes outside `mask` hold what was there before
// (0 for predicates).
inline LaneBits run_one(std::string_view mnemonic, const std::vector<LaneBits>& sources,
                        uint32_t mask = kAllLanes) {
  std::string error;
  const Match* match = find_instruction(mnemonic, &error, int(sources.size()) + 1);
  if (!match) {
    ADD_FAILURE() << mnemonic << ": " << error;
    return {};
  }
  const std::vector<Type> types = operand_types(*match);
  const uint64_t lane_mask = types[0] == Type::pred      ? 1
                             : lane_bytes(types[0]) == 8 ? ~0ull
                                                         : (1ull << (8 * lane_bytes(types[0]))) - 1;
  const LaneBits before = broadcast(types[0] == Type::pred ? 0 : detail::kPoison & lane_mask);
  const LaneBits result = run_once(*match, sources, mask, {}, before);
  for (int i = 0; i < kWarpSize; ++i)
    if (!(mask >> i & 1)) {
      EXPECT_EQ(result[size_t(i)], before[size_t(i)]) << mnemonic << " changed inactive lane " << i;
    }
  const auto same = [&](const Setup& setup, const char* how) {
    const LaneBits other = run_once(*match, sources, mask, setup, before);
    for (int i = 0; i < kWarpSize; ++i)
      if (mask >> i & 1) {
        EXPECT_EQ(other[size_t(i)], result[size_t(i)])
            << mnemonic << " differs " << how << ", lane " << i;
      }
  };
  same({.constants = true}, "with constants");
  if (mask == kAllLanes) same({.full = true}, "in its full handler");
  for (size_t k = 0; k < sources.size(); ++k)
    if (types[0] != Type::pred && types[k + 1] != Type::pred &&
        lane_bytes(types[k + 1]) == lane_bytes(types[0])) {
      same({.on_top_of = int(k)}, "on top of a source");
      if (mask == kAllLanes)
        same({.on_top_of = int(k), .full = true}, "on top of a source in its full handler");
    }
  return result;
}

// The results of `mnemonic` for any number of rows of operands, 32 at a time; every other warp has
// lanes switched off, which are done in a second run.
using Row = std::vector<uint64_t>;
inline std::vector<uint64_t> run_rows(std::string_view mnemonic, const std::vector<Row>& rows) {
  std::vector<uint64_t> results(rows.size());
  for (size_t first = 0; first < rows.size(); first += kWarpSize) {
    std::vector<LaneBits> sources(rows[first].size());
    const size_t count = std::min<size_t>(kWarpSize, rows.size() - first);
    for (size_t i = 0; i < kWarpSize; ++i)
      for (size_t k = 0; k < sources.size(); ++k)
        sources[k][i] = rows[first + std::min(i, count - 1)][k];
    const uint32_t mask = first / kWarpSize % 2 ? 0x5a17c3e9u : kAllLanes;
    const LaneBits some = run_one(mnemonic, sources, mask);
    const LaneBits others = mask == kAllLanes ? some : run_one(mnemonic, sources, ~mask);
    for (size_t i = 0; i < count; ++i) results[first + i] = mask >> i & 1 ? some[i] : others[i];
    if (::testing::Test::HasFailure()) break;
  }
  return results;
}

// Holds `mnemonic` against reference(row) for every row, and shows the first few that differ.
template <class Reference>
void expect_rows(std::string_view mnemonic, const std::vector<Row>& rows, Reference reference) {
  const std::vector<uint64_t> results = run_rows(mnemonic, rows);
  int shown = 0;
  for (size_t i = 0; i < rows.size() && shown < 4; ++i) {
    const uint64_t want = reference(rows[i]);
    if (results[i] == want) continue;
    ++shown;
    std::string inputs;
    char text[32];
    for (uint64_t x : rows[i]) {
      std::snprintf(text, sizeof text, " %llx", static_cast<unsigned long long>(x));
      inputs += text;
    }
    ADD_FAILURE() << mnemonic << inputs << std::hex << " gives " << results[i] << ", not " << want;
  }
}

}  // namespace ridge::vm::test
