// cudaGetLastError and its kin.
#include "vm/cudart/errors.h"

using namespace ridge::vm::cudart;

extern "C" {

cudaError_t cudaGetLastError() { return take_last_error(); }
cudaError_t cudaPeekAtLastError() { return peek_last_error(); }
const char* cudaGetErrorName(cudaError_t error) { return error_name(error); }
const char* cudaGetErrorString(cudaError_t error) { return error_text(error); }

}  // extern "C"
