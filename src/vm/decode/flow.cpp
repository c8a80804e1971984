#include "vm/decode/flow.h"

#include <algorithm>

namespace ridge::vm {
namespace {

bool ends_block(Item::Kind kind) {
  return kind == Item::Kind::jump || kind == Item::Kind::branch || kind == Item::Kind::brx ||
         kind == Item::Kind::ret;
}
bool is_unconditional_exit(const Item& item) {
  return item.kind == Item::Kind::exit && item.guard < 0;
}
bool is_early_return(const Item& item) { return item.kind == Item::Kind::exit && item.guard >= 0; }

// Reverse post-order of the reversed graph from the virtual exit (index n).
struct Reverse {
  std::vector<std::vector<uint32_t>> predecessors;  // successors in the reversed graph
  std::vector<uint32_t> order;
  std::vector<int32_t> number;
};

void visit(const Reverse& graph, uint32_t root, std::vector<uint8_t>& seen,
           std::vector<uint32_t>& post) {
  std::vector<std::pair<uint32_t, size_t>> stack{{root, 0}};
  seen[root] = 1;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < graph.predecessors[node].size()) {
      const uint32_t to = graph.predecessors[node][next++];
      if (!seen[to]) {
        seen[to] = 1;
        stack.push_back({to, 0});
      }
    } else {
      post.push_back(node);
      stack.pop_back();
    }
  }
}

// Cooper, Harvey and Kennedy's iteration on the reversed graph.
void find_post_dominators(std::vector<BasicBlock>& blocks, const std::vector<Item>& items) {
  const uint32_t n = uint32_t(blocks.size()), exit = n;
  Reverse graph;
  graph.predecessors.resize(n + 1);
  std::vector<std::vector<uint32_t>> successors(n + 1);
  for (uint32_t b = 0; b < n; ++b) {
    successors[b] = blocks[b].successors;
    if (successors[b].empty()) successors[b].push_back(exit);
    for (uint32_t s : successors[b]) graph.predecessors[s].push_back(b);
  }
  std::vector<uint8_t> seen(n + 1, 0);
  std::vector<uint32_t> post;
  visit(graph, exit, seen, post);
  // Lanes that return early are not waited for, so an early return is no way out for the others.
  // But where it is a loop's only way out, what lies behind it follows from it: without that edge
  // lanes would wait in the middle of the loop for others that are a turn ahead. Loops without any
  // way out get one at their last block.
  for (const bool endless : {false, true})
    for (uint32_t b = n; b-- > 0;) {
      if (seen[b] || (!endless && !is_early_return(items[blocks[b].end - 1]))) continue;
      successors[b].push_back(exit);
      graph.predecessors[exit].push_back(b);
      post.clear();
      std::fill(seen.begin(), seen.end(), 0);
      visit(graph, exit, seen, post);
    }
  std::reverse(post.begin(), post.end());
  std::vector<int32_t> number(n + 1, -1), parent(n + 1, -1);
  for (uint32_t i = 0; i < post.size(); ++i) number[post[i]] = int32_t(i);
  parent[exit] = int32_t(exit);
  const auto meet = [&](int32_t a, int32_t b) {
    while (a != b) {
      while (number[a] > number[b]) a = parent[a];
      while (number[b] > number[a]) b = parent[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t node : post) {
      if (node == exit) continue;
      int32_t best = -1;
      for (uint32_t s : successors[node])
        if (parent[s] >= 0) best = best < 0 ? int32_t(s) : meet(best, int32_t(s));
      if (best != parent[node]) {
        parent[node] = best;
        changed = true;
      }
    }
  }
  for (uint32_t b = 0; b < n; ++b)
    blocks[b].post_dominator = parent[b] == int32_t(exit) ? -1 : parent[b];
}

}  // namespace

FlowGraph build_flow(const std::vector<Item>& items, const Function& function,
                     const std::vector<std::vector<uint32_t>>& tables) {
  (void)function;
  const uint32_t n = uint32_t(items.size());
  std::vector<uint8_t> leader(n + 1, 0);
  leader[0] = 1;
  for (uint32_t i = 0; i < n; ++i) {
    const Item& item = items[i];
    if (item.kind == Item::Kind::jump || item.kind == Item::Kind::branch) leader[item.target] = 1;
    if (ends_block(item.kind) || item.kind == Item::Kind::exit) leader[i + 1] = 1;
  }
  for (const auto& table : tables)
    for (uint32_t target : table) leader[target] = 1;

  FlowGraph flow;
  flow.block_of.resize(n);
  for (uint32_t i = 0; i < n; ++i) {
    if (leader[i]) {
      if (!flow.blocks.empty()) flow.blocks.back().end = i;
      flow.blocks.push_back({i, n, {}, -1, false});
    }
    flow.block_of[i] = uint32_t(flow.blocks.size()) - 1;
  }
  for (uint32_t b = 0; b < flow.blocks.size(); ++b) {
    BasicBlock& block = flow.blocks[b];
    const Item& last = items[block.end - 1];
    const auto fall_through = [&] {
      if (b + 1 < flow.blocks.size()) block.successors.push_back(b + 1);
    };
    switch (last.kind) {
      case Item::Kind::jump: block.successors.push_back(flow.block_of[last.target]); break;
      case Item::Kind::branch:
        fall_through();
        block.successors.push_back(flow.block_of[last.target]);
        break;
      case Item::Kind::brx:
        for (uint32_t target : tables[last.target])
          block.successors.push_back(flow.block_of[target]);
        break;
      case Item::Kind::ret: break;
      default:
        if (!is_unconditional_exit(last)) fall_through();
    }
  }
  find_post_dominators(flow.blocks, items);
  for (const BasicBlock& block : flow.blocks) {
    const Item::Kind kind = items[block.end - 1].kind;
    if ((kind == Item::Kind::branch || kind == Item::Kind::brx) && block.post_dominator >= 0)
      flow.blocks[block.post_dominator].is_join = true;
  }
  return flow;
}

int lane_bytes(Type type) {
  if (type == Type::pred) return 0;
  const int size = size_of(type);
  return size <= 2 ? 2 : size;
}

// Upward-exposed uses and kills of each block, then the usual backward iteration.
Liveness find_liveness(const std::vector<Item>& items, const FlowGraph& flow, size_t registers) {
  const size_t blocks = flow.blocks.size(), words = (registers + 63) / 64;
  const auto bit = [](std::vector<uint64_t>& set, int32_t r) -> uint64_t& {
    return set[size_t(r) / 64];
  };
  Liveness liveness;
  liveness.live_in.assign(blocks, std::vector<uint64_t>(words));
  liveness.live_out = liveness.live_in;
  auto &live_in = liveness.live_in, &live_out = liveness.live_out;
  auto kill = live_in;
  for (size_t b = 0; b < blocks; ++b)
    for (uint32_t i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
      for (int32_t r : items[i].uses)
        if (!(bit(kill[b], r) >> (r % 64) & 1)) bit(live_in[b], r) |= 1ull << (r % 64);
      // A guarded write leaves the other lanes' values: it does not end the register's life.
      if (items[i].guard < 0)
        for (int32_t r : items[i].defs) bit(kill[b], r) |= 1ull << (r % 64);
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks; b-- > 0;) {
      for (uint32_t s : flow.blocks[b].successors)
        for (size_t k = 0; k < words; ++k) live_out[b][k] |= live_in[s][k];
      for (size_t k = 0; k < words; ++k) {
        const uint64_t in = live_in[b][k] | (live_out[b][k] & ~kill[b][k]);
        if (in != live_in[b][k]) {
          live_in[b][k] = in;
          changed = true;
        }
      }
    }
  }
  return liveness;
}

Slots assign_slots(const std::vector<Item>& items, const FlowGraph& flow,
                   const std::vector<Register>& registers, uint32_t reserved) {
  const size_t count = registers.size(), blocks = flow.blocks.size();
  const size_t words = (count + 63) / 64;
  const auto [live_in, live_out] = find_liveness(items, flow, count);

  // One interval per register, in item order.
  constexpr uint32_t kNever = ~0u;
  std::vector<uint32_t> first(count, kNever), last(count, 0);
  const auto touch = [&](int32_t r, uint32_t at) {
    first[r] = std::min(first[r], at);
    last[r] = std::max(last[r], at);
  };
  for (size_t b = 0; b < blocks; ++b) {
    const BasicBlock& block = flow.blocks[b];
    for (uint32_t i = block.begin; i < block.end; ++i) {
      for (int32_t r : items[i].uses) touch(r, 2 * i);
      for (int32_t r : items[i].defs) touch(r, 2 * i + 1);
    }
    for (size_t k = 0; k < words; ++k) {
      for (uint64_t set = live_in[b][k]; set; set &= set - 1)
        touch(int32_t(k * 64 + __builtin_ctzll(set)), 2 * block.begin);
      for (uint64_t set = live_out[b][k]; set; set &= set - 1)
        touch(int32_t(k * 64 + __builtin_ctzll(set)), 2 * block.end - 1);
    }
  }

  std::vector<uint32_t> order;
  for (uint32_t r = 0; r < count; ++r)
    if (first[r] != kNever) order.push_back(r);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return first[a] < first[b]; });

  // Linear scan, a free list for each width. A slot ends at its last use and may be taken by the
  // same item's result: handlers read all sources of a lane before they write it.
  Slots slots;
  slots.offset.assign(count, reserved);
  struct Active {
    uint32_t last, offset;
    int width;
  };
  std::vector<Active> active;
  std::vector<uint32_t> free_slots[9];
  uint32_t predicates = 0, live_words = 0;
  uint32_t top = reserved;
  std::vector<std::pair<uint32_t, uint32_t>> pred_fixups;
  const auto by_last = [](const Active& a, const Active& b) { return a.last > b.last; };
  for (uint32_t r : order) {
    while (!active.empty() && active.front().last < first[r]) {
      std::pop_heap(active.begin(), active.end(), by_last);
      free_slots[active.back().width].push_back(active.back().offset);
      live_words -= active.back().width > 4 ? 2 : active.back().width ? 1 : 0;
      active.pop_back();
    }
    const int width = lane_bytes(registers[r].type);
    uint32_t offset;
    if (!free_slots[width].empty()) {
      offset = free_slots[width].back();
      free_slots[width].pop_back();
    } else if (width == 0) {
      offset = 4 * predicates++;
    } else {
      offset = top;
      top += uint32_t(width) * kWarpSize;
    }
    if (width == 0) pred_fixups.push_back({r, offset});
    slots.offset[r] = offset;
    live_words += width > 4 ? 2 : width ? 1 : 0;
    slots.peak_words = std::max(slots.peak_words, live_words);
    active.push_back({last[r], offset, width});
    std::push_heap(active.begin(), active.end(), by_last);
  }
  // Predicates take four bytes each, together behind the vectors.
  for (const auto& [r, offset] : pred_fixups) slots.offset[r] = top + offset;
  slots.frame_bytes = (top + 4 * predicates + 63) / 64 * 64;
  return slots;
}

}  // namespace ridge::vm
