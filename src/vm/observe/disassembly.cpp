// The text, as far as it is looked at:
//
//   //## File ".nv_debug_ptx_txt", line 5472        what follows came from this PTX line
//           /*3ee0*/               @!P0 LDS.64 R9, [R22+0x4] ;
//           /*0550*/                   LDG.E.128.CONSTANT R4, desc[UR6][R14.64+-0x10] ;
#include "vm/observe/disassembly.h"

#include <charconv>
#include <optional>

namespace ridge::vm::observe {
namespace {

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// The part before the first of `ends`, which is taken off `text`.
std::string_view take(std::string_view& text, std::string_view ends) {
  const size_t end = text.find_first_of(ends);
  const std::string_view part = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return part;
}

struct Opcode {
  std::string_view name;
  Action action;
  Reach reach;
};
constexpr Opcode kOpcodes[] = {
    {"LDS", Action::load, Reach::shared},       {"STS", Action::store, Reach::shared},
    {"LDSM", Action::load, Reach::shared},      {"STSM", Action::store, Reach::shared},
    {"LDG", Action::load, Reach::global},       {"STG", Action::store, Reach::global},
    {"LDL", Action::load, Reach::local},        {"STL", Action::store, Reach::local},
    {"LD", Action::load, Reach::none},          {"ST", Action::store, Reach::none},
    {"ATOMS", Action::atomic, Reach::shared},   {"ATOMG", Action::atomic, Reach::global},
    {"ATOM", Action::atomic, Reach::none},      {"RED", Action::reduction, Reach::global},
    {"REDG", Action::reduction, Reach::global}, {"LDGSTS", Action::copy, Reach::global},
};

uint8_t bytes_of(std::string_view word) {
  if (word == "256") return 32;
  if (word == "128") return 16;
  if (word == "64") return 8;
  if (word == "U16" || word == "S16") return 2;
  if (word == "U8" || word == "S8") return 1;
  return 0;
}

std::optional<MachineInstruction> read_instruction(std::string_view text) {
  if (text.starts_with("@")) {
    const std::string_view guard = take(text, " ");
    if (guard == "@!PT" || guard == "@!UPT") return {};  // never executed
    text = without_blanks(text);
  }
  std::string_view opcode = take(text, " ;");
  const std::string_view name = take(opcode, ".");
  for (const Opcode& known : kOpcodes) {
    if (known.name != name) continue;
    MachineInstruction out;
    out.action = known.action;
    out.reach = known.reach;
    out.matrices = name == "LDSM" || name == "STSM";
    out.bytes = 4;
    while (!opcode.empty()) {
      const std::string_view word = take(opcode, ".");
      if (const uint8_t bytes = bytes_of(word)) out.bytes = bytes;
      if (word == "CAS" || word == "CAST") out.compares = true;
    }
    return out;
  }
  return {};
}

}  // namespace

Disassembly read_disassembly(std::string_view text) {
  Disassembly out;
  uint32_t line = 0;
  while (!text.empty()) {
    const std::string_view row = without_blanks(take(text, "\n"));
    if (row.starts_with(".text.")) {
      line = 0;
    } else if (row.starts_with("//## File ")) {
      constexpr std::string_view kLine = "\", line ";
      const size_t at = row.find(kLine);
      line = 0;
      if (at != row.npos)
        std::from_chars(row.data() + at + kLine.size(), row.data() + row.size(), line);
    } else if (row.starts_with("/*") && line) {
      const size_t end = row.find("*/");
      if (end == row.npos) continue;
      if (const auto one = read_instruction(without_blanks(row.substr(end + 2))))
        out[line].push_back(*one);
    }
  }
  return out;
}

}  // namespace ridge::vm::observe
