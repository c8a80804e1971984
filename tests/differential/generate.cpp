#include <algorithm>
#include <cstdio>

#include "generator.h"

namespace ridge::differential {
namespace {

std::string hex(uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llX", digits, static_cast<unsigned long long>(value));
  return text;
}

constexpr uint64_t kIntegerEdges[] = {0,  1,  2,   3,   5,   7,      8,      15,
                                      16, 31, 32,  33,  63,  64,     127,    128,
                                      24, 48, 255, 256, 511, 0x7fff, 0x8000, 0xffff};
constexpr uint64_t kWideEdges[] = {0x7fffffff, 0x80000000,         0xffffffff,
                                   0x10000,    0x7fffffffffffffff, 0x8000000000000000,
                                   ~0ull,      0x123456789abcdef0};
constexpr uint32_t kFloatEdges[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000,
                                    0x40490fdb, 0x7f800000, 0xff800000, 0x7fffffff, 0x00000001,
                                    0x007fffff, 0x00800000, 0x7f7fffff, 0x4b800000, 0xcf000000,
                                    0x3eaaaaab, 0x42c80000, 0xc1200000, 0x3dcccccd, 0x5f000000};
constexpr uint64_t kDoubleEdges[] = {0,
                                     0x8000000000000000,
                                     0x3ff0000000000000,
                                     0xbff0000000000000,
                                     0x3fe0000000000000,
                                     0x400921fb54442d18,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x0000000000000001,
                                     0x000fffffffffffff,
                                     0x7fefffffffffffff,
                                     0x3fb999999999999a,
                                     0x4059000000000000,
                                     0x41e0000000000000};

}  // namespace

std::string Generator::reg(char letter) {
  return std::string("%") + letter + std::to_string(random_.below(pool(letter).count));
}

std::string Generator::immediate(char letter) {
  if (letter == 'f') return "0f" + hex(random_.pick(kFloatEdges), 8);
  if (letter == 'e') return "0d" + hex(random_.pick(kDoubleEdges), 16);
  uint64_t value = random_.chance(60)   ? random_.pick(kIntegerEdges)
                   : random_.chance(50) ? random_.pick(kWideEdges)
                                        : random_.next();
  if (letter == 'h') value &= 0xffff;
  if (letter == 'r') value &= 0xffffffff;
  return "0x" + hex(value, 1) + (letter == 'd' ? "U" : "");
}

// One of a spelling pattern's spellings.
std::string Generator::spelling(std::string_view pattern) {
  std::string out;
  while (!pattern.empty()) {
    const size_t open = std::min(pattern.find_first_of("[{"), pattern.size());
    out += pattern.substr(0, open);
    if (open == pattern.size()) break;
    const size_t close = pattern.find_first_of("]}", open);
    std::string_view choices = pattern.substr(open + 1, close - open - 1);
    const uint32_t count = uint32_t(std::ranges::count(choices, '|')) + 1;
    uint32_t chosen = pattern[open] == '[' ? random_.below(count) : random_.below(2 * count);
    for (; chosen && choices.find('|') != choices.npos; --chosen)
      choices.remove_prefix(choices.find('|') + 1);
    if (!chosen) out += choices.substr(0, choices.find('|'));
    pattern.remove_prefix(close + 1);
  }
  return out;
}

// The operand that the pattern begins with; the pattern moves behind it.
std::string Generator::operand(std::string_view& pattern, bool destination) {
  const char letter = pattern[0];
  pattern.remove_prefix(1);
  std::string out;
  if (letter == '#') {
    out = std::to_string(random_.below(256));
    pattern.remove_prefix(1);
  } else if (letter == '~') {
    out = (random_.chance(50) ? "!" : "") + reg('p');
    pattern.remove_prefix(1);
  } else if (destination) {
    out = reg(letter);
    if (pattern.starts_with('|') || pattern.starts_with('&')) {
      const bool always = pattern[0] == '&';
      std::string other = reg(pattern[1]);
      while (other == out) other = reg(pattern[1]);  // one register cannot take both results
      pattern.remove_prefix(2);
      if (always || random_.chance(50)) out += "|" + other;
    }
  } else if (pattern.starts_with('!')) {
    out = reg(letter);
    pattern.remove_prefix(1);
  } else {
    out = random_.chance(20) ? immediate(letter) : reg(letter);
  }
  if (pattern.starts_with(',')) pattern.remove_prefix(1);
  return out;
}

std::string Generator::guard(uint32_t percent) {
  if (!random_.chance(percent)) return "";
  return std::string(random_.chance(50) ? "@" : "@!") + reg('p') + " ";
}

Node Generator::row() {
  const Row& row = random_.pick(rows());
  std::string_view operands = row.operands;
  std::string line = guard(8) + spelling(row.spelling) + " " + operand(operands, true);
  while (!operands.empty()) line += ", " + operand(operands, false);
  return leaf(line + ";\n");
}

// Divisors are odd, and positive where they have a sign: neither zero nor an overflow.
Node Generator::division() {
  static constexpr struct {
    char letter;
    std::string_view bits, positive, temporary;
  } kWidths[] = {{'h', "16", "0x7fff", "%th"},
                 {'r', "32", "0x7fffffff", "%t0"},
                 {'d', "64", "0x7fffffffffffffff", "%u0"}};
  const auto& w = random_.pick(kWidths);
  const bool is_signed = random_.chance(50);
  const std::string temporary(w.temporary), bits(w.bits);
  std::string text = "or.b" + bits + " " + temporary + ", " + reg(w.letter) + ", 1;\n";
  if (is_signed)
    text += "and.b" + bits + " " + temporary + ", " + temporary + ", " + std::string(w.positive) +
            ";\n";
  return leaf(text + (random_.chance(50) ? "div" : "rem") + (is_signed ? ".s" : ".u") + bits + " " +
              reg(w.letter) + ", " + reg(w.letter) + ", " + temporary + ";\n");
}

Node Generator::carry_chain() {
  const std::string low = reg('r'), middle = reg('r'), high = reg('r');
  const std::string type = random_.chance(50) ? "u32" : "s32";
  std::string text;
  switch (random_.below(3)) {
    case 0:
      text = "add.cc." + type + " %t0, " + reg('r') + ", " + reg('r') + ";\naddc.cc." + type +
             " %t1, " + reg('r') + ", " + reg('r') + ";\naddc." + type + " %t2, " + reg('r') +
             ", " + reg('r') + ";\n";
      break;
    case 1:
      text = "sub.cc." + type + " %t0, " + reg('r') + ", " + reg('r') + ";\nsubc.cc." + type +
             " %t1, " + reg('r') + ", " + reg('r') + ";\nsubc." + type + " %t2, " + reg('r') +
             ", " + reg('r') + ";\n";
      break;
    default:
      text = "mad.lo.cc." + type + " %t0, " + reg('r') + ", " + reg('r') + ", " + reg('r') +
             ";\nmadc.hi.cc." + type + " %t1, " + reg('r') + ", " + reg('r') + ", " + reg('r') +
             ";\naddc." + type + " %t2, " + reg('r') + ", 0;\n";
  }
  return leaf(text + "mov.b32 " + low + ", %t0;\nmov.b32 " + middle + ", %t1;\nmov.b32 " + high +
              ", %t2;\n");
}

Node Generator::packing() {
  static constexpr struct {
    std::string_view type;
    char wide, narrow;
  } kPairs[] = {{"b64", 'd', 'r'}, {"b64", 'e', 'f'}, {"b32", 'r', 'h'},
                {"b32", 'x', 'k'}, {"b32", 'y', 'b'}, {"b32", 'f', 'h'}};
  const auto& p = random_.pick(kPairs);
  const std::string mov = "mov." + std::string(p.type) + " ";
  const uint32_t n = pool(p.narrow).count, i = random_.below(n),
                 j = (i + 1 + random_.below(n - 1)) % n;
  const std::string pair =
      std::string("{%") + p.narrow + std::to_string(i) + ", %" + p.narrow + std::to_string(j) + "}";
  if (random_.chance(50)) return leaf(mov + pair + ", " + reg(p.wide) + ";\n");
  return leaf(mov + reg(p.wide) + ", " + pair + ";\n");
}

Node Generator::special() {
  static constexpr std::string_view kNames[] = {
      "%tid.x",       "%ntid.x",      "%ctaid.x",     "%nctaid.x",    "%laneid",     "%tid.y",
      "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};
  return leaf("mov.u32 " + reg('r') + ", " + std::string(random_.pick(kNames)) + ";\n");
}

Node Generator::statement(const Context& at) {
  const bool room = at.depth < 4 && at.work <= 64;
  const uint32_t w = random_.below(100);
  if (w < 56) return row();
  if (w < 58) return division();
  if (w < 60) return carry_chain();
  if (w < 62) return packing();
  if (w < 63) return special();
  if (w < 68) return scratch_access();
  if (w < 72) return input_load();
  if (w < 73) return constant_load();
  if (w < 76) return accumulate();
  if (w < 78) return private_atomic();
  if (w < 83) return at.masked ? collective(at) : row();
  if (w < 85) return at.uniform ? barrier(at) : at.masked ? exchange_in_warp(at) : row();
  if (w < 87) return at.leave.empty() ? input_load() : leave(at);
  if (w < 89 && !masked_functions_.empty() && !at.function) return call(at);
  if (!room) return row();
  if (w < 94) return branch(at);
  if (w < 98) return loop(at);
  return table_branch(at);
}

std::vector<Node> Generator::statements(uint32_t count, const Context& at) {
  std::vector<Node> list;
  for (uint32_t i = 0; i < count; ++i) list.push_back(statement(at));
  return list;
}

Program Generator::run() {
  constexpr uint32_t kThreads[] = {32, 64, 96, 40, 72, 33, 1};
  program_.threads = random_.pick(kThreads);
  program_.blocks = 1 + random_.below(3);
  const uint32_t functions = random_.below(3);
  for (uint32_t i = 0; i < functions; ++i) {
    Context inside;
    inside.uniform = false;
    inside.masked = random_.chance(50);
    inside.full = false;
    inside.function = true;
    inside.leave = "FUNCTION_END";
    program_.functions.push_back(statements(4 + random_.below(12), inside));
    masked_functions_.push_back(inside.masked);
  }
  Context top;
  top.full = program_.threads % 32 == 0;
  program_.kernel = statements(12 + random_.below(30), top);
  return std::move(program_);
}

Program generate(uint64_t seed) { return Generator(seed).run(); }

}  // namespace ridge::differential
