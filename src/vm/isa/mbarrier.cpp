// mbarrier: barriers in shared memory that threads and asynchronous copies arrive at.
#include "vm/isa/mbarrier.h"

#include <algorithm>

#include "vm/exec/grid.h"
#include "vm/isa/groups.h"
#include "vm/isa/memory.h"
#include "vm/isa/sync.h"

namespace ridge::vm {
namespace {

constexpr uint64_t kCountMask = 0xfffff, kTxMask = 0x1fffff;  // 20 and 21 bits
constexpr int kExpectedAt = 1, kTxAt = 21, kPendingAt = 43, kParityAt = 63;

struct Object {
  uint32_t pending = 0, expected = 0;
  int64_t tx = 0;
  uint32_t parity = 0;

  static Object of(uint64_t bits) {
    const auto count = [&](int at) { return uint32_t(-(bits >> at) & kCountMask); };
    const auto tx = int64_t(bits << (64 - kPendingAt + 1)) >> (64 - kPendingAt + 1 + kTxAt);
    return {count(kPendingAt), count(kExpectedAt), -tx, uint32_t(bits >> kParityAt)};
  }
  uint64_t bits() const {
    return (-uint64_t(expected) & kCountMask) << kExpectedAt | (uint64_t(-tx) & kTxMask) << kTxAt |
           (-uint64_t(pending) & kCountMask) << kPendingAt | uint64_t(parity) << kParityAt;
  }
};

// PTX allows counts from 1 to 2^20 - 1. Hardware counts upwards and takes any number without
// complaint: what is above goes into the next field.
uint64_t initial(uint32_t count) {
  const uint64_t field = (kCountMask + 1 - count) & kTxMask;  // 21 bits
  return field << kPendingAt | field << kExpectedAt;
}

uint64_t read(const Warp& w, uint32_t address) {
  return load_as<uint64_t>(shared_place(w, address));
}
void write(Warp& w, uint32_t address, uint64_t bits) {
  std::memcpy(shared_place(w, address), &bits, sizeof bits);
}

constexpr const char* kInvalid = "the mbarrier has not been initialised";
constexpr const char* kTooMany = "more arrivals than the mbarrier's phase expects";
constexpr const char* kTxRange = "the mbarrier's tx-count is out of range";

const char* advice_on(const char* wrong) {
  if (wrong == kTooMany)
    return "wait until the phase is over before arriving for the next one; the count of "
           "mbarrier.init "
           "is that of all arrivals in a phase";
  if (wrong == kTxRange)
    return "expect the bytes that the copies of one phase bring, below 1 MiB, and wait for the "
           "phase "
           "before the next copies";
  return "execute mbarrier.init first, and put a barrier between; blocks of a cluster need "
         "fence.mbarrier_init.release.cluster and cluster.sync()";
}
const Inst* stop(Warp& w, const Inst* inst, uint32_t lane, uint32_t address, const char* wrong) {
  const bool first = !w.worker->fault;
  raise(w, inst, FaultKind::trap, lane, address, 0, wrong);
  if (first) w.worker->fault.finding.fix = advice_on(wrong);
  return nullptr;
}

// The object at an address, and what is wrong with it. Memory that holds no live object has
// whatever bits were there; an H200 refuses these two.
const char* find(const Warp& w, uint32_t address, Object& object) {
  const uint64_t bits = read(w, address);
  object = Object::of(bits);
  return bits == 0 || bits == ~0ull ? kInvalid : nullptr;
}

// Stores the object, and begins the next phase when nothing is left to come in this one.
const char* finish(Warp& w, uint32_t address, Object object) {
  if (object.tx > int64_t(kCountMask) + 1 || object.tx < -int64_t(kCountMask)) return kTxRange;
  const bool completes = object.pending == 0 && object.tx == 0;
  if (completes) {
    object.parity ^= 1;
    object.pending = object.expected;
  }
  // Who waits is of the block that owns the object.
  Cluster& cluster = *w.block->cluster;
  Block& owner = *cluster.blocks[address >> kRankShift];
  owner.progressed = true;
  cluster.moved |= &owner != w.block;
  write(w, address, object.bits());
  if (Observer* watching = completes ? owner.grid->observer : nullptr)
    watching->phase_completes(owner, address % uint32_t(kWindowSize));
  return nullptr;
}

}  // namespace

namespace mbarrier {

const char* arrive(Warp& w, uint32_t address, const Arrival& arrival) {
  Object object;
  if (const char* wrong = find(w, address, object)) return wrong;
  if (arrival.count > object.pending) return kTooMany;
  object.pending -= arrival.count;
  if (arrival.drops) object.expected -= std::min(arrival.count, object.expected);
  if (arrival.expect_tx > kCountMask) return kTxRange;
  object.tx += arrival.expect_tx;
  return finish(w, address, object);
}

const char* expect_tx(Warp& w, uint32_t address, uint32_t bytes) {
  Object object;
  if (const char* wrong = find(w, address, object)) return wrong;
  if (bytes > kCountMask) return kTxRange;
  object.tx += bytes;
  return finish(w, address, object);
}

const char* complete_tx(Warp& w, uint32_t address, uint32_t bytes) {
  Object object;
  if (const char* wrong = find(w, address, object)) return wrong;
  object.tx -= bytes;
  return finish(w, address, object);
}

State state_at(const uint8_t* object) {
  const Object o = Object::of(load_as<uint64_t>(object));
  return {o.pending, o.expected, o.tx, o.parity};
}

const char* add_pending(Warp& w, uint32_t address) {
  Object object;
  if (const char* wrong = find(w, address, object)) return wrong;
  if (object.pending == kCountMask) return "the mbarrier's count is out of range";
  ++object.pending;
  write(w, address, object.bits());
  return nullptr;
}

}  // namespace mbarrier

// --- handlers: a, b = address; c = the first source, x[0] the second ---

namespace mbarrier {

bool addresses(Warp& w, const Inst* inst, bool generic, bool of_peers, uint32_t* out) {
  const int32_t offset = int32_t(inst->b);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (!generic) {
      out[i] = w.src<uint32_t>(inst->a)[i] + uint32_t(offset);
    } else {
      const uint64_t at = w.src<uint64_t>(inst->a)[i] + uint64_t(int64_t(offset));
      if (at - kSharedWindow >= kSharedWindowSize) {
        raise(w, inst, FaultKind::invalid_address_space, uint32_t(i), at, 8,
              "mbarrier outside shared memory");
        return false;
      }
      out[i] = uint32_t(at - kSharedWindow);
    }
    if (!of_peers && out[i] - w.shared_start >= kWindowSize) {
      raise(w, inst, FaultKind::illegal_address, uint32_t(i), out[i], 8, "shared mbarrier");
      return false;
    }
  }
  uint8_t* places[kWarpSize];
  return find_shared(w, inst, out, 0, 8, "shared mbarrier", places);
}

}  // namespace mbarrier

namespace {

// Lands the copies, of any warp of the cluster, that tell this barrier; false after a fault.
bool land_all(Warp& w, uint32_t barrier) {
  for (const auto& block : w.block->cluster->blocks)
    for (Warp& other : block->warps)
      if (!other.async.empty() && !other.async.land_for_barrier(other, barrier)) {
        w.stop = Stop::fault;
        return false;
      }
  return true;
}

enum class Op : uint8_t {
  init,
  inval,
  expect_tx,
  complete_tx,
  arrive,  // with a count
  arrive_one,
  arrive_tx,
  drop,
  drop_one,
  drop_tx
};

template <Op O, bool Generic>
const Inst* update(Warp& w, const Inst* inst) {
  using namespace mbarrier;
  uint32_t at[kWarpSize];
  constexpr bool kOfPeers = O != Op::init && O != Op::inval;
  if (!mbarrier::addresses(w, inst, Generic, kOfPeers, at)) return nullptr;
  constexpr bool kHasValue = O != Op::inval && O != Op::arrive_one && O != Op::drop_one;
  constexpr bool kTx = O == Op::arrive_tx || O == Op::drop_tx;
  constexpr bool kDrops = O == Op::drop || O == Op::drop_one || O == Op::drop_tx;
  const uint32_t* values = kHasValue ? w.src<uint32_t>(inst->c) : nullptr;
  uint64_t* state = inst->d == kNoOperand ? nullptr : w.reg<uint64_t>(inst->d);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const uint64_t before = read(w, at[i]);
    const uint32_t value = values ? values[i] : 1;
    const char* wrong = nullptr;
    switch (O) {
      case Op::init: write(w, at[i], initial(value)); break;
      // Its bits stay, and work on, as on an H200. What it waits for is over.
      case Op::inval:
        if (!land_all(w, at[i])) return nullptr;
        break;
      case Op::expect_tx: wrong = expect_tx(w, at[i], value); break;
      case Op::complete_tx: wrong = complete_tx(w, at[i], value); break;
      default:
        wrong = arrive(w, at[i],
                       {.count = kTx ? 1 : value, .expect_tx = kTx ? value : 0, .drops = kDrops});
    }
    if (wrong) return stop(w, inst, uint32_t(i), at[i], wrong);
    if (state) state[i] = before;
  }
  return inst + 1;
}
template <Op O>
Handlers select_update(const Form& form) {
  if (form.space == Space::generic) return {update<O, true>, update<O, true>};
  return {update<O, false>, update<O, false>};
}

// Which active lanes' phase is over.
template <bool Parity>
uint32_t over(const Warp& w, const Inst* inst, const uint32_t* at) {
  uint32_t done = 0;
  each_active(w.mask, [&](int i) {
    uint32_t phase;
    if constexpr (Parity) phase = w.src<uint32_t>(inst->c)[i] & 1;
    else phase = Object::of(w.src<uint64_t>(inst->c)[i]).parity;
    done |= uint32_t(Object::of(read(w, at[i])).parity != phase) << i;
  });
  return done;
}

// test_wait and try_wait: a lane whose phase is not over yet lets the other warps run, and is told
// so; programs try again. How long try_wait may sleep is a hint (x[0]).
template <bool Parity, bool Generic>
const Inst* wait(Warp& w, const Inst* inst) {
  uint32_t at[kWarpSize];
  if (!mbarrier::addresses(w, inst, Generic, false, at)) return nullptr;
  for (uint32_t left = w.mask; left; left &= left - 1)
    if (const int i = __builtin_ctz(left); read(w, at[i]) == ~0ull)
      return stop(w, inst, uint32_t(i), at[i], kInvalid);
  uint32_t done = over<Parity>(w, inst, at);
  if (done != w.mask) {
    uint32_t last = ~0u;
    for (uint32_t left = w.mask & ~done; left; left &= left - 1) {
      const uint32_t barrier = at[__builtin_ctz(left)];
      if (barrier == last) continue;
      last = barrier;
      if (!land_all(w, barrier)) return nullptr;
    }
    done = over<Parity>(w, inst, at);
  }
  w.set_pred(inst->d, done);
  if (Observer* watching = w.block->grid->observer) watching->phase_asked(w, inst, at, done);
  if (done == w.mask) return inst + 2;
  w.polls = true;
  return yield(w, inst + 2);
}
Handlers select_wait(const Form& form) {
  if (form.space == Space::generic) {
    if (form.has("parity")) return {wait<true, true>, wait<true, true>, true};
    return {wait<false, true>, wait<false, true>, true};
  }
  if (form.has("parity")) return {wait<true, false>, wait<true, false>, true};
  return {wait<false, false>, wait<false, false>, true};
}

const Inst* pending_count(Warp& w, const Inst* inst) {
  const uint64_t* state = w.src<uint64_t>(inst->a);
  uint32_t* d = w.reg<uint32_t>(inst->d);
  each_active(w.mask, [&](int i) { d[i] = Object::of(state[i]).pending; });
  return inst + 1;
}
Handlers select_pending_count(const Form&) { return {pending_count, pending_count}; }

#define RIDGE_CTA "{shared|shared::cta}"
#define RIDGE_CLUSTER "{shared|shared::cta|shared::cluster}"
constexpr Facts kInit{
    .access = AccessKind::barrier_word, .sync = Sync::token_init, .encoding = Encoding::memory};
constexpr Facts kInval{
    .access = AccessKind::barrier_word, .sync = Sync::token_end, .encoding = Encoding::memory};
constexpr Facts kArrive{
    .access = AccessKind::barrier_word, .sync = Sync::token_arrive, .encoding = Encoding::memory};
// A wait yields, so its guard must be a branch.
constexpr Facts kWait{.access = AccessKind::barrier_word,
                      .sync = Sync::token_wait,
                      .encoding = Encoding::memory,
                      .converges = true};
constexpr InstrDef kRows[] = {
    {"mbarrier[init]" RIDGE_CTA "[b64]", "[a],b:u32", Unit::barrier, kInit,
     select_update<Op::init>},
    {"mbarrier[inval]" RIDGE_CTA "[b64]", "[a]", Unit::barrier, kInval, select_update<Op::inval>},
    {"mbarrier[expect_tx]{relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]", "[a],b:u32", Unit::barrier,
     kArrive, select_update<Op::expect_tx>},
    {"mbarrier[complete_tx]{relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]", "[a],b:u32",
     Unit::barrier, kArrive, select_update<Op::complete_tx>},
    {"mbarrier[arrive]{release|relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]", "d,[a]", Unit::barrier,
     kArrive, select_update<Op::arrive_one>},
    {"mbarrier[arrive]{noComplete}{release|relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]",
     "d,[a],b:u32", Unit::barrier, kArrive, select_update<Op::arrive>},
    {"mbarrier[arrive][expect_tx]{release|relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]",
     "d,[a],b:u32", Unit::barrier, kArrive, select_update<Op::arrive_tx>},
    {"mbarrier[arrive_drop]{release|relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]", "d,[a]",
     Unit::barrier, kArrive, select_update<Op::drop_one>},
    {"mbarrier[arrive_drop]{noComplete}{release|relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]",
     "d,[a],b:u32", Unit::barrier, kArrive, select_update<Op::drop>},
    {"mbarrier[arrive_drop][expect_tx]{release|relaxed}{cta|cluster}" RIDGE_CLUSTER "[b64]",
     "d,[a],b:u32", Unit::barrier, kArrive, select_update<Op::drop_tx>},
    {"mbarrier[test_wait|try_wait]{acquire|relaxed}{cta|cluster}" RIDGE_CTA "[b64]",
     "d:pred,[a],b:b64", Unit::barrier, kWait, select_wait},
    {"mbarrier[try_wait]{acquire|relaxed}{cta|cluster}" RIDGE_CTA "[b64]", "d:pred,[a],b:b64,c:u32",
     Unit::barrier, kWait, select_wait},
    {"mbarrier[test_wait|try_wait][parity]{acquire|relaxed}{cta|cluster}" RIDGE_CTA "[b64]",
     "d:pred,[a],b:u32", Unit::barrier, kWait, select_wait},
    {"mbarrier[try_wait][parity]{acquire|relaxed}{cta|cluster}" RIDGE_CTA "[b64]",
     "d:pred,[a],b:u32,c:u32", Unit::barrier, kWait, select_wait},
    {"mbarrier[pending_count][b64]", "d:u32,a", Unit::barrier, kRegs, select_pending_count},
};
#undef RIDGE_CTA
#undef RIDGE_CLUSTER

}  // namespace

std::span<const InstrDef> mbarrier_rows() { return kRows; }

}  // namespace ridge::vm
