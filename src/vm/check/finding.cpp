#include "vm/check/finding.h"

#include "vm/report/sink.h"

namespace ridge::vm::check {
namespace {

report::Party party_of(const Party& party, const SiteInfo& info) {
  if (!party.site && party.who.empty()) return {};
  report::Place place;
  if (party.site)
    place = {.file = info.file,
             .line = info.line,
             .column = info.column,
             .function = {},
             .inside = info.inside,
             .ptx_line = info.ptx_line,
             .instruction = info.mnemonic};
  return {party.act, party.who, std::move(place)};
}

}  // namespace

bool Findings::is_new(const char* kind, uint32_t first_site, uint32_t second_site) {
  const std::lock_guard lock(mutex_);
  Seen& seen = seen_[{kind, first_site, second_site}];
  if (++seen.count > 1) return false;
  order_.push_back(&seen);
  return true;
}

report::Finding Findings::told(const Finding& f) {
  report::Finding told;
  told.kind = f.kind;
  told.space = f.space;
  told.kernel = f.kernel;
  told.first = party_of(f.first, sites_.info(f.first.site));
  told.second = party_of(f.second, sites_.info(f.second.site));
  told.address = f.address;
  told.memory = f.memory;
  told.message = f.what;
  told.notes = f.notes;
  told.fix = f.fix;
  told.fix_kind = f.fix_kind;
  told.edits = f.edits;
  told.scope = f.scope;
  return told;
}

void Findings::add(const Finding& f) {
  const report::Finding finding = told(f);
  const std::lock_guard lock(mutex_);
  const uint32_t first = f.any_first ? 0 : f.first.site;
  const uint32_t second = f.any_second ? 0 : f.second.site;
  seen_[{f.kind, first, second}].id = report::write(finding);
}

void Findings::finish(uint64_t launches) {
  const std::lock_guard lock(mutex_);
  for (const Seen* seen : order_)
    if (seen->id) report::write_count(seen->id, seen->count);
  report::write_end(launches);
}

}  // namespace ridge::vm::check
