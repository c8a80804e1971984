// Reports CUDA calls that fail, because many programs ignore what they return: what was asked, what
// the limit is, and the line of the program.
#pragma once

#include <string>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

// Why a call fails, for the report. All fields may be empty.
struct Failure {
  std::string asked;  // "launch of k<<<2, 2048>>>"; empty: the name of the function
  std::string why;    // "2048 threads per block, at most 1024"; empty: the text of the error code
  std::string fix;
  const char* kind = "failed-call";
};

// Remembers why until the call returns; gives the error back, so that a function can
// `return fail(cudaErrorInvalidValue, {.why = …})`.
cudaError_t fail(cudaError_t error, Failure failure);

// On the way out of the outermost call of this thread: tells of the failure, unless it is one that
// programs ask for on purpose. `name` is the error code's.
void tell_failed(cudaError_t error, const char* name);

// Reports a feature that the software GPU does not have, once for each name, with the line that
// asked for it.
void tell_unsupported(const std::string& what, const char* group, const char* docs);

// While one of these lives on this thread, calls are part of the one the program made.
class CallScope {
 public:
  CallScope();
  ~CallScope();
  CallScope(const CallScope&) = delete;
  static bool inside();  // of one
};

}  // namespace ridge::vm::cudart
