#include "vm/cudart/graph/memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/align.h"
#include "vm/cudart/failed_call.h"
#include "vm/cudart/graph/graph.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

constexpr uint64_t kAlign = 512, kPiece = 32 << 20;

struct AllGraphMemory {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<GraphMemory>> ranges;  // by base
  std::unordered_map<const GraphMemory*, GraphMemoryRef> promised;
  // They stay when what is in them is freed and when graphs are destroyed, as on an H200, where
  // what is used and what is reserved are therefore the same.
  std::vector<std::shared_ptr<GraphBlock>> blocks;
  uint64_t used_high = 0, reserved_high = 0;

  uint64_t reserved() const {
    uint64_t sum = 0;
    for (const auto& block : blocks) sum += block->size;
    return sum;
  }
  // The block where the least room would be left over.
  std::shared_ptr<GraphBlock> block_for(uint64_t bytes) {
    std::shared_ptr<GraphBlock> best;
    const auto room = [](const GraphBlock& block) { return block.size - block.taken; };
    for (const auto& block : blocks)
      if (room(*block) >= bytes && (!best || room(*block) < room(*best))) best = block;
    if (best) return best;
    blocks.push_back(std::make_shared<GraphBlock>(GraphBlock{round_up(bytes, kPiece)}));
    used_high = std::max(used_high, reserved());
    reserved_high = std::max(reserved_high, reserved());
    return blocks.back();
  }
};
AllGraphMemory& all_graph_memory() {
  static auto& instance = *new AllGraphMemory;
  return instance;
}
using Lock = std::lock_guard<std::mutex>;

Allocations& memory() { return runtime().engine.memory(); }

GraphMemoryRef holding(uint64_t address) {
  const Lock lock(all_graph_memory().mutex);
  const auto after = all_graph_memory().ranges.upper_bound(address);
  if (after == all_graph_memory().ranges.begin()) return nullptr;
  GraphMemoryRef held = std::prev(after)->second.lock();
  return held && address < held->base + held->size ? held : nullptr;
}

}  // namespace

GraphMemory::~GraphMemory() {
  {
    const Lock lock(all_graph_memory().mutex);
    all_graph_memory().ranges.erase(base);
  }
  release();
  memory().unclaim(size);
  memory().unreserve(base, size);
}

void GraphMemory::allocate() {
  if (!memory().add_mapped(base, size)) return;  // it is there already
  const Lock lock(all_graph_memory().mutex);
  block = all_graph_memory().block_for(round_up(size, kAlign));
  block->taken += round_up(size, kAlign);
}

void GraphMemory::release() {
  memory().release(base, MemKind::mapped);
  const Lock lock(all_graph_memory().mutex);
  if (!block) return;
  block->taken -= round_up(size, kAlign);
  block = nullptr;
}

cudaError_t make_graph_memory(uint64_t bytes, GraphMemoryRef* made) {
  if (!bytes) return cudaErrorInvalidValue;
  if (!memory().claim(bytes)) return cudaErrorMemoryAllocation;
  const auto base = memory().reserve(bytes, kAlign);
  if (!base) {
    memory().unclaim(bytes);
    return cudaErrorMemoryAllocation;
  }
  *made = std::make_shared<GraphMemory>(*base, bytes);
  const Lock lock(all_graph_memory().mutex);
  all_graph_memory().ranges[*base] = *made;
  return cudaSuccess;
}

GraphMemoryRef find_graph_memory(const void* pointer) {
  const Lock lock(all_graph_memory().mutex);
  const auto found = all_graph_memory().ranges.find(reinterpret_cast<uintptr_t>(pointer));
  return found == all_graph_memory().ranges.end() ? nullptr : found->second.lock();
}

uint64_t graph_memory_after(uint64_t address) {
  const GraphMemoryRef held = holding(address);
  return held ? held->base + held->size - address : 0;
}

bool graph_memory_is_gone(uint64_t address) {
  const GraphMemoryRef held = holding(address);
  return held && !is_promised(held);
}

bool exchange_promises(const std::vector<GraphMemoryRef>& allocated,
                       const std::vector<GraphMemoryRef>& freed) {
  const Lock lock(all_graph_memory().mutex);
  for (const GraphMemoryRef& m : allocated)
    if (all_graph_memory().promised.contains(m.get())) return false;
  for (const GraphMemoryRef& m : freed)
    if (!all_graph_memory().promised.contains(m.get())) return false;
  for (const GraphMemoryRef& m : allocated) all_graph_memory().promised.emplace(m.get(), m);
  for (const GraphMemoryRef& m : freed) all_graph_memory().promised.erase(m.get());
  return true;
}

bool is_promised(const GraphMemoryRef& m) {
  const Lock lock(all_graph_memory().mutex);
  return all_graph_memory().promised.contains(m.get());
}

cudaError_t free_graph_memory(const GraphMemoryRef& m, const StreamRef& stream) {
  if (!exchange_promises({}, {m}))
    return fail(cudaErrorInvalidValue,
                {.asked = {},
                 .why = "memory of a graph is freed, but no launch has left it allocated",
                 .fix = {},
                 .kind = "invalid-free"});
  runtime().scheduler.submit(stream, [m] { m->release(); });
  return cudaSuccess;
}

bool has_memory_nodes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) {
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      return has_memory_nodes(*child->graph);
    return std::holds_alternative<AllocWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work);
  });
}

cudaError_t check_free_node(const Graph& graph, const GraphMemoryRef& memory) {
  if (!memory) return cudaErrorInvalidValue;
  for (const auto& node : graph.nodes)
    if (const auto* work = std::get_if<FreeWork>(&node->work); work && work->memory == memory)
      return cudaErrorInvalidValue;  // freed twice
  return cudaSuccess;
}

cudaError_t graph_memory_attribute(cudaGraphMemAttributeType attribute, uint64_t* value) {
  const Lock lock(all_graph_memory().mutex);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
    case cudaGraphMemAttrReservedMemCurrent:
      *value = all_graph_memory().reserved();
      return cudaSuccess;
    case cudaGraphMemAttrUsedMemHigh: *value = all_graph_memory().used_high; return cudaSuccess;
    case cudaGraphMemAttrReservedMemHigh:
      *value = all_graph_memory().reserved_high;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t reset_graph_memory_mark(cudaGraphMemAttributeType attribute) {
  const Lock lock(all_graph_memory().mutex);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemHigh:
      all_graph_memory().used_high = all_graph_memory().reserved();
      return cudaSuccess;
    case cudaGraphMemAttrReservedMemHigh:
      all_graph_memory().reserved_high = all_graph_memory().reserved();
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

void trim_graph_memory() {
  const Lock lock(all_graph_memory().mutex);
  std::erase_if(all_graph_memory().blocks, [](const auto& block) { return !block->taken; });
}

void reset_graph_memory() {
  std::unordered_map<const GraphMemory*, GraphMemoryRef> gone;
  const Lock lock(all_graph_memory().mutex);
  gone.swap(all_graph_memory().promised);  // let go after the lock is
  all_graph_memory().blocks.clear();
  all_graph_memory().used_high = all_graph_memory().reserved_high = 0;
}

}  // namespace ridge::vm::cudart
