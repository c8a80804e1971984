// The entry points of programs compiled with --default-stream per-thread: their plain namesakes,
// but a null stream is the calling thread's own.
#include "vm/cudart/per_thread.h"

// Some of the namesakes are deprecated; programs that call them still get them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC visibility push(default)
extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

// Without a word about streams in the flags, the functions are those for a stream of each thread.
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* a, void** b, unsigned c,
                                                  unsigned long long d,
                                                  cudaDriverEntryPointQueryResult* e) {
  return cudaGetDriverEntryPointByVersion(a, b, c, d ? d : +cudaEnablePerThreadDefaultStream, e);
}
cudaError_t cudaGetDriverEntryPoint_ptsz(const char* a, void** b, unsigned long long c,
                                         cudaDriverEntryPointQueryResult* d) {
  return cudaGetDriverEntryPointByVersion_ptsz(a, b, CUDART_VERSION / 1000 * 1000, c, d);
}

RIDGE_PER_THREAD(__cudaLaunchKernel, ptsz, 6)
RIDGE_PER_THREAD(cudaEventRecordWithFlags, ptsz, 3)
RIDGE_PER_THREAD(cudaEventRecord, ptsz, 2)
RIDGE_PER_THREAD(cudaFreeAsync, ptsz, 2)
RIDGE_PER_THREAD(cudaGraphInstantiateWithParams, ptsz, 3)
RIDGE_PER_THREAD(cudaGraphLaunch, ptsz, 2)
RIDGE_PER_THREAD(cudaGraphUpload, ptsz, 2)
RIDGE_PER_THREAD(cudaLaunchCooperativeKernel, ptsz, 6)
RIDGE_PER_THREAD(cudaLaunchHostFunc, ptsz, 3)
RIDGE_PER_THREAD(cudaLaunchKernelExC, ptsz, 3)
RIDGE_PER_THREAD(cudaLaunchKernel, ptsz, 6)
RIDGE_PER_THREAD(cudaMallocAsync, ptsz, 3)
RIDGE_PER_THREAD(cudaMallocFromPoolAsync, ptsz, 4)
RIDGE_PER_THREAD(cudaMemPrefetchAsync, ptsz, 5)
RIDGE_PER_THREAD(cudaMemcpy2DAsync, ptsz, 8)
RIDGE_PER_THREAD(cudaMemcpy2D, ptds, 7)
RIDGE_PER_THREAD(cudaMemcpy2DArrayToArray, ptds, 9)
RIDGE_PER_THREAD(cudaMemcpy2DFromArrayAsync, ptsz, 9)
RIDGE_PER_THREAD(cudaMemcpy2DFromArray, ptds, 8)
RIDGE_PER_THREAD(cudaMemcpy2DToArrayAsync, ptsz, 9)
RIDGE_PER_THREAD(cudaMemcpy2DToArray, ptds, 8)
RIDGE_PER_THREAD(cudaMemcpyArrayToArray, ptds, 8)
RIDGE_PER_THREAD(cudaMemcpyFromArrayAsync, ptsz, 7)
RIDGE_PER_THREAD(cudaMemcpyFromArray, ptds, 6)
RIDGE_PER_THREAD(cudaMemcpyToArrayAsync, ptsz, 7)
RIDGE_PER_THREAD(cudaMemcpyToArray, ptds, 6)
RIDGE_PER_THREAD(cudaMemcpy3DAsync, ptsz, 2)
RIDGE_PER_THREAD(cudaMemcpy3DPeerAsync, ptsz, 2)
RIDGE_PER_THREAD(cudaMemcpy3DPeer, ptds, 1)
RIDGE_PER_THREAD(cudaMemcpy3D, ptds, 1)
RIDGE_PER_THREAD(cudaMemcpyAsync, ptsz, 5)
RIDGE_PER_THREAD(cudaMemcpyFromSymbolAsync, ptsz, 6)
RIDGE_PER_THREAD(cudaMemcpyFromSymbol, ptds, 5)
RIDGE_PER_THREAD(cudaMemcpyToSymbolAsync, ptsz, 6)
RIDGE_PER_THREAD(cudaMemcpyToSymbol, ptds, 5)
RIDGE_PER_THREAD(cudaMemcpy, ptds, 4)
RIDGE_PER_THREAD(cudaMemset2DAsync, ptsz, 6)
RIDGE_PER_THREAD(cudaMemset2D, ptds, 5)
RIDGE_PER_THREAD(cudaMemset3DAsync, ptsz, 4)
RIDGE_PER_THREAD(cudaMemset3D, ptds, 3)
RIDGE_PER_THREAD(cudaMemsetAsync, ptsz, 4)
RIDGE_PER_THREAD(cudaMemset, ptds, 3)
RIDGE_PER_THREAD(cudaStreamAddCallback, ptsz, 4)
RIDGE_PER_THREAD(cudaStreamAttachMemAsync, ptsz, 4)
RIDGE_PER_THREAD(cudaStreamBeginCaptureToGraph, ptsz, 6)
RIDGE_PER_THREAD(cudaStreamBeginCapture, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamCopyAttributes, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamEndCapture, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamGetAttribute, ptsz, 3)
RIDGE_PER_THREAD(cudaStreamGetCaptureInfo, ptsz, 7)
RIDGE_PER_THREAD(cudaStreamGetDevice, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamGetFlags, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamGetId, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamGetPriority, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamIsCapturing, ptsz, 2)
RIDGE_PER_THREAD(cudaStreamQuery, ptsz, 1)
RIDGE_PER_THREAD(cudaStreamSetAttribute, ptsz, 3)
RIDGE_PER_THREAD(cudaStreamSynchronize, ptsz, 1)
RIDGE_PER_THREAD(cudaStreamUpdateCaptureDependencies, ptsz, 5)
RIDGE_PER_THREAD(cudaStreamWaitEvent, ptsz, 3)
RIDGE_PER_THREAD(cudaMemDiscardAndPrefetchBatchAsync, ptsz, 8)
RIDGE_PER_THREAD(cudaMemDiscardBatchAsync, ptsz, 5)
RIDGE_PER_THREAD(cudaMemPrefetchBatchAsync, ptsz, 8)
RIDGE_PER_THREAD(cudaMemcpy3DBatchAsync, ptsz, 4)
RIDGE_PER_THREAD(cudaMemcpyBatchAsync, ptsz, 8)

}  // extern "C"
#pragma GCC visibility pop
