#include "vm/exec/place.h"

namespace ridge::vm {
namespace {

std::string path_of(const Module& module, const SourceLoc& loc) {
  return loc.file < module.files.size() ? module.files[loc.file] : "?";
}

}  // namespace

report::Place place_of(const Code& code, const Instruction* source) {
  report::Place place;
  if (!source) return place;
  place.ptx_line = source->line;
  place.instruction = source->mnemonic;
  if (source->loc < 0) return place;
  const auto& locs = code.function->locs;
  const SourceLoc* loc = &locs[size_t(source->loc)];
  while (loc->inlined_at >= 0 && report::is_of_toolkit(path_of(*code.module, *loc))) {
    if (!place.inside.empty()) place.inside += " < ";
    place.inside += path_of(*code.module, *loc) + ":" + std::to_string(loc->line);
    loc = &locs[size_t(loc->inlined_at)];
  }
  place.file = path_of(*code.module, *loc);
  place.line = loc->line;
  place.column = loc->column;
  return place;
}

report::Place place_of(const Code& code, const Inst* inst) {
  const Inst* first = code.insts.data();
  const bool inside = inst >= first && inst < first + code.insts.size();
  return place_of(code, inside ? code.meta_of(inst).source : nullptr);
}

}  // namespace ridge::vm
