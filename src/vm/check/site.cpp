#include "vm/check/site.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "vm/check/bounds.h"
#include "vm/check/shape.h"
#include "vm/exec/place.h"
#include "vm/isa/internal.h"
#include "vm/isa/operands.h"
#include "vm/isa/shuffle.h"

namespace ridge::vm::check {
namespace {

constexpr size_t kMostSites = 0xffff;

// The instruction itself, not what the decoder put before and behind it.
bool is_operation(const Inst& inst, const InstMeta& meta) {
  return meta.match && (inst.full == meta.match->handlers.full || meta.merged >= 0);
}

int words_of_run(const Inst& inst) {
  for (const int words : {2, 4})
    if (internal::load_shared_run(words, 0).full == inst.full) return words;
  return 8;
}

Site memory_site(const Inst& inst, const InstMeta& meta) {
  const Facts& facts = meta.match->facts();
  const Form& form = meta.match->form;
  Site s;
  s.space = form.space;
  if (s.space == Space::local || s.space == Space::param || s.space == Space::constant) return {};
  s.act = facts.is_atomic() ? Act::atomic : facts.writes() ? Act::store : Act::load;
  // The decoder writes one instruction for each element of a vector of atomics.
  const int words = meta.merged >= 0 ? words_of_run(inst) : s.act == Act::atomic ? 1 : form.vector;
  s.element = uint8_t(size_of(form.type()));
  s.bytes = uint8_t(s.element * words);
  s.is_volatile = form.order == Order::is_volatile;
  // volatile in shared memory promises nothing to the other threads of the block.
  s.strong = s.act == Act::atomic ||
             (form.order != Order::weak && !(s.is_volatile && s.space == Space::shared));
  s.acquires = form.acquires();
  s.releases = form.releases();
  s.merged = meta.merged >= 0;
  s.returns = facts.access == AccessKind::atomic;
  s.blind = form.operation == Operation::exch;
  s.block_scope = form.scope == MemoryScope::cta;
  return s;
}

// What the checker does at an instruction that waits or orders.
Act act_of(Sync sync) {
  switch (sync) {
    case Sync::lanes: return Act::lanes;
    case Sync::warp: return Act::meet;
    case Sync::block:
    case Sync::block_arrive: return Act::barrier;
    case Sync::fence: return Act::fence;
    case Sync::proxy_fence: return Act::proxy_fence;
    case Sync::bulk_wait: return Act::bulk_wait;
    case Sync::copy_wait: return Act::copy_wait;
    case Sync::copy_arrive: return Act::copy_arrive;
    case Sync::token_init: return Act::token_init;
    case Sync::token_end: return Act::token_end;
    case Sync::token_arrive: return Act::token_arrive;
    case Sync::token_wait: return Act::token_wait;
    case Sync::grid_wait: return Act::grid_wait;
    case Sync::cluster: return Act::cluster_wait;  // cluster_barrier_opens follows
    case Sync::cluster_arrive: return Act::cluster_arrive;
    case Sync::none:
    case Sync::map_fence:
    case Sync::copy_commit:
    case Sync::bulk_commit:
    case Sync::grid_trigger:
    case Sync::registers_dec:
    case Sync::registers_inc: return Act::none;
    case Sync::product_fence: return Act::product_fence;
    case Sync::product_commit: return Act::product_commit;
    case Sync::product_wait: return Act::product_wait;
  }
  return Act::none;
}

Site sync_site(const Match& match) {
  const Facts& facts = match.facts();
  const Form& form = match.form;
  Site s;
  s.act = starts_product(match) ? Act::product : act_of(facts.sync);
  s.space = form.space;
  switch (s.act) {
    case Act::fence: s.block_scope = form.scope == MemoryScope::cta; break;
    case Act::cluster_arrive: s.aligned = form.aligned; break;
    case Act::barrier:
      s.aligned = facts.aligned || form.aligned;
      s.writes = facts.counted;
      break;
    case Act::lanes:
      s.mask_field = uint8_t(operand_count(*match.row) - 2);
      if (facts.across == Across::shuffled) s.shuffle = uint8_t(1 + int(shuffle_mode(form)));
      break;
    case Act::token_init:
    case Act::token_arrive:
    case Act::token_wait:
      s.bytes = 8;
      s.releases = form.order != Order::relaxed;
      break;
    default: break;
  }
  return s;
}

Site site_of(const Inst& inst, const InstMeta& meta) {
  if (!is_operation(inst, meta)) return {};
  const Facts& facts = meta.match->facts();
  Site s;
  switch (facts.access) {
    case AccessKind::load:
    case AccessKind::store:
    case AccessKind::atomic:
    case AccessKind::reduction: return memory_site(inst, meta);
    case AccessKind::load_matrix:
    case AccessKind::store_matrix:
      s.act = facts.writes() ? Act::store_matrix : Act::load_matrix;
      s.space = meta.match->form.space;
      s.bytes = 16;
      s.rows = uint8_t(8 * meta.match->form.matrices);
      return s;
    case AccessKind::load_tile: s.act = Act::load_tile; return s;
    case AccessKind::store_tile: s.act = Act::store_tile; return s;
    case AccessKind::copy: s.act = Act::copy; return s;
    case AccessKind::bulk_copy: s.act = Act::bulk_copy; return s;
    case AccessKind::tensor_load: s.act = Act::bulk_copy; return s;
    case AccessKind::bulk_store:
    case AccessKind::tensor_store:
    case AccessKind::peer_store:
      s.act = Act::bulk_store;
      s.strong = meta.match->form.operation != Operation::none;
      return s;
    default: return sync_site(*meta.match);
  }
}

// Where an instruction's address comes from: the register before it was converted, the variable,
// and the offset.
struct Address {
  int32_t reg = -1;
  const Variable* variable = nullptr;
  int64_t offset = 0;
  auto operator<=>(const Address&) const = default;
};
std::optional<Address> address_of(const Instruction& source,
                                  const std::map<int32_t, int32_t>& converted) {
  for (const Operand& op : source.operands)
    if (op.kind == Operand::Kind::address) {
      const auto from = converted.find(op.reg);
      return Address{from == converted.end() ? op.reg : from->second, op.variable, op.offset};
    }
  return std::nullopt;
}

// `old = *p; do … while (atomicCAS(p, …))`: if another thread comes between, the exchange fails and
// the loop goes on with what it found. Such a load is as good as an atomic one.
void trust_optimistic_loads(const Code& code, std::vector<Site>& sites) {
  std::map<int32_t, int32_t> converted;
  for (const Instruction& i : code.function->instructions)
    if (i.match && i.match->root == "cvta" && i.operands.size() == 2 &&
        i.operands[1].kind == Operand::Kind::reg)
      converted[i.operands[0].reg] = i.operands[1].reg;
  std::set<Address> exchanged;
  for (size_t k = 0; k < sites.size(); ++k)
    if (sites[k].act == Act::atomic && code.meta[k].match->form.operation == Operation::cas)
      if (const auto at = address_of(*code.meta[k].source, converted)) exchanged.insert(*at);
  if (exchanged.empty()) return;
  for (size_t k = 0; k < sites.size(); ++k)
    if (sites[k].act == Act::load && code.meta[k].merged < 0)
      if (const auto at = address_of(*code.meta[k].source, converted);
          at && exchanged.contains(*at))
        sites[k].strong = true;
}

void mark_speculated(const Code& code, CodeSites& all) {
  std::vector<LoadToAsk> loads;
  for (uint32_t k = 0; k < all.sites.size(); ++k)
    if (const Site& s = all.sites[k]; s.act == Act::load && !s.strong && !s.is_volatile)
      loads.push_back({k, s.merged ? s.bytes / 4u : 0});
  all.speculated = find_speculated(code, *all.listing, loads);
  for (const auto& [k, parts] : all.speculated) {
    all.sites[k].act = Act::load_speculated;
    for (const Speculated& part : parts) {
      if (!part.known_at) continue;
      Site& site = all.sites[part.known_at];
      if (site.act == Act::none) site.act = Act::decide;
      else site.besides |= Site::kDecides;
    }
  }
}

// A volatile load whose value is waited for orders what comes behind it. Others rely on the lanes
// of a warp being in step, which nothing promises.
void mark_steps(const Code& code, CodeSites& all) {
  for (uint32_t k = 0; k < all.sites.size(); ++k) {
    Site& s = all.sites[k];
    if (s.act != Act::load || !s.is_volatile || !s.strong) continue;
    const uint32_t i = all.listing->index_of(code.meta[k].source);
    s.in_step = i != Listing::kNone && !decides_branch(*all.listing, i);
  }
}

// Loops that write memory: whether two accesses belong to the same turn says where a barrier is
// missing.
void mark_turns(const Code& code, CodeSites& all) {
  const Listing& l = *all.listing;
  bool reads = false, writes = false;
  for (const Site& s : all.sites) {
    reads |= s.act == Act::load || s.act == Act::load_speculated;
    writes |= s.act == Act::store;
  }
  if (!reads || !writes) return;
  std::unordered_map<const Instruction*, uint32_t> idle;  // that the checker has nothing to do with
  for (uint32_t k = uint32_t(code.insts.size()); k-- > 0;)
    if (code.meta[k].source && all.sites[k].act == Act::none) idle[code.meta[k].source] = k;
  const auto mark = [&](uint32_t i) {
    const auto found = idle.find(&l.at(i));
    if (found != idle.end()) all.sites[found->second].act = Act::turn;
    return found != idle.end();
  };
  for (uint32_t i = 0; i < l.size(); ++i)
    for (const uint32_t head : l.next(i))
      if (l.is_back_edge(i, head) && l.loop_stores(i, head) && !mark(head)) mark(i);
}

// Registers that products use. Those that do nothing else the checker hears of because of this
// alone.
void mark_touches(const Code& code, CodeSites& all) {
  all.touches = Touches(code);
  if (!all.touches.any()) return;
  for (size_t k = 0; k < all.sites.size(); ++k) {
    if (all.touches.of(k).empty()) continue;
    Site& site = all.sites[k];
    if (site.act == Act::none) site.act = Act::touch;
    else site.besides |= Site::kTouches;
  }
}

bool is_cluster_barrier(const Facts& facts) {
  return facts.sync == Sync::cluster || facts.sync == Sync::cluster_arrive;
}
// Whether blocks of a cluster can have to do with each other.
bool uses_clusters(const KernelCode& kernel) {
  for (const auto& [function, code] : kernel.functions)
    for (const InstMeta& meta : code->meta)
      if (meta.match && (is_cluster_barrier(meta.match->facts()) || meta.match->root == "mapa"))
        return true;
  return false;
}

void mark_leaves(const Code& code, CodeSites& all) {
  if (!uses_clusters(*code.kernel)) return;
  for (size_t k = 0; k < all.sites.size(); ++k)
    if (const Handler handler = code.insts[k].full;
        handler == internal::kExit.full || handler == internal::kExitIf.full)
      all.sites[k].act = Act::leave;
}

// The instructions that control can reach in the direction of `next`, from those that `begin`.
template <class Begins, class Next>
std::vector<bool> reached(const Listing& l, Begins begins, Next next) {
  std::vector<bool> seen(l.size(), false);
  std::vector<uint32_t> open;
  const auto go = [&](uint32_t i) {
    next(i, [&](uint32_t to) {
      if (seen[to]) return;
      seen[to] = true;
      open.push_back(to);
    });
  };
  for (uint32_t i = 0; i < l.size(); ++i)
    if (begins(i)) go(i);
  while (!open.empty()) {
    const uint32_t i = open.back();
    open.pop_back();
    go(i);
  }
  return seen;
}

// Accesses from which no barrier of the cluster can be reached, but which can be reached from one.
void mark_behind(const Code& code, CodeSites& all) {
  const Listing& l = *all.listing;
  const auto is_barrier = [&](uint32_t i) { return is_cluster_barrier(l.facts(i)); };
  bool any = false;
  for (uint32_t i = 0; i < l.size(); ++i) any |= is_barrier(i);
  if (!any) return;
  std::vector<std::vector<uint32_t>> before(l.size());
  for (uint32_t i = 0; i < l.size(); ++i)
    for (const uint32_t to : l.next(i)) before[to].push_back(i);
  const auto each = [](const std::vector<uint32_t>& list, auto f) {
    for (const uint32_t i : list) f(i);
  };
  const auto behind = reached(l, is_barrier, [&](uint32_t i, auto f) { each(l.next(i), f); });
  const auto ahead = reached(l, is_barrier, [&](uint32_t i, auto f) { each(before[i], f); });
  for (size_t k = 0; k < all.sites.size(); ++k) {
    Site& site = all.sites[k];
    const bool accesses = site.act != Act::none && site.act <= Act::bulk_store;
    const uint32_t i = accesses ? l.index_of(code.meta[k].source) : Listing::kNone;
    if (i != Listing::kNone && behind[i] && !ahead[i]) site.besides |= Site::kBehind;
  }
}

SiteInfo info_of(const Code& code, const InstMeta& meta, const Site& site) {
  SiteInfo info;
  info.act = site.act;
  info.kernel = code.kernel->entry->name;
  const Instruction& source = *meta.source;
  info.code = &code;
  const auto& all = code.function->instructions;
  const auto add = [&](const Instruction* i) {
    if (i >= all.data() && i < all.data() + all.size())
      info.indices.push_back(uint32_t(i - all.data()));
  };
  if (!site.merged) add(&source);
  else
    for (uint32_t k = 0; k < site.bytes / 4u; ++k) add(code.merged[size_t(meta.merged) + k]);
  if (!info.indices.empty()) info.index = info.indices[0];
  const report::Place place = place_of(code, meta.source);
  info.ptx_line = place.ptx_line;
  info.mnemonic = place.instruction;
  info.file = place.file;
  info.line = place.line;
  info.column = place.column;
  info.inside = place.inside;
  const auto& locs = code.function->locs;
  for (int32_t k = source.loc; k >= 0; k = locs[size_t(k)].inlined_at) {
    const SourceLoc& loc = locs[size_t(k)];
    if (loc.file >= code.module->files.size()) continue;
    const std::string& file = code.module->files[loc.file];
    if (!report::is_of_toolkit(file)) info.calls.insert(info.calls.begin(), {file, loc.line});
  }
  return info;
}

// Whether a kernel can tell a running host anything.
bool speaks_to_host(const KernelCode& kernel) {
  for (const auto& [function, code] : kernel.functions)
    for (const InstMeta& meta : code->meta) {
      if (!meta.match) continue;
      const Form& form = meta.match->form;
      if (form.scope == MemoryScope::sys) return true;
      if (form.order == Order::is_volatile && form.space != Space::shared) return true;
    }
  return false;
}

void set_home(Site& site, const Variable& home, const KernelCode& kernel) {
  if (home.space == Space::param) {
    const auto& params = kernel.entry->params;
    for (size_t k = 0; k < params.size(); ++k)
      if (&params[k] == &home) site.param = uint16_t(k);
    return;
  }
  if (site.act == Act::copy || site.bytes > home.size) return;
  site.array = &home;
  site.array_begin = kernel.shared_offsets.at(&home);
  site.array_end = site.array_begin + uint32_t(home.size);
}

// Those that act, and what follows an instruction whose result has to be looked at when it has run.
std::vector<uint8_t> told_of(const std::vector<Site>& sites) {
  constexpr size_t kLongest = 2;  // slots of such an instruction
  std::vector<uint8_t> told(sites.size(), 0);
  for (size_t k = 0; k < sites.size(); ++k) {
    const Site& s = sites[k];
    if (s.act == Act::none) continue;
    const bool only_looks = s.act == Act::load || s.act == Act::store ||
                            s.act == Act::load_speculated || s.act == Act::decide ||
                            s.act == Act::turn || s.act >= Act::product;
    const bool has_result = s.strong || !only_looks;
    const size_t last = std::min(k + (has_result ? kLongest : 0), sites.size() - 1);
    for (size_t at = k; at <= last; ++at) told[at] = 1;
  }
  return told;
}

}  // namespace

Sites::Sites() : infos_(3) {
  infos_[kCopy].mnemonic = "cudaMemcpyAsync";
  infos_[kFill].mnemonic = "cudaMemsetAsync";
}

const CodeSites& Sites::of(const Code& code) {
  const std::lock_guard lock(mutex_);
  auto& slot = codes_[&code];
  const uint64_t program = code.kernel->program->id;
  if (slot && slot->program == program && slot->first == code.insts.data()) return *slot;
  if (slot) old_.push_back(std::move(slot));
  slot = std::make_unique<CodeSites>();
  slot->program = program;
  slot->first = code.insts.data();
  slot->sites.resize(code.insts.size());
  const bool speaks = speaks_to_host(*code.kernel);
  for (size_t k = 0; k < code.insts.size(); ++k)
    slot->sites[k] = site_of(code.insts[k], code.meta[k]);
  mark_touches(code, *slot);
  mark_leaves(code, *slot);
  for (size_t k = 0; k < code.insts.size(); ++k) {
    Site& site = slot->sites[k];
    if (site.act == Act::none || infos_.size() > kMostSites || !code.meta[k].source) continue;
    site.id = uint16_t(infos_.size());
    infos_.push_back(info_of(code, code.meta[k], site));
    infos_.back().speaks_to_host = speaks;
  }
  trust_optimistic_loads(code, slot->sites);
  const auto homes = homes_of_accesses(code);
  for (size_t k = 0; k < slot->sites.size(); ++k)
    if (const Act act = slot->sites[k].act;
        act == Act::load || act == Act::store || act == Act::atomic || act == Act::copy)
      if (const auto found = homes.find(code.meta[k].source); found != homes.end())
        set_home(slot->sites[k], *found->second, *code.kernel);
  slot->listing = std::make_unique<Listing>(*code.function);
  mark_behind(code, *slot);
  mark_speculated(code, *slot);
  mark_turns(code, *slot);
  mark_steps(code, *slot);
  for (const Site& site : slot->sites) slot->acts.push_back(site.act);
  slot->told = told_of(slot->sites);
  return *slot;
}

uint32_t Sites::first_of(const Code& code, Act act) {
  for (const Site& site : of(code).sites)
    if (site.act == act) return site.id;
  return 0;
}

SiteInfo Sites::info(uint32_t id) {
  const std::lock_guard lock(mutex_);
  return infos_[id];
}

}  // namespace ridge::vm::check
