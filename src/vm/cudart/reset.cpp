#include "vm/cudart/reset.h"

#include "vm/cudart/arrays.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/events.h"
#include "vm/cudart/graph/memory.h"
#include "vm/cudart/limits.h"
#include "vm/cudart/managed.h"
#include "vm/cudart/pools.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/textures.h"

namespace ridge::vm::cudart {

void reset_device() {
  destroy_all_events();
  if (!runtime_started()) return;
  Runtime& rt = runtime();
  abandon_captures();
  rt.scheduler.wait_all();
  rt.engine.flush_printf();
  close_all_streams();
  registrations().reset();
  forget_textures();
  forget_arrays();
  rt.engine.release_memory();
  reset_pools();
  forget_advice();
  reset_graph_memory();
  reset_limits();
  clear_sticky_error();
}

}  // namespace ridge::vm::cudart
