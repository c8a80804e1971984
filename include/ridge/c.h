// The operators from C, and from every language that can call C. One function per operator, made
// from its description, is in ridge/c_operators.h; what all of them share is here.
//
//   RidgeTensor x = {data, RIDGE_F32, 2, {rows, cols}, {cols, 1}}, y = …;
//   if (ridge_softmax(&x, &y, …, NULL, stream)) fprintf(stderr, "%s\n", ridge_error());
//
// Every function returns 0, or the number of a CUDA error (1, an invalid value, where arguments do
// are wrong); ridge_error() then says what is wrong. Work is enqueued on `stream`, a cudaStream_t
// (NULL: the default stream), and the functions do not wait for it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RIDGE_MAX_RANK 8

// The scales of a block-scaled tensor, as ridge::Scales in ridge/tensor.h. All zero: none.
typedef struct RidgeScales {
  void* data;
  uint8_t dtype;                   // a RidgeDtype
  int64_t block_rows, block_cols;  // elements that share a scale
  float* second;                   // scales of the scales
  int64_t second_block;            // scales that share one of `second`; 0: all of them
  float* offset;
} RidgeScales;

// A view of an array in device memory; it owns nothing.
typedef struct RidgeTensor {
  void* data;
  uint8_t dtype;  // a RidgeDtype
  int32_t rank;
  int64_t shape[RIDGE_MAX_RANK];
  int64_t strides[RIDGE_MAX_RANK];  // in elements
  RidgeScales scales;
} RidgeTensor;

// Device memory that an operator works in, aligned to 16 bytes. A null pointer to a RidgeWorkspace
// means that there is none. If `wanted` is not null, the call checks its arguments, writes the
// number of bytes that it needs to *wanted, and launches nothing.
typedef struct RidgeWorkspace {
  void* data;
  size_t bytes;
  size_t* wanted;
} RidgeWorkspace;

// The message of this thread's last call that failed; "" if none has failed. It is valid until the
// next call fails.
const char* ridge_error(void);

// The names of all operators, numbered from 0 to ridge_operator_count() - 1; null beyond that.
int ridge_operator_count(void);
const char* ridge_operator_name(int index);
// The description of an operator as JSON: its tensors and parameters in the order of its function's
// arguments, with formats, shapes, defaults and ranges. `name` may also be a name that the operator
// had before; null if there is no such operator. Valid as long as the library is loaded.
const char* ridge_operator_json(const char* name);

// What the outputs of an operator have to be: fills in format, shape and strides (contiguous, or
// those of the input whose strides it needs) of every tensor whose rank is -1. The tensors and
// parameters are those of ridge_run. `sizes` has the size of each dimension of the description, or
// -1 where the inputs say it, or where it follows from the others; null where that is so for all of
// them. The data of no tensor is looked at.
int ridge_outputs(const char* name, RidgeTensor* const* tensors, int n_tensors,
                  const double* parameters, int n_parameters, const int64_t* sizes, int n_sizes);

// Any operator by its name: tensors and parameters in the order of its description. A null tensor
// is an optional one that is left out. Flags are 0 or 1, and a choice is its index. A double holds
// whole numbers up to 2^53; for larger ones, call the operator's own function.
int ridge_run(const char* name, const RidgeTensor* const* tensors, int n_tensors,
              const double* parameters, int n_parameters, const RidgeWorkspace* workspace,
              void* stream);

#ifdef __cplusplus
}
#endif

#include "ridge/c_operators.h"
