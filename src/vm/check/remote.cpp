// Accesses to the shared memory of another block of the cluster.
//
// What other blocks do there has cells of its own beside those of the owner (BlockState::remote):
// a barrier of the owner's block orders nothing of it. Only the clocks of the warps tell whether
// two such accesses are ordered, except behind a barrier of the cluster, which orders all.
#include "vm/check/checker.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {

// Where a word of a block's shared memory lies in this process: under that name the other blocks
// know what is released there.
uint64_t Checker::key_of(const BlockState& b, uint64_t offset) {
  return reinterpret_cast<uint64_t>(b.block->warps[0].shared) + offset;
}

void Checker::on_peers(const Access& a, uint32_t lanes, const uint64_t* at, uint32_t bytes) {
  const bool reads = a.s.act == Act::load;
  uint64_t keys[kWarpSize];
  uint32_t inside = 0;
  each_active(lanes, [&](int i) {
    BlockState* home = peer_of(a.w, uint32_t(at[i]));
    const uint64_t offset = at[i] % kWindowSize;
    if (!home || offset + bytes > a.w.shared_size) return;  // it faults
    inside |= 1u << i;
    keys[i] = key_of(*home, offset);
    const uint32_t thread = a.base + uint32_t(i), mask = mask_of(offset, bytes);
    visit(a, *home, thread, reads);
    if (home->remote.empty()) home->remote.resize(home->cells.size());
    for (uint32_t part = 0; part * 4 < bytes; ++part) {
      const Word word{thread, mask, (offset & ~3ull) + part * 4, part, true, home};
      if (reads) read_at_peer(a, *home, word);
      else write_at_peer(a, *home, word);
    }
  });
  if (!a.s.strong || !inside) return;
  if (!reads) release(a, inside, keys, false);
  if (reads || a.s.returns) wait_for_result(a, inside, keys, false);
}

void Checker::read_at_peer(const Access& a, BlockState& home, const Word& word) {
  const uint64_t at = word.address / 4;
  const Record own{home.cells[at].write}, other{home.remote[at].write};
  for (const Record& write : {own, other})
    if (may_conflict(a, home, word, write)) report_conflict(a, word, write, true, false, false);
  const uint32_t have = home.written[at] | (own.segment() < home.first ? 0 : own.bytes());
  if ((have & word.mask) != word.mask) report_empty(a, word);
  home.remote[at].read = Record::of(a.segment, a.s.strong, word.mask, word.thread, a.s.id).bits;
}

void Checker::write_at_peer(const Access& a, BlockState& home, const Word& word) {
  const uint64_t at = word.address / 4;
  const Cell own = home.cells[at], other = home.remote[at];
  for (const uint64_t write : {own.write, other.write})
    if (may_conflict(a, home, word, {write})) report_conflict(a, word, {write}, true, true, false);
  for (const uint64_t read : {own.read, other.read})
    if (may_conflict(a, home, word, {read})) report_conflict(a, word, {read}, false, true, false);
  home.written[at] |= uint8_t(word.mask);
  home.remote[at] = {
      Record::of(a.segment, a.s.strong ? Record::kStrong : 0, word.mask, word.thread, a.s.id).bits,
      0};
}

// Whether an access to the word has to be compared with one before: the owner's, or a peer's.
bool Checker::may_conflict(const Access& a, const BlockState& home, const Word& word,
                           Record other) {
  const bool both_strong = a.s.strong && (other.flags() & Record::kStrong);
  const bool own = other.segment() == a.segment && other.thread() == word.thread;
  return other.segment() >= std::max(home.cluster_bound, home.first) &&
         (other.bytes() & word.mask) && !both_strong && !own;
}

// What st.async and red.async have brought to another block.
void Checker::sent_lands(const Warp& w, BlockState& home, const AsyncEntry& entry, int lane) {
  BlockState& b = state_of(*w.block);
  WarpState& ws = b.warps[w.index];
  const uint32_t base = w.index * kWarpSize;
  const Access a{
      b, ws, w, entry.inst, site_of(b, *entry.code, entry.inst), segment_of(b, ws, w.index), base};
  if (home.remote.empty()) home.remote.resize(home.cells.size());
  const uint64_t offset = entry.shared[lane] % kWindowSize;
  for (uint32_t k = 0; k < entry.size[lane]; k += 4)
    write_at_peer(a, home, {base + uint32_t(lane), 15, offset + k, k / 4, true, &home});
}

// The owner's accesses.
void Checker::compare_with_peers(const Access& a, uint32_t lanes, const uint64_t* at,
                                 uint32_t bytes, bool writes) {
  each_active(lanes, [&](int i) {
    if (at[i] + bytes > a.w.shared_size) return;  // it faults
    const uint32_t thread = a.base + uint32_t(i), mask = mask_of(at[i], bytes);
    for (uint32_t part = 0; part * 4 < bytes; ++part) {
      const Word word{thread, mask, (at[i] & ~3ull) + part * 4, part, true};
      const Cell& cell = a.b.remote[word.address / 4];
      if (may_conflict(a, a.b, word, {cell.write}))
        report_conflict(a, word, {cell.write}, true, writes, false);
      if (writes && may_conflict(a, a.b, word, {cell.read}))
        report_conflict(a, word, {cell.read}, false, true, false);
    }
  });
}

// What the owner releases in its own memory, others of the cluster may acquire.
void Checker::release_to_peers(const Access& a, uint32_t lanes, const uint64_t* at) {
  uint64_t keys[kWarpSize];
  each_active(lanes, [&](int i) { keys[i] = key_of(a.b, at[i]); });
  release(a, lanes, keys, false);
}

}  // namespace ridge::vm::check
