// Instructions that look across the lanes of a warp: shfl, vote, match, redux, activemask, elect.
//
// `.sync` forms wait until every lane their mask names has arrived (gather_lanes); after that
// `w.mask` holds the lanes that execute together.
#include "vm/isa/groups.h"
#include "vm/isa/shuffle.h"
#include "vm/isa/sync.h"

namespace ridge::vm {
namespace {

// Fields: d, a = value, b = lane operand, c = clamp and segment mask, x[0] = member mask (.sync),
// next = predicate.
template <Shuffle Mode, bool Sync>
const Inst* shfl(Warp& w, const Inst* inst) {
  const Wide& more = wide(inst);
  if (Sync && !gather_lanes(w, inst, w.src<uint32_t>(more.x[0]))) return nullptr;
  const uint32_t* a = w.src<uint32_t>(inst->a);
  const uint32_t* b = w.src<uint32_t>(inst->b);
  const uint32_t* c = w.src<uint32_t>(inst->c);
  const uint32_t p = more.x[Sync ? 1 : 0];
  uint32_t result[kWarpSize], in_range = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto [from, ok] = shuffle_source(Mode, lane, b[lane], c[lane]);
    result[lane] = a[from];
    in_range |= uint32_t(ok) << lane;
  }
  uint32_t* d = w.reg<uint32_t>(inst->d);
  each_lane<false>(d, w.mask, [&](int i) { return result[i]; });
  if (p != kNoOperand) w.set_pred(p, in_range);
  return inst + 2;
}
template <bool Sync>
Handlers select_shfl(const Form& form) {
  switch (form.index_of({"up", "down", "bfly", "idx"})) {
    case 0: return {shfl<Shuffle::up, Sync>, shfl<Shuffle::up, Sync>, true};
    case 1: return {shfl<Shuffle::down, Sync>, shfl<Shuffle::down, Sync>, true};
    case 2: return {shfl<Shuffle::bfly, Sync>, shfl<Shuffle::bfly, Sync>, true};
    default: return {shfl<Shuffle::idx, Sync>, shfl<Shuffle::idx, Sync>, true};
  }
}

// Calls f(lanes) once for every group of active lanes that named the same member mask: `lanes` are
// those of the group. Tiles of a warp execute one converged vote with different masks.
template <class F>
void each_group(const Warp& w, const uint32_t* members, F f) {
  for (uint32_t left = w.mask; left;) {
    const uint32_t mask = members[__builtin_ctz(left)];
    uint32_t group = 0;
    each_active(left, [&](int i) { group |= uint32_t(members[i] == mask) << i; });
    f(group & mask ? group : group | (left & -left));
    left &= ~group;
  }
}

enum class Vote { all, any, uni, ballot };
template <Vote Mode, bool Sync>
const Inst* vote(Warp& w, const Inst* inst) {
  if (Sync && !gather_lanes(w, inst, w.src<uint32_t>(inst->b))) return nullptr;
  const uint32_t bits = w.pred(inst->a);
  const auto answer = [&](uint32_t lanes) {
    const uint32_t set = bits & lanes;
    if constexpr (Mode == Vote::ballot) {
      uint32_t* d = w.reg<uint32_t>(inst->d);
      each_active(lanes, [&](int i) { d[i] = set; });
    } else {
      const bool yes = Mode == Vote::all   ? set == lanes
                       : Mode == Vote::any ? set != 0
                                           : set == 0 || set == lanes;
      uint32_t& p = *w.reg<uint32_t>(inst->d);
      p = (p & ~lanes) | (yes ? lanes : 0);
    }
  };
  if constexpr (Sync) each_group(w, w.src<uint32_t>(inst->b), answer);
  else answer(w.mask);
  return inst + 1;
}
template <bool Sync>
Handlers select_vote(const Form& form) {
  switch (form.index_of({"all", "any", "uni", "ballot"})) {
    case 0: return {vote<Vote::all, Sync>, vote<Vote::all, Sync>};
    case 1: return {vote<Vote::any, Sync>, vote<Vote::any, Sync>};
    case 2: return {vote<Vote::uni, Sync>, vote<Vote::uni, Sync>};
    default: return {vote<Vote::ballot, Sync>, vote<Vote::ballot, Sync>};
  }
}

// match.any: the lanes of the group with my value. match.all: the whole group if all agree, else
// nobody.
template <class T, bool All>
const Inst* match_sync(Warp& w, const Inst* inst) {
  if (!gather_lanes(w, inst, w.src<uint32_t>(inst->b))) return nullptr;
  const T* a = w.src<T>(inst->a);
  T value[kWarpSize];
  std::memcpy(value, a, sizeof value);
  uint32_t* d = w.reg<uint32_t>(inst->d);
  each_group(w, w.src<uint32_t>(inst->b), [&](uint32_t lanes) {
    each_active(lanes, [&](int i) {
      uint32_t same = 0;
      each_active(lanes, [&](int k) { same |= uint32_t(value[k] == value[i]) << k; });
      if constexpr (All) {
        d[i] = same == lanes ? lanes : 0;
        if (inst->c != kNoOperand) {
          uint32_t& p = *w.reg<uint32_t>(inst->c);
          p = (p & ~(1u << i)) | uint32_t(same == lanes) << i;
        }
      } else {
        d[i] = same;
      }
    });
  });
  return inst + 1;
}
Handlers select_match(const Form& form) {
  const bool all = form.has("all");
  if (form.type() == Type::b32)
    return all ? Handlers{match_sync<uint32_t, true>, match_sync<uint32_t, true>}
               : Handlers{match_sync<uint32_t, false>, match_sync<uint32_t, false>};
  return all ? Handlers{match_sync<uint64_t, true>, match_sync<uint64_t, true>}
             : Handlers{match_sync<uint64_t, false>, match_sync<uint64_t, false>};
}

template <class T, auto Op>
const Inst* redux(Warp& w, const Inst* inst) {
  if (!gather_lanes(w, inst, w.src<uint32_t>(inst->b))) return nullptr;
  const T* a = w.src<T>(inst->a);
  T* d = w.reg<T>(inst->d);
  each_group(w, w.src<uint32_t>(inst->b), [&](uint32_t lanes) {
    T total = a[__builtin_ctz(lanes)];
    each_active(lanes & (lanes - 1), [&](int i) { total = Op(total, a[i]); });
    each_active(lanes, [&](int i) { d[i] = total; });
  });
  return inst + 1;
}
template <class T, auto Op>
constexpr Handlers redux_handlers() {
  return {redux<T, Op>, redux<T, Op>};
}
Handlers select_redux(const Form& form) {
  const bool is_signed = form.type() == Type::s32;
  switch (form.index_of({"add", "min", "max", "and", "or", "xor"})) {
    case 0: return redux_handlers<uint32_t, [](auto a, auto b) { return a + b; }>();
    case 1:
      if (is_signed) return redux_handlers<int32_t, [](auto a, auto b) { return b < a ? b : a; }>();
      return redux_handlers<uint32_t, [](auto a, auto b) { return b < a ? b : a; }>();
    case 2:
      if (is_signed) return redux_handlers<int32_t, [](auto a, auto b) { return a < b ? b : a; }>();
      return redux_handlers<uint32_t, [](auto a, auto b) { return a < b ? b : a; }>();
    case 3: return redux_handlers<uint32_t, [](auto a, auto b) { return a & b; }>();
    case 4: return redux_handlers<uint32_t, [](auto a, auto b) { return a | b; }>();
    default: return redux_handlers<uint32_t, [](auto a, auto b) { return a ^ b; }>();
  }
}

const Inst* activemask(Warp& w, const Inst* inst) {
  const uint32_t lanes = w.mask;
  each_lane<false>(w.reg<uint32_t>(inst->d), w.mask, [&](int) { return lanes; });
  return inst + 1;
}
Handlers select_activemask(const Form&) { return {activemask, activemask}; }

// elect.sync: the lowest lane of the mask leads.
const Inst* elect(Warp& w, const Inst* inst) {
  if (!gather_lanes(w, inst, w.src<uint32_t>(inst->a))) return nullptr;
  const uint32_t* members = w.src<uint32_t>(inst->a);
  each_group(w, members, [&](uint32_t lanes) {
    const uint32_t leader = __builtin_ctz(lanes);
    if (inst->d != kNoOperand)
      each_active(lanes, [&](int i) { w.reg<uint32_t>(inst->d)[i] = leader; });
    if (inst->b != kNoOperand) {
      uint32_t& p = *w.reg<uint32_t>(inst->b);
      p = (p & ~lanes) | 1u << leader;
    }
  });
  return inst + 1;
}
Handlers select_elect(const Form&) { return {elect, elect}; }

// With a member mask, the last operand; and as programs before sm_70 have them, without.
constexpr Facts kShuffle{
    .sync = Sync::lanes, .across = Across::shuffled, .exchanges = true, .converges = true};
constexpr Facts kVote{
    .sync = Sync::lanes, .across = Across::same, .exchanges = true, .converges = true};
constexpr Facts kMatch{
    .sync = Sync::lanes, .across = Across::varies, .exchanges = true, .converges = true};
constexpr Facts kOldShuffle{.across = Across::shuffled, .exchanges = true};
constexpr Facts kOldVote{.across = Across::same, .exchanges = true};
constexpr Facts kActive{.across = Across::varies, .exchanges = true};
constexpr InstrDef kRows[] = {
    {"shfl[sync][up|down|bfly|idx][b32]", "d|p,a,b:u32,c:u32,e:u32", Unit::shuffle, kShuffle,
     select_shfl<true>},
    {"shfl[up|down|bfly|idx][b32]", "d|p,a,b:u32,c:u32", Unit::shuffle, kOldShuffle,
     select_shfl<false>},
    {"vote[sync][all|any|uni][pred]", "d:pred,a:pred,b:u32", Unit::shuffle, kVote,
     select_vote<true>},
    {"vote[sync][ballot][b32]", "d,a:pred,b:u32", Unit::shuffle, kVote, select_vote<true>},
    {"vote[all|any|uni][pred]", "d:pred,a:pred", Unit::shuffle, kOldVote, select_vote<false>},
    {"vote[ballot][b32]", "d,a:pred", Unit::shuffle, kOldVote, select_vote<false>},
    {"match[any][sync][b32|b64]", "d:b32,a,b:u32", Unit::shuffle, kMatch, select_match},
    {"match[all][sync][b32|b64]", "d:b32|p,a,b:u32", Unit::shuffle, kMatch, select_match},
    {"redux[sync][add|min|max][u32|s32]", "d,a,b:u32", Unit::shuffle, kVote, select_redux},
    {"redux[sync][and|or|xor][b32]", "d,a,b:u32", Unit::shuffle, kVote, select_redux},
    {"activemask[b32]", "d", Unit::alu, kActive, select_activemask},
    {"elect[sync]", "d:b32|p,a:u32", Unit::shuffle, kVote, select_elect},
};

}  // namespace

std::span<const InstrDef> warp_rows() { return kRows; }

}  // namespace ridge::vm
