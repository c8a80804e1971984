#include "case.h"

#include <algorithm>

#include "inputs.h"
#include "vm/decode/decoder.h"

namespace ridge::golden {
namespace {

using vm::Form;
using vm::InstrDef;
using vm::Match;
using vm::Space;
using vm::Type;

std::string_view root_of(std::string_view spelling) {
  return spelling.substr(0, spelling.find_first_of("[{."));
}
bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Fragments hold elements of a whole warp's matrix in a layout of their own, so a table of inputs a
// lane says little; mma_test.cpp holds every shape against a plain product instead, and
// mma_h200_test.cpp and wgmma_h200_test.cpp against what an H200 made of random operands.
std::string_view tensor_agreement(const InstrDef& row) {
  if (contains(row.spelling, "[mma_async]"))
    return "a warpgroup's matrix, held against an H200's bits in wgmma_h200_test.cpp";
  if (root_of(row.spelling) == "wgmma") return "it orders and waits, and has no result";
  if (contains(row.spelling, "[load]") || contains(row.spelling, "[store]") ||
      contains(row.spelling, "matrix["))
    return "exact by its definition; every shape is tested on integers";
  return "a warp's matrix, held against an H200's bits in mma_h200_test.cpp";
}

// Of the rows with many cache and ordering modifiers, which change no value, only the plain
// spellings run. (a|b) is a choice.
constexpr std::string_view kMemory[] = {
    "ld(|.global|.shared|.local).(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
    "ld(|.global|.shared|.local)(.v2|.v4).(u8|u16|u32|f32)",
    "ld(|.global|.shared|.local).v2.(u64|f64)",
    "ld.volatile(|.global|.shared).(u32|u64|f32)",
    "ld.(relaxed|acquire).(cta|gpu|sys)(|.global|.shared).(u32|u64)",
    "st(|.global|.shared|.local).(b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64)",
    "st(|.global|.shared|.local)(.v2|.v4).(u8|u16|u32|f32)",
    "st(|.global|.shared|.local).v2.(u64|f64)",
    "st.volatile(|.global|.shared).(u32|u64|f32)",
    "st.(relaxed|release).(cta|gpu|sys)(|.global|.shared).(u32|u64)",
    "(atom|red)(|.global|.shared).add.(u32|s32|u64|f32|f64)",
    "(atom|red)(|.global|.shared).add.noftz.(f16|bf16|f16x2|bf16x2)",
    "(atom|red)(|.global|.shared).(min|max).(u32|s32|u64|s64)",
    "(atom|red)(|.global|.shared).(inc|dec).u32",
    "(atom|red)(|.global|.shared).(and|or|xor).(b32|b64)",
    "atom(|.global|.shared).exch.(b32|b64)",
    "atom(|.global|.shared).cas.(b16|b32|b64)",
    "atom.(relaxed|acquire|release|acq_rel).(cta|gpu|sys).global.add.u32",
};

std::vector<std::string> choices(std::string_view pattern) {
  const size_t open = pattern.find('(');
  if (open == std::string_view::npos) return {std::string(pattern)};
  const size_t close = pattern.find(')', open);
  std::vector<std::string> all;
  const std::vector<std::string> tails = choices(pattern.substr(close + 1));
  for (size_t at = open + 1; at <= close;) {
    const size_t end = std::min(pattern.find('|', at), close);
    for (const std::string& tail : tails)
      all.push_back(std::string(pattern.substr(0, open)) +
                    std::string(pattern.substr(at, end - at)) + tail);
    at = end + 1;
  }
  return all;
}

// What lop3 tries as its table: constants, single inputs, xor, majority, select, and mixtures.
const std::vector<std::string> kTables = {"0x00", "0xff", "0xf0", "0xcc", "0xaa", "0x96", "0xe8",
                                          "0xca", "0x1b", "0x80", "0x01", "0x3c", "0x6a", "0xd8"};

Case make_case(std::string spelling, std::string_view group, const Match& match) {
  Case c;
  c.group = group;
  const std::string_view root = root_of(spelling);
  const Form& form = match.form;
  const auto& specs = vm::operand_specs(*match.row);
  for (size_t k = 0; k < specs.size(); ++k) {
    Argument a;
    a.type = vm::operand_type(specs[k], form);
    a.second = specs[k].second;
    if (specs[k].vector) a.elements = form.vector;
    if (specs[k].address) a.role = Argument::Role::address;
    else if (specs[k].dest) a.role = Argument::Role::destination;
    if (root == "lop3" && k == 4) {
      a.role = Argument::Role::literals;
      a.literals = kTables;
    }
    // The member mask of .sync instructions comes last; all lanes take part.
    if (match.facts().converges && k + 1 == specs.size()) {
      a.role = Argument::Role::literals;
      a.literals = {"0xffffffff"};
    }
    c.arguments.push_back(a);
  }
  if (match.facts().carries) {
    c.carry_in = root == "addc" || root == "subc" || root == "madc";
    c.carry_out = form.has("cc");
    c.borrows = root == "sub" || root == "subc";
  }
  c.whole_warps = match.facts().exchanges || match.facts().converges;
  c.space = form.space;
  c.mnemonic = spelling;
  c.spelling = std::move(spelling);
  return c;
}

// Video instructions on parts of registers: a selection, as every combination would be millions.
struct Selection {
  std::string_view roots, types, tails;
  std::string_view d, a, b;
  int operands;
};
constexpr std::string_view kScalarRoots = "(vadd|vsub|vabsdiff|vmin|vmax)",
                           kTwoRoots = "(vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2)",
                           kFourRoots = "(vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4)";
constexpr std::string_view kTypes = "(.s32.s32.s32|.u32.u32.u32|.s32.u32.s32|.u32.s32.u32)";
constexpr Selection kSelections[] = {
    {kScalarRoots, kTypes, "(|.sat)", "", ".b0", ".b3", 3},
    {kScalarRoots, kTypes, "(|.sat)", "", ".h1", ".h0", 3},
    {kScalarRoots, kTypes, "(|.sat)", ".b2", ".b1", ".h1", 4},
    {kScalarRoots, kTypes, "(|.sat)", ".h1", "", "", 4},
    {kScalarRoots, kTypes, "(.add|.sat.max)", "", ".b2", ".h1", 4},
    {"(vshl|vshr)", "(.s32.s32.u32|.u32.u32.u32)", "(|.sat)(.clamp|.wrap)", "", ".h1", ".b0", 3},
    {"(vshl|vshr)", "(.s32.s32.u32|.u32.u32.u32)", "(|.sat)(.clamp|.wrap)", ".b1", ".b2", ".b0", 4},
    {"vmad", "(.s32.s32.s32|.u32.u32.u32|.s32.u32.s32)", "(|.sat|.po.sat.shr7|.shr15)", "", ".h1",
     ".b0", 4},
    {"vset", "(.s32.s32|.u32.u32|.s32.u32)", "(.lt|.ge)", "", ".b1", ".h0", 3},
    {"vset", "(.s32.s32|.u32.u32|.s32.u32)", "(.lt|.ge)", ".h0", ".b1", ".h0", 4},
    {kTwoRoots, kTypes, "(|.sat|.add)", ".h0", "", "", 4},
    {kTwoRoots, kTypes, "(|.sat|.add)", ".h1", ".h31", ".h02", 4},
    {kFourRoots, kTypes, "(|.sat|.add)", ".b31", "", "", 4},
    {kFourRoots, kTypes, "(|.sat|.add)", ".b210", ".b0123", ".b7531", 4},
    {"(vset2)", "(.s32.s32|.u32.u32)", "(.lt|.ge.add)", ".h1", ".h20", ".h13", 4},
    {"(vset4)", "(.s32.s32|.u32.u32)", "(.lt|.ge.add)", ".b20", ".b6420", ".b7531", 4},
};

void add_selections(std::vector<Case>& cases, std::vector<std::string>* missing) {
  std::string error;
  for (const Selection& s : kSelections)
    for (const std::string& mnemonic :
         choices(std::string(s.roots) + std::string(s.types) + std::string(s.tails))) {
      const Match* match = vm::find_instruction(mnemonic, &error, s.operands);
      if (!match) {
        missing->push_back(mnemonic);
        continue;
      }
      Case c = make_case(mnemonic, "video", *match);
      const std::string_view selectors[] = {s.d, s.a, s.b};
      for (size_t k = 0; k < 3; ++k) {
        c.arguments[k].selector = selectors[k];
        if (!selectors[k].empty())
          c.spelling += std::string(" ") + "dab"[k] + std::string(selectors[k]);
      }
      cases.push_back(std::move(c));
    }
}

}  // namespace

bool Case::uses_memory() const {
  for (const Argument& a : arguments)
    if (a.role == Argument::Role::address) return true;
  return false;
}

int Case::threads() const { return uses_memory() ? 1024 : thread_count(inputs()); }

std::vector<Type> Case::inputs() const {
  std::vector<Type> types;
  for (const Argument& a : arguments)
    if (a.role == Argument::Role::source) types.insert(types.end(), size_t(a.elements), a.type);
  if (carry_in) types.push_back(Type::pred);
  if (uses_memory()) {
    // A memory cell starts with a value of the instruction's own type.
    for (const Argument& a : arguments)
      if (a.role == Argument::Role::address) types.push_back(a.type);
    types.insert(types.end(), kCellWords - 1, Type::b64);
  }
  return types;
}

std::vector<Type> Case::outputs() const {
  std::vector<Type> once;
  size_t runs = 1;
  for (const Argument& a : arguments) {
    if (a.role == Argument::Role::destination) {
      once.insert(once.end(), size_t(a.elements), a.type);
      if (a.second) once.push_back(Type::pred);
    }
    if (a.role == Argument::Role::literals) runs *= a.literals.size();
  }
  if (carry_out) once.push_back(Type::u32);
  if (uses_memory()) once.insert(once.end(), kCellWords, Type::b64);
  std::vector<Type> all;
  for (size_t i = 0; i < runs; ++i) all.insert(all.end(), once.begin(), once.end());
  return all;
}

std::string_view why_not_run(std::string_view group, const InstrDef& row) {
  const std::string_view root = root_of(row.spelling);
  if (group == "control and barriers") return "control flow, tested by programs";
  if (row.facts.flow != vm::Flow::next) return "control flow, tested by programs";
  if (group == "asynchronous copies" || group == "asynchronous barriers" ||
      group == "bulk stores" || group == "asynchronous stores")
    return "between threads, tested by programs";
  if (group == "tensor copies" || group == "tensor maps")
    return "held against an H200's bytes in tensor_copy_test.cpp and tensor_map_test.cpp";
  if (group == "the stack") return "addresses differ between devices";
  if (root == "cvta" || root == "isspacep" || root == "istypep" || root == "mapa" ||
      root == "getctarank")
    return "addresses differ between devices";
  if (root == "prefetch" || root == "prefetchu" || root == "applypriority" || root == "discard" ||
      root == "createpolicy" || root == "cp")
    return "no value to compare";
  if ((root == "shfl" || root == "vote") && !contains(row.spelling, "[sync]"))
    return "not on sm_70 and later";
  if (root == "ldu") return "as ld";
  if (contains(row.spelling, "[b128]")) return "exact by its definition; memory_test.cpp has it";
  if (contains(row.spelling, "[oob]"))
    return "the inputs lack its NaN; half_test.cpp holds what an H200 made of every factor";
  if (row.unit == vm::Unit::texture) return "needs texture or surface objects, tested by programs";
  if (row.unit == vm::Unit::tensor) return tensor_agreement(row);
  if (row.facts.access != vm::AccessKind::none)
    return root == "ld" || root == "st" || root == "atom" || root == "red"
               ? ""
               : "no simple memory form";
  return "";
}

std::vector<Case> collect_cases(std::vector<std::string>* missing) {
  std::vector<Case> cases;
  std::string error;
  for (const vm::Group& group : vm::groups())
    for (const InstrDef& row : group.rows) {
      if (!why_not_run(group.name, row).empty()) continue;
      if (row.facts.access != vm::AccessKind::none) continue;  // below
      for (std::string& spelling : vm::expand(row)) {
        const Match* match = vm::find_instruction(spelling, &error);
        cases.push_back(make_case(std::move(spelling), group.name, *match));
      }
    }
  for (std::string_view pattern : kMemory)
    for (std::string& spelling : choices(pattern)) {
      const Match* match = vm::find_instruction(spelling, &error);
      if (match) cases.push_back(make_case(std::move(spelling), "memory", *match));
      else missing->push_back(spelling);
    }
  add_selections(cases, missing);
  return cases;
}

}  // namespace ridge::golden
