// User objects: something of the program's that lives as long as somebody holds it — the program
// itself, a graph, an executable graph, or a launch of one — and is then handed to its destructor.
#pragma once

#include <memory>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

struct Graph;
struct UserObject;
// References a graph holds. A copy of the list holds as many again, as a clone's does.
struct HeldObject {
  std::shared_ptr<UserObject> object;
  unsigned count = 0;
};

cudaError_t create_user_object(cudaUserObject_t* handle, void* data, cudaHostFn_t destroy,
                               unsigned count);
cudaError_t retain_user_object(cudaUserObject_t handle, unsigned count);
cudaError_t release_user_object(cudaUserObject_t handle, unsigned count);
// With `move` the program's references become the graph's.
cudaError_t graph_retain(Graph& graph, cudaUserObject_t handle, unsigned count, bool move);
cudaError_t graph_release(Graph& graph, cudaUserObject_t handle, unsigned count);

}  // namespace ridge::vm::cudart
