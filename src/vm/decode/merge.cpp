// Neighbouring 32-bit shared loads become one: unrolled tile loops read eight words in a row from
// each lane's address, and one pass over 32 addresses with transposes costs a third of eight
// gathers.
//
// A load may move up to the first of its run when nothing between them writes memory, waits, or
// touches its register. Items that moved stay in place as empty ones (Kind::op without a match), so
// that no index changes.
#include "vm/decode/merge.h"

#include <algorithm>
#include <map>
#include <set>

namespace ridge::vm {
namespace {

constexpr uint32_t kWindow = 256;  // items between the first and the last load of a run
constexpr int kLongestRun = 8;

// Loads into wider registers extend their words, each as its type says: they are left alone.
bool is_candidate(const Item& item, const std::vector<Register>& registers) {
  if (item.kind != Item::Kind::op || item.guard >= 0 || !item.match) return false;
  if (item.match->facts().access != AccessKind::load || item.match->form.space != Space::shared)
    return false;
  if (item.match->form.vector != 1 || item.match->form.order == Order::is_volatile ||
      item.defs.size() != 1)
    return false;
  const auto& ops = item.source->operands;
  return size_of(item.match->form.type()) == 4 && ops.size() == 2 &&
         ops[0].kind == Operand::Kind::reg && lane_bytes(registers[size_t(ops[0].reg)].type) == 4 &&
         ops[1].kind == Operand::Kind::address && ops[1].reg >= 0;
}

bool is_fence(const Item& item) {
  if (item.kind != Item::Kind::op) return true;
  if (!item.match) return false;
  const Facts& facts = item.match->facts();
  return facts.writes() || facts.fences || facts.converges;
}

struct Load {
  int64_t offset;
  uint32_t item;
};

// Loads of one base register, none of them fenced from the others. Takes runs of 8, 4 and 2 words.
void take_runs(std::vector<Item>& items, std::vector<Load>& loads) {
  std::sort(loads.begin(), loads.end(),
            [](const Load& a, const Load& b) { return a.offset < b.offset; });
  for (size_t begin = 0; begin < loads.size();) {
    size_t end = begin + 1;
    while (end < loads.size() && end - begin < kLongestRun &&
           loads[end].offset == loads[end - 1].offset + 4)
      ++end;
    size_t length = end - begin;
    while (length & (length - 1)) --length;  // a power of two
    if (length > 1) {
      uint32_t first = loads[begin].item;
      for (size_t k = begin; k < begin + length; ++k) first = std::min(first, loads[k].item);
      // The merged load stands where the first was and has the lowest address.
      Item merged = items[loads[begin].item];
      merged.counts = 0;
      for (size_t k = begin; k < begin + length; ++k) {
        const Item& load = items[loads[k].item];
        merged.counts = uint8_t(merged.counts + load.counts);
        if (k == begin) continue;
        merged.merged.push_back(load.source);
        merged.defs.push_back(load.defs[0]);
      }
      for (size_t k = begin; k < begin + length; ++k) {
        Item empty;
        empty.counts = 0;
        items[loads[k].item] = empty;
      }
      items[first] = std::move(merged);
    }
    begin += length;
  }
  loads.clear();
}

}  // namespace

void merge_shared_loads(std::vector<Item>& items, const FlowGraph& flow,
                        const std::vector<Register>& registers) {
  for (const BasicBlock& block : flow.blocks) {
    std::map<int32_t, std::vector<Load>> open;  // by base register
    std::set<int32_t> touched;                  // registers read or written since `start`
    uint32_t start = block.begin;
    const auto close_all = [&](uint32_t next) {
      for (auto& [base, loads] : open) take_runs(items, loads);
      open.clear();
      touched.clear();
      start = next;
    };
    for (uint32_t i = block.begin; i < block.end; ++i) {
      if (is_fence(items[i]) || i - start > kWindow) close_all(i);
      const Item& item = items[i];
      // A write ends the runs it could disturb: those addressed by the register.
      for (int32_t r : item.defs)
        if (const auto it = open.find(r); it != open.end()) take_runs(items, it->second);
      if (is_candidate(items[i], registers) && !touched.count(items[i].defs[0]) &&
          items[i].defs[0] != items[i].source->operands[1].reg)
        open[items[i].source->operands[1].reg].push_back({items[i].source->operands[1].offset, i});
      touched.insert(items[i].uses.begin(), items[i].uses.end());
      touched.insert(items[i].defs.begin(), items[i].defs.end());
    }
    close_all(block.end);
  }
}

}  // namespace ridge::vm
