// What files of rivals share. A family's rivals live in its folder, one file per library, named
// rivals_LIBRARY.cu or rivals_LIBRARY.cpp, with one function:
//   namespace ridge::FAMILY { void rivals_LIBRARY(const OperatorDef& op, Rivals& rivals); }
// It adds what the library has for this operator, or nothing. The build makes one library of all
// such files in a folder (ridge_rivals in cmake/RidgeKernels.cmake).
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/contestant.h"
#include "operator/layout.h"

namespace ridge::rivals {

using Rivals = std::vector<harness::Contestant>;

// --- Refusals: a reason, or nothing where the library can do it ---

// For libraries that know no strides.
inline std::string needs_contiguous(const Call& call) {
  for (size_t t = 0; t < call.op().tensors.size(); ++t)
    if (call.tensors[t] && !ops::is_contiguous(*call.tensors[t]))
      return call.op().tensors[t].name + " is not contiguous";
  return "";
}

inline std::string needs_format(const Call& call, const char* tensor, const Formats& formats) {
  const Dtype dtype = call[tensor].dtype;
  if (std::find(formats.begin(), formats.end(), dtype) != formats.end()) return "";
  return std::string("it has no ") + name_of(dtype) + " here, only " + names_of(formats);
}

// --- Launches ---

template <class T>
T* data_of(const Call& call, const char* tensor) {
  return static_cast<T*>(call[tensor].data);
}

// A rival without a workspace.
template <class Refuses, class Launch>
harness::Contestant rival(const char* name, Refuses refuses, Launch launch) {
  return {
      .name = name,
      .rival = true,
      .refuses = [refuses](const Case&, const Call& call) -> std::string { return refuses(call); },
      .workspace = [](const Call&) -> Expected<size_t> { return size_t(0); },
      .launch = [launch](const Call& call, const Workspace&, cudaStream_t stream) -> Status {
        return launch(call, stream);
      }};
}

}  // namespace ridge::rivals
