// The entry points of programs compiled with --default-stream per-thread: their plain namesakes,
// but a null stream is the calling thread's own.
#include "vm/cudart/streams.h"

using namespace ridge::vm::cudart;

namespace {

template <class Body>
cudaError_t per_thread(Body&& body) {
  const PerThreadDefault scope;
  return body();
}

}  // namespace

// Some of the namesakes are deprecated; programs that call them still get them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC visibility push(default)
extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t a, dim3 b, dim3 c, void** d, size_t e,
                                    cudaStream_t f) {
  return per_thread([&] { return __cudaLaunchKernel(a, b, c, d, e, f); });
}
cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t a, cudaStream_t b, unsigned c) {
  return per_thread([&] { return cudaEventRecordWithFlags(a, b, c); });
}
cudaError_t cudaEventRecord_ptsz(cudaEvent_t a, cudaStream_t b) {
  return per_thread([&] { return cudaEventRecord(a, b); });
}
cudaError_t cudaFreeAsync_ptsz(void* a, cudaStream_t b) {
  return per_thread([&] { return cudaFreeAsync(a, b); });
}
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
cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* a, cudaGraph_t b,
                                                cudaGraphInstantiateParams* c) {
  return per_thread([&] { return cudaGraphInstantiateWithParams(a, b, c); });
}
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t a, cudaStream_t b) {
  return per_thread([&] { return cudaGraphLaunch(a, b); });
}
cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t a, cudaStream_t b) {
  return per_thread([&] { return cudaGraphUpload(a, b); });
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* a, dim3 b, dim3 c, void** d, size_t e,
                                             cudaStream_t f) {
  return per_thread([&] { return cudaLaunchCooperativeKernel(a, b, c, d, e, f); });
}
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t a, cudaHostFn_t b, void* c) {
  return per_thread([&] { return cudaLaunchHostFunc(a, b, c); });
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* a, const void* b, void** c) {
  return per_thread([&] { return cudaLaunchKernelExC(a, b, c); });
}
cudaError_t cudaLaunchKernel_ptsz(const void* a, dim3 b, dim3 c, void** d, size_t e,
                                  cudaStream_t f) {
  return per_thread([&] { return cudaLaunchKernel(a, b, c, d, e, f); });
}
cudaError_t cudaMallocAsync_ptsz(void** a, size_t b, cudaStream_t c) {
  return per_thread([&] { return cudaMallocAsync(a, b, c); });
}
cudaError_t cudaMallocFromPoolAsync_ptsz(void** a, size_t b, cudaMemPool_t c, cudaStream_t d) {
  return per_thread([&] { return cudaMallocFromPoolAsync(a, b, c, d); });
}
cudaError_t cudaMemPrefetchAsync_ptsz(const void* a, size_t b, cudaMemLocation c, unsigned d,
                                      cudaStream_t e) {
  return per_thread([&] { return cudaMemPrefetchAsync(a, b, c, d, e); });
}
cudaError_t cudaMemcpy2DAsync_ptsz(void* a, size_t b, const void* c, size_t d, size_t e, size_t f,
                                   cudaMemcpyKind g, cudaStream_t h) {
  return per_thread([&] { return cudaMemcpy2DAsync(a, b, c, d, e, f, g, h); });
}
cudaError_t cudaMemcpy2D_ptds(void* a, size_t b, const void* c, size_t d, size_t e, size_t f,
                              cudaMemcpyKind g) {
  return per_thread([&] { return cudaMemcpy2D(a, b, c, d, e, f, g); });
}
cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t a, size_t b, size_t c, cudaArray_const_t d,
                                          size_t e, size_t f, size_t g, size_t h,
                                          cudaMemcpyKind i) {
  return per_thread([&] { return cudaMemcpy2DArrayToArray(a, b, c, d, e, f, g, h, i); });
}
cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* a, size_t b, cudaArray_const_t c, size_t d,
                                            size_t e, size_t f, size_t g, cudaMemcpyKind h,
                                            cudaStream_t i) {
  return per_thread([&] { return cudaMemcpy2DFromArrayAsync(a, b, c, d, e, f, g, h, i); });
}
cudaError_t cudaMemcpy2DFromArray_ptds(void* a, size_t b, cudaArray_const_t c, size_t d, size_t e,
                                       size_t f, size_t g, cudaMemcpyKind h) {
  return per_thread([&] { return cudaMemcpy2DFromArray(a, b, c, d, e, f, g, h); });
}
cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t a, size_t b, size_t c, const void* d,
                                          size_t e, size_t f, size_t g, cudaMemcpyKind h,
                                          cudaStream_t i) {
  return per_thread([&] { return cudaMemcpy2DToArrayAsync(a, b, c, d, e, f, g, h, i); });
}
cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t a, size_t b, size_t c, const void* d, size_t e,
                                     size_t f, size_t g, cudaMemcpyKind h) {
  return per_thread([&] { return cudaMemcpy2DToArray(a, b, c, d, e, f, g, h); });
}
cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t a, size_t b, size_t c, cudaArray_const_t d,
                                        size_t e, size_t f, size_t g, cudaMemcpyKind h) {
  return per_thread([&] { return cudaMemcpyArrayToArray(a, b, c, d, e, f, g, h); });
}
cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* a, cudaArray_const_t b, size_t c, size_t d,
                                          size_t e, cudaMemcpyKind f, cudaStream_t g) {
  return per_thread([&] { return cudaMemcpyFromArrayAsync(a, b, c, d, e, f, g); });
}
cudaError_t cudaMemcpyFromArray_ptds(void* a, cudaArray_const_t b, size_t c, size_t d, size_t e,
                                     cudaMemcpyKind f) {
  return per_thread([&] { return cudaMemcpyFromArray(a, b, c, d, e, f); });
}
cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t a, size_t b, size_t c, const void* d, size_t e,
                                        cudaMemcpyKind f, cudaStream_t g) {
  return per_thread([&] { return cudaMemcpyToArrayAsync(a, b, c, d, e, f, g); });
}
cudaError_t cudaMemcpyToArray_ptds(cudaArray_t a, size_t b, size_t c, const void* d, size_t e,
                                   cudaMemcpyKind f) {
  return per_thread([&] { return cudaMemcpyToArray(a, b, c, d, e, f); });
}
cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* a, cudaStream_t b) {
  return per_thread([&] { return cudaMemcpy3DAsync(a, b); });
}
cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* a, cudaStream_t b) {
  return per_thread([&] { return cudaMemcpy3DPeerAsync(a, b); });
}
cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* a) {
  return per_thread([&] { return cudaMemcpy3DPeer(a); });
}
cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* a) {
  return per_thread([&] { return cudaMemcpy3D(a); });
}
cudaError_t cudaMemcpyAsync_ptsz(void* a, const void* b, size_t c, cudaMemcpyKind d,
                                 cudaStream_t e) {
  return per_thread([&] { return cudaMemcpyAsync(a, b, c, d, e); });
}
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* a, const void* b, size_t c, size_t d,
                                           cudaMemcpyKind e, cudaStream_t f) {
  return per_thread([&] { return cudaMemcpyFromSymbolAsync(a, b, c, d, e, f); });
}
cudaError_t cudaMemcpyFromSymbol_ptds(void* a, const void* b, size_t c, size_t d,
                                      cudaMemcpyKind e) {
  return per_thread([&] { return cudaMemcpyFromSymbol(a, b, c, d, e); });
}
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* a, const void* b, size_t c, size_t d,
                                         cudaMemcpyKind e, cudaStream_t f) {
  return per_thread([&] { return cudaMemcpyToSymbolAsync(a, b, c, d, e, f); });
}
cudaError_t cudaMemcpyToSymbol_ptds(const void* a, const void* b, size_t c, size_t d,
                                    cudaMemcpyKind e) {
  return per_thread([&] { return cudaMemcpyToSymbol(a, b, c, d, e); });
}
cudaError_t cudaMemcpy_ptds(void* a, const void* b, size_t c, cudaMemcpyKind d) {
  return per_thread([&] { return cudaMemcpy(a, b, c, d); });
}
cudaError_t cudaMemset2DAsync_ptsz(void* a, size_t b, int c, size_t d, size_t e, cudaStream_t f) {
  return per_thread([&] { return cudaMemset2DAsync(a, b, c, d, e, f); });
}
cudaError_t cudaMemset2D_ptds(void* a, size_t b, int c, size_t d, size_t e) {
  return per_thread([&] { return cudaMemset2D(a, b, c, d, e); });
}
cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr a, int b, cudaExtent c, cudaStream_t d) {
  return per_thread([&] { return cudaMemset3DAsync(a, b, c, d); });
}
cudaError_t cudaMemset3D_ptds(cudaPitchedPtr a, int b, cudaExtent c) {
  return per_thread([&] { return cudaMemset3D(a, b, c); });
}
cudaError_t cudaMemsetAsync_ptsz(void* a, int b, size_t c, cudaStream_t d) {
  return per_thread([&] { return cudaMemsetAsync(a, b, c, d); });
}
cudaError_t cudaMemset_ptds(void* a, int b, size_t c) {
  return per_thread([&] { return cudaMemset(a, b, c); });
}
cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t a, cudaStreamCallback_t b, void* c,
                                       unsigned d) {
  return per_thread([&] { return cudaStreamAddCallback(a, b, c, d); });
}
cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t a, void* b, size_t c, unsigned d) {
  return per_thread([&] { return cudaStreamAttachMemAsync(a, b, c, d); });
}
cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t a, cudaGraph_t b,
                                               const cudaGraphNode_t* c, const cudaGraphEdgeData* d,
                                               size_t e, cudaStreamCaptureMode f) {
  return per_thread([&] { return cudaStreamBeginCaptureToGraph(a, b, c, d, e, f); });
}
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t a, cudaStreamCaptureMode b) {
  return per_thread([&] { return cudaStreamBeginCapture(a, b); });
}
cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t a, cudaStream_t b) {
  return per_thread([&] { return cudaStreamCopyAttributes(a, b); });
}
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t a, cudaGraph_t* b) {
  return per_thread([&] { return cudaStreamEndCapture(a, b); });
}
cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t a, cudaLaunchAttributeID b,
                                        cudaLaunchAttributeValue* c) {
  return per_thread([&] { return cudaStreamGetAttribute(a, b, c); });
}
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t a, cudaStreamCaptureStatus* b,
                                          unsigned long long* c, cudaGraph_t* d,
                                          const cudaGraphNode_t** e, const cudaGraphEdgeData** f,
                                          size_t* g) {
  return per_thread([&] { return cudaStreamGetCaptureInfo(a, b, c, d, e, f, g); });
}
cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t a, int* b) {
  return per_thread([&] { return cudaStreamGetDevice(a, b); });
}
cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t a, unsigned* b) {
  return per_thread([&] { return cudaStreamGetFlags(a, b); });
}
cudaError_t cudaStreamGetId_ptsz(cudaStream_t a, unsigned long long* b) {
  return per_thread([&] { return cudaStreamGetId(a, b); });
}
cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t a, int* b) {
  return per_thread([&] { return cudaStreamGetPriority(a, b); });
}
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t a, cudaStreamCaptureStatus* b) {
  return per_thread([&] { return cudaStreamIsCapturing(a, b); });
}
cudaError_t cudaStreamQuery_ptsz(cudaStream_t a) {
  return per_thread([&] { return cudaStreamQuery(a); });
}
cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t a, cudaLaunchAttributeID b,
                                        const cudaLaunchAttributeValue* c) {
  return per_thread([&] { return cudaStreamSetAttribute(a, b, c); });
}
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t a) {
  return per_thread([&] { return cudaStreamSynchronize(a); });
}
cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t a, cudaGraphNode_t* b,
                                                     const cudaGraphEdgeData* c, size_t d,
                                                     unsigned e) {
  return per_thread([&] { return cudaStreamUpdateCaptureDependencies(a, b, c, d, e); });
}
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t a, cudaEvent_t b, unsigned c) {
  return per_thread([&] { return cudaStreamWaitEvent(a, b, c); });
}
cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void** a, size_t* b, size_t c,
                                                     cudaMemLocation* d, size_t* e, size_t f,
                                                     unsigned long long g, cudaStream_t h) {
  return per_thread([&] { return cudaMemDiscardAndPrefetchBatchAsync(a, b, c, d, e, f, g, h); });
}
cudaError_t cudaMemDiscardBatchAsync_ptsz(void** a, size_t* b, size_t c, unsigned long long d,
                                          cudaStream_t e) {
  return per_thread([&] { return cudaMemDiscardBatchAsync(a, b, c, d, e); });
}
cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** a, size_t* b, size_t c, cudaMemLocation* d,
                                           size_t* e, size_t f, unsigned long long g,
                                           cudaStream_t h) {
  return per_thread([&] { return cudaMemPrefetchBatchAsync(a, b, c, d, e, f, g, h); });
}
cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t a, cudaMemcpy3DBatchOp* b, unsigned long long c,
                                        cudaStream_t d) {
  return per_thread([&] { return cudaMemcpy3DBatchAsync(a, b, c, d); });
}
cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* a, const void* const* b, const size_t* c,
                                      size_t d, cudaMemcpyAttributes* e, size_t* f, size_t g,
                                      cudaStream_t h) {
  return per_thread([&] { return cudaMemcpyBatchAsync(a, b, c, d, e, f, g, h); });
}

}  // extern "C"
#pragma GCC visibility pop
