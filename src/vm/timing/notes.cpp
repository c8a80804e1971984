#include "vm/timing/notes.h"

#include <algorithm>
#include <optional>

namespace ridge::vm::timing {
namespace {

struct Unknown {
  std::string text;
  double band = 1;  // so many times as wide
};

bool calls_through_pointer(const Instruction& ins) {
  return ins.match->facts().flow == Flow::call &&
         std::ranges::any_of(ins.operands, [](const Operand& op) {
           return op.kind == Operand::Kind::reg && op.reg >= 0;
         });
}

std::optional<Unknown> unknown_of(const Instruction& ins) {
  const Facts& facts = ins.match->facts();
  switch (facts.access) {
    case AccessKind::sample:
      return Unknown{"reads textures: each costs one fixed latency, their cache is not modelled",
                     2};
    case AccessKind::load_surface:
    case AccessKind::store_surface:
    case AccessKind::reduce_surface:
      return Unknown{"uses surfaces: each access costs one fixed latency", 2};
    default: break;
  }
  if (calls_through_pointer(ins))
    return Unknown{"calls functions through pointers: what they do is not followed", 2};
  return std::nullopt;
}

}  // namespace

void add_notes(model::Work& work, const Code& code, const Spins& spins) {
  const auto add = [&](const std::string& text, double band) {
    if (std::ranges::find(work.notes, text) != work.notes.end()) return;
    work.notes.push_back(text);
    work.band = std::max(work.band, band);
  };
  constexpr double kSpins = 3;
  for (const std::string& note : spins.notes) add(note, kSpins);
  for (const Instruction& ins : code.function->instructions)
    if (ins.match)
      if (const auto unknown = unknown_of(ins)) add(unknown->text, unknown->band);
}

}  // namespace ridge::vm::timing
