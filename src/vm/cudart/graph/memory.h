// Memory that belongs to a graph: allocated by one of its nodes, at an address that is fixed when
// the node is made; freed by a node of the same graph, by one of another, or by the program.
//
// Two orders meet here. What the program may still ask for follows its calls: a launch promises the
// memory, and whoever frees it takes the promise. What kernels may touch follows the streams.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/cudart/scheduler.h"

namespace ridge::vm::cudart {

struct Graph;

// What the device keeps for graphs: pieces of 32 MiB that one allocation needed, and that later
// ones take when nobody is in them.
struct GraphBlock {
  const uint64_t size;
  uint64_t taken = 0;
};

// A range of addresses, and the capacity for it, as long as a node or a promise holds it.
struct GraphMemory {
  GraphMemory(uint64_t base, uint64_t size) : base(base), size(size) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;

  void* pointer() const { return reinterpret_cast<void*>(base); }
  void allocate();  // on a stream's thread
  void release();   // likewise

  const uint64_t base, size;
  std::shared_ptr<GraphBlock> block;  // null: not allocated now
};
using GraphMemoryRef = std::shared_ptr<GraphMemory>;

cudaError_t make_graph_memory(uint64_t bytes, GraphMemoryRef* memory);
GraphMemoryRef find_graph_memory(const void* pointer);  // by its start; null: none
// How many bytes of graph memory follow this address, whether or not it is allocated now.
uint64_t graph_memory_after(uint64_t address);

// What one launch does to promises: every `allocated` one is new, every `freed` one is there.
// False: it would allocate what is still allocated, or free what is not, and nothing has changed.
bool exchange_promises(const std::vector<GraphMemoryRef>& allocated,
                       const std::vector<GraphMemoryRef>& freed);
bool is_promised(const GraphMemoryRef& memory);
bool graph_memory_is_gone(uint64_t address);  // graph memory that nobody has been promised
// cudaFree and cudaFreeAsync of graph memory.
cudaError_t free_graph_memory(const GraphMemoryRef& memory, const StreamRef& stream);

// Graphs with such nodes cannot be cloned or taken apart, and have one executable graph at a time.
bool has_memory_nodes(const Graph& graph);
cudaError_t check_free_node(const Graph& graph, const GraphMemoryRef& memory);

cudaError_t graph_memory_attribute(cudaGraphMemAttributeType attribute, uint64_t* value);
cudaError_t reset_graph_memory_mark(cudaGraphMemAttributeType attribute);
void trim_graph_memory();   // gives back the blocks in which nothing is allocated
void reset_graph_memory();  // device reset

}  // namespace ridge::vm::cudart
