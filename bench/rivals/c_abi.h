/* A case of a ladder behind plain C, so that a Python with PyTorch can launch ours and its own in
 * turn. Functions return 0, or a code with the reason in ridge_bench_error(). */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RidgeBench RidgeBench;

typedef struct RidgeBenchTensor {
  const char* name;
  const char* dtype;
  int rank;
  int64_t shape[8];
  int role; /* 0 in, 1 out, 2 inout */
} RidgeBenchTensor;

const char* ridge_bench_error(void);
RidgeBench* ridge_bench_open(const char* operator_name, const char* dtype, const char* shape);
void ridge_bench_close(RidgeBench* bench);

int ridge_bench_tensors(const RidgeBench* bench);
int ridge_bench_tensor(const RidgeBench* bench, int index, RidgeBenchTensor* tensor);
/* Fills a host buffer with the seeded input of a tensor. */
int ridge_bench_fill(const RidgeBench* bench, int index, void* host, int64_t elements);
double ridge_bench_bytes(const RidgeBench* bench);

/* The rung the library would take for these device pointers. */
const char* ridge_bench_choose(RidgeBench* bench, void* const* tensors);
int64_t ridge_bench_workspace(RidgeBench* bench, void* const* tensors);
int ridge_bench_launch(RidgeBench* bench, void* const* tensors, void* workspace, int64_t bytes,
                       void* stream);

#ifdef __cplusplus
}
#endif
