// Loads that count only in lanes where their values can matter (definedness.h): judged where that
// is known, which may be behind the load.
#include <algorithm>

#include "vm/check/checker.h"
#include "vm/isa/memory.h"

namespace ridge::vm::check {

// A load, one register's worth after the other.
void Checker::on_speculated(const Access& a) {
  uint64_t at[kWarpSize];
  const Lanes all = addresses_of(a, at);
  if (all.global) check_tensor(a, all.global, at, a.s.bytes);
  for (const Speculated& part : a.b.speculated->at(uint32_t(a.inst - a.b.first_inst)))
    for (const bool shared : {true, false}) {
      uint32_t lanes = shared ? all.shared : all.global;
      if (!lanes) continue;
      if (part.known_at) {
        a.ws.undecided.push_back({a.inst, &part, lanes, a.segment, {}, shared});
        std::copy_n(at, kWarpSize, a.ws.undecided.back().at.begin());
        continue;
      }
      for (const uint32_t predicate : part.predicates) lanes &= a.w.pred(predicate);
      read_part(a, part, lanes, at, shared);
    }
}

void Checker::decide(const Access& a) {
  const uint32_t here = uint32_t(a.inst - a.b.first_inst);
  const uint32_t present = a.w.fragments[a.w.current].mask;
  std::erase_if(a.ws.undecided, [&](const WarpState::Undecided& load) {
    if (load.part->known_at != here || !(load.lanes & present)) return false;
    uint32_t lanes = load.lanes;
    for (const uint32_t predicate : load.part->predicates) lanes &= a.w.pred(predicate);
    const Site& site = a.b.sites[load.inst - a.b.first_inst];
    read_part({a.b, a.ws, a.w, load.inst, site, load.segment, a.base}, *load.part, lanes,
              load.at.data(), load.shared);
    return true;
  });
}

void Checker::read_part(const Access& a, const Speculated& part, uint32_t lanes, const uint64_t* at,
                        bool shared) {
  if (!lanes) return;
  Site site = a.s;
  site.act = Act::load;
  site.bytes = uint8_t(part.bytes);
  uint64_t moved[kWarpSize];
  each_active(lanes, [&](int i) { moved[i] = at[i] + part.first_byte; });
  const Access one{a.b, a.ws, a.w, a.inst, site, a.segment, a.base};
  if (shared && site.array) check_array(one, lanes, moved);
  if (shared) on_shared(one, lanes, moved, part.bytes);
  else on_global(one, lanes, moved, part.bytes);
}

}  // namespace ridge::vm::check
