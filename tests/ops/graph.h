// Runs what `enqueue` puts on a stream as a CUDA graph, for tests of the API.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "ridge/status.h"

namespace ridge {

// Captured once, launched `times` times.
template <class F>
void run_as_graph(F enqueue, int times = 2) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const Status status = enqueue(stream);
  EXPECT_TRUE(status) << status.message();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int i = 0; i < times; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  (void)cudaGraphExecDestroy(exec);
  (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(stream);
}

}  // namespace ridge
