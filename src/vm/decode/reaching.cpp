#include "vm/decode/reaching.h"

#include <algorithm>
#include <numeric>

namespace ridge::vm {
namespace {

bool touches(const std::vector<int32_t>& registers, int32_t reg) {
  return std::find(registers.begin(), registers.end(), reg) != registers.end();
}

}  // namespace

void Reaching::find_blocks() {
  std::vector<uint8_t> begins(items_.size() + 1, 0);
  begins[0] = begins[items_.size()] = 1;
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item::Kind kind = items_[i].kind;
    if (kind == Item::Kind::op || kind == Item::Kind::call) continue;
    begins[i + 1] = 1;
    if (kind == Item::Kind::jump || kind == Item::Kind::branch) begins[items_[i].target] = 1;
  }
  for (const auto& table : tables_)
    for (uint32_t target : table) begins[target] = 1;
  for (uint32_t i = 0; i <= items_.size(); ++i) {
    if (begins[i]) begins_.push_back(i);
    block_of_.push_back(uint32_t(begins_.size()) - 1);
  }
}

std::vector<uint32_t> Reaching::successors(uint32_t block) const {
  const Item& last = items_[begins_[block + 1] - 1];
  std::vector<uint32_t> next;
  if (last.kind == Item::Kind::brx)
    for (uint32_t target : tables_[last.target]) next.push_back(block_of_[target]);
  if (last.kind == Item::Kind::jump || last.kind == Item::Kind::branch)
    next.push_back(block_of_[last.target]);
  const bool leaves = last.kind == Item::Kind::jump || last.kind == Item::Kind::brx ||
                      last.kind == Item::Kind::ret ||
                      (last.kind == Item::Kind::exit && last.guard < 0);
  if (!leaves && block + 2 < begins_.size()) next.push_back(block + 1);
  return next;
}

const std::map<uint32_t, uint32_t>& Reaching::writes_of(int32_t reg) {
  const auto [entry, is_new] = known_.try_emplace(reg);
  std::map<uint32_t, uint32_t>& only = entry->second;
  if (!is_new) return only;
  if (begins_.empty()) find_blocks();
  std::vector<uint32_t> writes, visits;  // items that write it; that read or write it
  for (uint32_t i = 0; i < items_.size(); ++i) {
    const bool writes_it = touches(items_[i].defs, reg);
    if (writes_it) writes.push_back(i);
    if (writes_it || touches(items_[i].uses, reg)) visits.push_back(i);
  }
  const auto number = [&](uint32_t item) {
    return size_t(std::lower_bound(writes.begin(), writes.end(), item) - writes.begin());
  };
  // What leaves a block: its last write alone, or added to what came in where a guard may leave
  // that standing.
  const size_t n = begins_.size() - 1;
  std::vector<Set> in(n, Set(writes.size())), made(n, Set(writes.size()));
  std::vector<uint8_t> passes(n, 1);
  for (uint32_t item : writes) {
    const uint32_t b = block_of_[item];
    if (items_[item].guard < 0) {
      made[b].assign(writes.size(), false);
      passes[b] = 0;
    }
    made[b][number(item)] = true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < n; ++b) {
      Set out = made[b];
      if (passes[b])
        for (size_t k = 0; k < out.size(); ++k) out[k] = out[k] || in[b][k];
      for (uint32_t next : successors(b))
        for (size_t k = 0; k < out.size(); ++k)
          if (out[k] && !in[next][k]) in[next][k] = changed = true;
    }
  }
  // Writes that one reader sees belong together; so do a guarded write and what it leaves.
  std::vector<size_t> web(writes.size());
  std::iota(web.begin(), web.end(), size_t(0));
  const auto root = [&](size_t k) {
    while (web[k] != k) k = web[k] = web[web[k]];
    return k;
  };
  std::vector<uint32_t> size(writes.size(), 1);
  const auto join = [&](size_t a, size_t b) {
    a = root(a), b = root(b);
    if (a == b) return;
    web[a] = b;
    size[b] += size[a];
  };
  Set here;
  uint32_t block = kNone;
  for (uint32_t item : visits) {
    if (block_of_[item] != block) here = in[block = block_of_[item]];
    const bool writes_it = touches(items_[item].defs, reg), guarded = items_[item].guard >= 0;
    if (touches(items_[item].uses, reg) || (writes_it && guarded)) {
      size_t first = here.size();
      for (size_t k = 0; k < here.size(); ++k) {
        if (!here[k]) continue;
        if (first == here.size()) first = k;
        join(first, k);
      }
      if (first < here.size()) {
        if (writes_it && guarded) join(first, number(item));
        only[item] = writes[first];  // sifted below
      }
    }
    if (writes_it) {
      if (!guarded) here.assign(writes.size(), false);
      here[number(item)] = true;
    }
  }
  std::erase_if(only, [&](const auto& e) { return size[root(number(e.second))] > 1; });
  return only;
}

uint32_t Reaching::only_write(int32_t reg, uint32_t reader) {
  const auto& only = writes_of(reg);
  const auto found = only.find(reader);
  return found == only.end() ? kNone : found->second;
}

}  // namespace ridge::vm
