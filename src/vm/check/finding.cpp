#include "vm/check/finding.h"

#include <string_view>
#include <utility>

#include "vm/report/sink.h"

namespace ridge::vm::check {
namespace {

// What mends it, in the words of Triton: an author of a Python program has no other.
std::string in_python(std::string fix) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"cudaMemset or cudaMemcpy", "numpy.zeros or torch.zeros, or copy into it"},
      {"atomic on the same place", "tl.atomic_* on the same place"},
      {"atomicAdd(", "tl.atomic_add("},
      {"atomicMax(", "tl.atomic_max("},
      {"atomicMin(", "tl.atomic_min("},
      {"atomicAnd(", "tl.atomic_and("},
      {"atomicOr(", "tl.atomic_or("},
      {"atomicXor(", "tl.atomic_xor("},
      {"atomicExch(", "tl.atomic_xchg("},
      {"atomicCAS(", "tl.atomic_cas("},
      {"__syncthreads()", "tl.debug_barrier()"},
      {"cudaStreamWaitEvent", "stream.wait_event"},
  };
  for (const auto& [from, to] : kWords)
    for (size_t at = fix.find(from); at != fix.npos; at = fix.find(from, at + to.size()))
      fix.replace(at, from.size(), to);
  return fix;
}

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
  const bool python = sites_.info(f.second.site).file.ends_with(".py");
  told.fix = python ? in_python(f.fix) : f.fix;
  told.fix_kind = f.fix_kind;
  if (!python) told.edits = f.edits;
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
