// Attributes of launches and of graphs' kernel nodes. Most are hints, which are checked, kept and
// given back; what would change what a kernel does is done or refused by name.
#pragma once

#include "vm/cudart/api.h"
#include "vm/cudart/launch.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {

cudaError_t apply(const cudaLaunchAttribute& attribute, LaunchRequest& request);

cudaError_t set_node_attribute(KernelWork& work, cudaLaunchAttributeID id,
                               const cudaLaunchAttributeValue& value);
cudaError_t node_attribute(const KernelWork& work, cudaLaunchAttributeID id,
                           cudaLaunchAttributeValue* value);
void copy_node_attributes(KernelWork& to, const KernelWork& from);

}  // namespace ridge::vm::cudart
