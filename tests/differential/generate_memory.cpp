// Statements that touch memory: a thread's own scratch bytes at any time, those of others between
// barriers, and cells that all threads add to.
#include "generator.h"

namespace ridge::differential {
namespace {

struct Access {
  std::string_view type;
  uint32_t size;
  char letter;
};
constexpr Access kAccesses[] = {{"u8", 1, 'h'},  {"s8", 1, 'r'},  {"u8", 1, 'r'},  {"u16", 2, 'h'},
                                {"s16", 2, 'r'}, {"b16", 2, 'k'}, {"b16", 2, 'b'}, {"u32", 4, 'r'},
                                {"s32", 4, 'd'}, {"f32", 4, 'f'}, {"b32", 4, 'x'}, {"b32", 4, 'y'},
                                {"u64", 8, 'd'}, {"f64", 8, 'e'}, {"b32", 4, 'r'}, {"b64", 8, 'd'}};
constexpr Access kVectors[] = {{"u32", 4, 'r'}, {"f32", 4, 'f'}, {"b16", 2, 'h'},
                               {"u64", 8, 'd'}, {"f64", 8, 'e'}, {"b32", 4, 'x'}};

}  // namespace

// An aligned place of `size` bytes in the thread's own scratch memory, and the space to name.
std::string Generator::scratch_address(uint32_t size, bool& generic, std::string& space) {
  static constexpr std::string_view kSpaces[] = {"global", "shared", "local"};
  static constexpr std::string_view kBases[] = {"%sg", "%ss", "%sl"};
  static constexpr std::string_view kGeneric[] = {"%sg", "%gs", "%gl"};
  const uint32_t which = random_.below(3);
  generic = random_.chance(25);
  space = generic ? "" : "." + std::string(kSpaces[which]);
  const std::string base(generic ? kGeneric[which] : kBases[which]);
  if (random_.chance(50))
    return "[" + base + "+" + number(random_.below(kScratchBytes / size) * size) + "]";
  return base;  // the caller adds a computed offset
}

Node Generator::scratch_access() {
  const bool vector = random_.chance(25);
  const Access& a = vector ? random_.pick(kVectors) : random_.pick(kAccesses);
  const uint32_t width = !vector ? 1 : a.size == 8 || random_.chance(50) ? 2 : 4;
  const uint32_t size = a.size * width;
  bool generic;
  std::string space, text, address = scratch_address(size, generic, space);
  if (!address.starts_with('[')) {
    text = "and.b32 %t0, " + reg('r') + ", " + number(kScratchBytes - size) +
           ";\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %u0, " + address + ";\n";
    address = "[%u0]";
  }
  std::string value = reg(a.letter);
  if (vector) {
    const uint32_t n = pool(a.letter).count, first = random_.below(n);
    value = "{";
    for (uint32_t i = 0; i < width; ++i)
      value += (i ? ", %" : "%") + std::string(1, a.letter) + number((first + i) % n);
    value += "}";
  }
  std::string how;
  if (!vector && space != ".local" && random_.chance(25))
    how = random_.chance(50) ? ".volatile" : ".relaxed.gpu";
  const std::string type = space + (vector ? ".v" + number(width) : "") + "." + std::string(a.type);
  const std::string g = guard(8);
  if (random_.chance(50))
    return leaf(text + g + "st" + how + type + " " + address + ", " + value + ";\n");
  return leaf(text + g + "ld" + how + type + " " + value + ", " + address + ";\n");
}

Node Generator::input_load() {
  static constexpr Access kInputs[] = {{"f32", 4, 'f'}, {"f64", 8, 'e'}, {"b16", 2, 'k'},
                                       {"b16", 2, 'b'}, {"b32", 4, 'x'}, {"b32", 4, 'y'},
                                       {"u32", 4, 'r'}, {"u64", 8, 'd'}, {"u8", 1, 'r'},
                                       {"s8", 1, 'h'},  {"s16", 2, 'd'}, {"u16", 2, 'h'}};
  static constexpr std::string_view kHow[] = {".global", ".global.nc", "", ".global.ca"};
  const Access& a = random_.pick(kInputs);
  return leaf("and.b32 %t0, " + reg('r') + ", " + number(kRegionBytes - a.size) +
              ";\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %u0, %in;\n" + guard(8) + "ld" +
              std::string(random_.pick(kHow)) + "." + std::string(a.type) + " " + reg(a.letter) +
              ", [%u0+" + number(pool(a.letter).region * kRegionBytes) + "];\n");
}

Node Generator::constant_load() {
  return leaf("and.b32 %t0, " + reg('r') + ", 60;\ncvt.u64.u32 %u0, %t0;\nmov.u64 %u1, table_" +
              program_.name() + ";\nadd.u64 %u0, %u0, %u1;\nld.const.u32 " + reg('r') +
              ", [%u0];\n");
}

// The result of every order is the same: the floats are small integers, and nobody reads before
// the end, or before a barrier.
Node Generator::accumulate() {
  const uint32_t kinds = sizeof(kAccumulators) / sizeof(kAccumulators[0]);
  const uint32_t which = random_.below(kinds);
  const Accumulator& a = kAccumulators[which];
  const bool shared = random_.chance(50);
  std::string text = "and.b32 %t0, " + reg('r') + ", " + number((kCells - 1) * 8) +
                     ";\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %u0, " + (shared ? "%as" : "%ag") +
                     ";\n";
  std::string value;
  if (a.value == 'f' || a.value == 'e') {
    text += "and.b32 %t1, " + reg('r') + ", 7;\n";
    value = a.value == 'f' ? "%tf" : "%te";
    text += "cvt.rn." + std::string(a.value == 'f' ? "f32" : "f64") + ".u32 " + value + ", %t1;\n";
  } else {
    value = a.value == '1' ? "0x12345" : reg(a.value);
  }
  return leaf(text + guard(8) + "red" + (shared ? ".shared." : ".global.") +
              std::string(a.operation) + " [%u0+" + number(which * kCells * 8) + "], " + value +
              ";\n");
}

Node Generator::private_atomic() {
  struct Atomic {
    std::string_view operation;
    uint32_t size;
    char letter;
    bool compares = false;
  };
  static constexpr Atomic kAtomics[] = {
      {"add.u32", 4, 'r'},       {"add.s32", 4, 'r'},         {"add.u64", 8, 'd'},
      {"min.u32", 4, 'r'},       {"max.s32", 4, 'r'},         {"min.s64", 8, 'd'},
      {"max.u64", 8, 'd'},       {"inc.u32", 4, 'r'},         {"dec.u32", 4, 'r'},
      {"and.b32", 4, 'r'},       {"or.b64", 8, 'd'},          {"xor.b32", 4, 'r'},
      {"exch.b32", 4, 'r'},      {"exch.b64", 8, 'd'},        {"cas.b32", 4, 'r', true},
      {"cas.b64", 8, 'd', true}, {"add.f64", 8, 'e'},         {"add.noftz.f16x2", 4, 'x'},
      {"cas.b16", 2, 'h', true}, {"add.noftz.bf16x2", 4, 'y'}};
  const Atomic& a = random_.pick(kAtomics);
  const bool shared = random_.chance(50);
  std::string text = "and.b32 %t0, " + reg('r') + ", " + number(kScratchBytes - a.size) +
                     ";\ncvt.u64.u32 %u0, %t0;\nadd.u64 %u0, %u0, " + (shared ? "%ss" : "%sg") +
                     ";\n" + guard(8) + "atom" + (shared ? ".shared." : ".global.") +
                     std::string(a.operation) + " " + reg(a.letter) + ", [%u0], " + reg(a.letter);
  if (a.compares) text += ", " + reg(a.letter);
  return leaf(text + ";\n");
}

// Another thread's scratch bytes, or an accumulator of the block, between two barriers.
Node Generator::exchange_in_block() {
  const Access& a = random_.pick(kAccesses);
  const uint32_t offset = random_.below(kScratchBytes / a.size) * a.size;
  std::string text = "bar.sync 0;\n";
  if (random_.chance(30)) {
    text += "ld.shared.u64 " + reg('d') + ", [%as+" +
            number(random_.below(kAccumulatorBytes / 8) * 8) + "];\n";
  } else {
    const bool shared = random_.chance(70);
    text += "mov.u32 %t0, %tid.x;\nmad.lo.u32 %t0, %t0, " + number(1 + random_.below(5)) + ", " +
            number(random_.below(200)) + ";\nrem.u32 %t0, %t0, " + number(program_.threads) +
            ";\nmul.wide.u32 %u0, %t0, " + number(kScratchBytes) + ";\nadd.u64 %u0, %u0, " +
            (shared ? "%bs" : "%bg") + ";\nld" + (shared ? ".shared." : ".global.") +
            std::string(a.type) + " " + reg(a.letter) + ", [%u0+" + number(offset) + "];\n";
  }
  return leaf(text + "bar.sync 0;\n");
}

Node Generator::exchange_in_warp(const Context& at) {
  const Access& a = random_.pick(kAccesses);
  return leaf("bar.warp.sync " + at.mask() + ";\n" + member_lane(at) +
              "mov.u32 %t1, %tid.x;\nand.b32 %t1, %t1, 0xffffffe0;\nadd.u32 %t0, %t0, %t1;\n"
              "mul.wide.u32 %u0, %t0, " +
              number(kScratchBytes) + ";\nadd.u64 %u0, %u0, %bs;\nld.shared." +
              std::string(a.type) + " " + reg(a.letter) + ", [%u0+" +
              number(random_.below(kScratchBytes / a.size) * a.size) + "];\nbar.warp.sync " +
              at.mask() + ";\n");
}

}  // namespace ridge::differential
