// Dynamic parallelism: what the threads of a grid have launched. A child may start at any time
// after its launch and is done before its parent is; here children run when the parent's own blocks
// are done, in the order of their launches, which satisfies every stream and event between them.
// Tail launches come last.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "vm/exec/engine.h"

namespace ridge::vm {

struct GridRun;

struct ChildWork {
  enum class Kind : uint8_t { kernel, copy, fill };
  Kind kind = Kind::kernel;
  bool tail = false;
  Launch launch;                         // kernel
  uint64_t to = 0, from = 0, bytes = 0;  // copy, fill
  uint8_t value = 0;                     // fill
};

struct Children {
  std::mutex mutex;
  std::vector<ChildWork> work;
  std::map<uint64_t, Launch> prepared;      // by the address of their parameters
  std::map<uint64_t, int32_t> last_errors;  // by block and thread
  uint64_t handles = 0;                     // streams and events made
  std::map<int64_t, uint64_t> texts;        // of errors that threads asked for, in device memory
};

// What an error is called, or what it means: the runtime's business, which device code may ask for.
using ErrorText = const char* (*)(int32_t code, bool name);
void provide_error_texts(ErrorText text);

// Runs what the grid's threads have launched, and what that launches.
Fault run_children(Engine& engine, Children& children);

}  // namespace ridge::vm
