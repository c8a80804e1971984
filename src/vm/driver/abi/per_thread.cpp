// The entry points of programs compiled for a default stream of each thread: their plain namesakes,
// but a null stream is the calling thread's own.
#include "vm/cudart/streams.h"
#include "vm/driver/api.h"

namespace {

template <class Body>
CUresult per_thread(Body&& body) {
  const ridge::vm::cudart::PerThreadDefault scope;
  return body();
}

}  // namespace

extern "C" {

CUresult cuEventRecordWithFlags_ptsz(CUevent a, CUstream b, unsigned c) {
  return per_thread([&] { return cuEventRecordWithFlags(a, b, c); });
}
CUresult cuEventRecord_ptsz(CUevent a, CUstream b) {
  return per_thread([&] { return cuEventRecord(a, b); });
}
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* a, CUgraph b,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* c) {
  return per_thread([&] { return cuGraphInstantiateWithParams(a, b, c); });
}
CUresult cuGraphLaunch_ptsz(CUgraphExec a, CUstream b) {
  return per_thread([&] { return cuGraphLaunch(a, b); });
}
CUresult cuGraphUpload_ptsz(CUgraphExec a, CUstream b) {
  return per_thread([&] { return cuGraphUpload(a, b); });
}
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction a, unsigned b, unsigned c, unsigned d,
                                        unsigned e, unsigned f, unsigned g, unsigned h, CUstream i,
                                        void** j) {
  return per_thread([&] { return cuLaunchCooperativeKernel(a, b, c, d, e, f, g, h, i, j); });
}
CUresult cuLaunchHostFunc_ptsz(CUstream a, CUhostFn b, void* c) {
  return per_thread([&] { return cuLaunchHostFunc(a, b, c); });
}
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* a, CUfunction b, void** c, void** d) {
  return per_thread([&] { return cuLaunchKernelEx(a, b, c, d); });
}
CUresult cuLaunchKernel_ptsz(CUfunction a, unsigned b, unsigned c, unsigned d, unsigned e,
                             unsigned f, unsigned g, unsigned h, CUstream i, void** j, void** k) {
  return per_thread([&] { return cuLaunchKernel(a, b, c, d, e, f, g, h, i, j, k); });
}
CUresult cuMemAllocAsync_ptsz(CUdeviceptr* a, size_t b, CUstream c) {
  return per_thread([&] { return cuMemAllocAsync(a, b, c); });
}
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* a, size_t b, CUmemoryPool c, CUstream d) {
  return per_thread([&] { return cuMemAllocFromPoolAsync(a, b, c, d); });
}
CUresult cuMemFreeAsync_ptsz(CUdeviceptr a, CUstream b) {
  return per_thread([&] { return cuMemFreeAsync(a, b); });
}
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr a, size_t b, CUdevice c, CUstream d) {
  return per_thread([&] { return cuMemPrefetchAsync(a, b, c, d); });
}
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr a, size_t b, CUmemLocation c, unsigned d,
                                    CUstream e) {
  return per_thread([&] { return cuMemPrefetchAsync_v2(a, b, c, d, e); });
}
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D* a, CUstream b) {
  return per_thread([&] { return cuMemcpy2DAsync_v2(a, b); });
}
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D* a) {
  return per_thread([&] { return cuMemcpy2DUnaligned_v2(a); });
}
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D* a) {
  return per_thread([&] { return cuMemcpy2D_v2(a); });
}
CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D* a, CUstream b) {
  return per_thread([&] { return cuMemcpy3DAsync_v2(a, b); });
}
CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER* a, CUstream b) {
  return per_thread([&] { return cuMemcpy3DPeerAsync(a, b); });
}
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER* a) {
  return per_thread([&] { return cuMemcpy3DPeer(a); });
}
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D* a) {
  return per_thread([&] { return cuMemcpy3D_v2(a); });
}
CUresult cuMemcpyAsync_ptsz(CUdeviceptr a, CUdeviceptr b, size_t c, CUstream d) {
  return per_thread([&] { return cuMemcpyAsync(a, b, c, d); });
}
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr a, CUdeviceptr b, size_t c, CUstream d) {
  return per_thread([&] { return cuMemcpyDtoDAsync_v2(a, b, c, d); });
}
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr a, CUdeviceptr b, size_t c) {
  return per_thread([&] { return cuMemcpyDtoD_v2(a, b, c); });
}
CUresult cuMemcpyDtoHAsync_v2_ptsz(void* a, CUdeviceptr b, size_t c, CUstream d) {
  return per_thread([&] { return cuMemcpyDtoHAsync_v2(a, b, c, d); });
}
CUresult cuMemcpyDtoH_v2_ptds(void* a, CUdeviceptr b, size_t c) {
  return per_thread([&] { return cuMemcpyDtoH_v2(a, b, c); });
}
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr a, const void* b, size_t c, CUstream d) {
  return per_thread([&] { return cuMemcpyHtoDAsync_v2(a, b, c, d); });
}
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr a, const void* b, size_t c) {
  return per_thread([&] { return cuMemcpyHtoD_v2(a, b, c); });
}
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr a, CUcontext b, CUdeviceptr c, CUcontext d, size_t e,
                                CUstream f) {
  return per_thread([&] { return cuMemcpyPeerAsync(a, b, c, d, e, f); });
}
CUresult cuMemcpyPeer_ptds(CUdeviceptr a, CUcontext b, CUdeviceptr c, CUcontext d, size_t e) {
  return per_thread([&] { return cuMemcpyPeer(a, b, c, d, e); });
}
CUresult cuMemcpy_ptds(CUdeviceptr a, CUdeviceptr b, size_t c) {
  return per_thread([&] { return cuMemcpy(a, b, c); });
}
CUresult cuMemsetD16Async_ptsz(CUdeviceptr a, unsigned short b, size_t c, CUstream d) {
  return per_thread([&] { return cuMemsetD16Async(a, b, c, d); });
}
CUresult cuMemsetD16_v2_ptds(CUdeviceptr a, unsigned short b, size_t c) {
  return per_thread([&] { return cuMemsetD16_v2(a, b, c); });
}
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr a, size_t b, unsigned short c, size_t d, size_t e,
                                 CUstream f) {
  return per_thread([&] { return cuMemsetD2D16Async(a, b, c, d, e, f); });
}
CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr a, size_t b, unsigned short c, size_t d, size_t e) {
  return per_thread([&] { return cuMemsetD2D16_v2(a, b, c, d, e); });
}
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr a, size_t b, unsigned c, size_t d, size_t e,
                                 CUstream f) {
  return per_thread([&] { return cuMemsetD2D32Async(a, b, c, d, e, f); });
}
CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr a, size_t b, unsigned c, size_t d, size_t e) {
  return per_thread([&] { return cuMemsetD2D32_v2(a, b, c, d, e); });
}
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr a, size_t b, unsigned char c, size_t d, size_t e,
                                CUstream f) {
  return per_thread([&] { return cuMemsetD2D8Async(a, b, c, d, e, f); });
}
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr a, size_t b, unsigned char c, size_t d, size_t e) {
  return per_thread([&] { return cuMemsetD2D8_v2(a, b, c, d, e); });
}
CUresult cuMemsetD32Async_ptsz(CUdeviceptr a, unsigned b, size_t c, CUstream d) {
  return per_thread([&] { return cuMemsetD32Async(a, b, c, d); });
}
CUresult cuMemsetD32_v2_ptds(CUdeviceptr a, unsigned b, size_t c) {
  return per_thread([&] { return cuMemsetD32_v2(a, b, c); });
}
CUresult cuMemsetD8Async_ptsz(CUdeviceptr a, unsigned char b, size_t c, CUstream d) {
  return per_thread([&] { return cuMemsetD8Async(a, b, c, d); });
}
CUresult cuMemsetD8_v2_ptds(CUdeviceptr a, unsigned char b, size_t c) {
  return per_thread([&] { return cuMemsetD8_v2(a, b, c); });
}
CUresult cuStreamAddCallback_ptsz(CUstream a, CUstreamCallback b, void* c, unsigned d) {
  return per_thread([&] { return cuStreamAddCallback(a, b, c, d); });
}
CUresult cuStreamAttachMemAsync_ptsz(CUstream a, CUdeviceptr b, size_t c, unsigned d) {
  return per_thread([&] { return cuStreamAttachMemAsync(a, b, c, d); });
}
CUresult cuStreamBatchMemOp_ptsz(CUstream a, unsigned b, CUstreamBatchMemOpParams* c, unsigned d) {
  return per_thread([&] { return cuStreamBatchMemOp(a, b, c, d); });
}
CUresult cuStreamBatchMemOp_v2_ptsz(CUstream a, unsigned b, CUstreamBatchMemOpParams* c,
                                    unsigned d) {
  return per_thread([&] { return cuStreamBatchMemOp_v2(a, b, c, d); });
}
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream a, CUgraph b, const CUgraphNode* c,
                                          const CUgraphEdgeData* d, size_t e,
                                          CUstreamCaptureMode f) {
  return per_thread([&] { return cuStreamBeginCaptureToGraph(a, b, c, d, e, f); });
}
CUresult cuStreamBeginCapture_ptsz(CUstream a) {
  return per_thread([&] { return cuStreamBeginCapture(a); });
}
CUresult cuStreamBeginCapture_v2_ptsz(CUstream a, CUstreamCaptureMode b) {
  return per_thread([&] { return cuStreamBeginCapture_v2(a, b); });
}
CUresult cuStreamCopyAttributes_ptsz(CUstream a, CUstream b) {
  return per_thread([&] { return cuStreamCopyAttributes(a, b); });
}
CUresult cuStreamEndCapture_ptsz(CUstream a, CUgraph* b) {
  return per_thread([&] { return cuStreamEndCapture(a, b); });
}
CUresult cuStreamGetAttribute_ptsz(CUstream a, CUstreamAttrID b, CUstreamAttrValue* c) {
  return per_thread([&] { return cuStreamGetAttribute(a, b, c); });
}
CUresult cuStreamGetCaptureInfo_ptsz(CUstream a, CUstreamCaptureStatus* b, cuuint64_t* c) {
  return per_thread([&] { return cuStreamGetCaptureInfo(a, b, c); });
}
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream a, CUstreamCaptureStatus* b, cuuint64_t* c,
                                        CUgraph* d, const CUgraphNode** e, size_t* f) {
  return per_thread([&] { return cuStreamGetCaptureInfo_v2(a, b, c, d, e, f); });
}
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream a, CUstreamCaptureStatus* b, cuuint64_t* c,
                                        CUgraph* d, const CUgraphNode** e,
                                        const CUgraphEdgeData** f, size_t* g) {
  return per_thread([&] { return cuStreamGetCaptureInfo_v3(a, b, c, d, e, f, g); });
}
CUresult cuStreamGetCtx_ptsz(CUstream a, CUcontext* b) {
  return per_thread([&] { return cuStreamGetCtx(a, b); });
}
CUresult cuStreamGetCtx_v2_ptsz(CUstream a, CUcontext* b, CUgreenCtx* c) {
  return per_thread([&] { return cuStreamGetCtx_v2(a, b, c); });
}
CUresult cuStreamGetDevice_ptsz(CUstream a, CUdevice* b) {
  return per_thread([&] { return cuStreamGetDevice(a, b); });
}
CUresult cuStreamGetFlags_ptsz(CUstream a, unsigned* b) {
  return per_thread([&] { return cuStreamGetFlags(a, b); });
}
CUresult cuStreamGetId_ptsz(CUstream a, unsigned long long* b) {
  return per_thread([&] { return cuStreamGetId(a, b); });
}
CUresult cuStreamGetPriority_ptsz(CUstream a, int* b) {
  return per_thread([&] { return cuStreamGetPriority(a, b); });
}
CUresult cuStreamIsCapturing_ptsz(CUstream a, CUstreamCaptureStatus* b) {
  return per_thread([&] { return cuStreamIsCapturing(a, b); });
}
CUresult cuStreamQuery_ptsz(CUstream a) {
  return per_thread([&] { return cuStreamQuery(a); });
}
CUresult cuStreamSetAttribute_ptsz(CUstream a, CUstreamAttrID b, const CUstreamAttrValue* c) {
  return per_thread([&] { return cuStreamSetAttribute(a, b, c); });
}
CUresult cuStreamSynchronize_ptsz(CUstream a) {
  return per_thread([&] { return cuStreamSynchronize(a); });
}
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream a, CUgraphNode* b, size_t c, unsigned d) {
  return per_thread([&] { return cuStreamUpdateCaptureDependencies(a, b, c, d); });
}
CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream a, CUgraphNode* b,
                                                   const CUgraphEdgeData* c, size_t d, unsigned e) {
  return per_thread([&] { return cuStreamUpdateCaptureDependencies_v2(a, b, c, d, e); });
}
CUresult cuStreamWaitEvent_ptsz(CUstream a, CUevent b, unsigned c) {
  return per_thread([&] { return cuStreamWaitEvent(a, b, c); });
}
CUresult cuStreamWaitValue32_ptsz(CUstream a, CUdeviceptr b, cuuint32_t c, unsigned d) {
  return per_thread([&] { return cuStreamWaitValue32(a, b, c, d); });
}
CUresult cuStreamWaitValue32_v2_ptsz(CUstream a, CUdeviceptr b, cuuint32_t c, unsigned d) {
  return per_thread([&] { return cuStreamWaitValue32_v2(a, b, c, d); });
}
CUresult cuStreamWaitValue64_ptsz(CUstream a, CUdeviceptr b, cuuint64_t c, unsigned d) {
  return per_thread([&] { return cuStreamWaitValue64(a, b, c, d); });
}
CUresult cuStreamWaitValue64_v2_ptsz(CUstream a, CUdeviceptr b, cuuint64_t c, unsigned d) {
  return per_thread([&] { return cuStreamWaitValue64_v2(a, b, c, d); });
}
CUresult cuStreamWriteValue32_ptsz(CUstream a, CUdeviceptr b, cuuint32_t c, unsigned d) {
  return per_thread([&] { return cuStreamWriteValue32(a, b, c, d); });
}
CUresult cuStreamWriteValue32_v2_ptsz(CUstream a, CUdeviceptr b, cuuint32_t c, unsigned d) {
  return per_thread([&] { return cuStreamWriteValue32_v2(a, b, c, d); });
}
CUresult cuStreamWriteValue64_ptsz(CUstream a, CUdeviceptr b, cuuint64_t c, unsigned d) {
  return per_thread([&] { return cuStreamWriteValue64(a, b, c, d); });
}
CUresult cuStreamWriteValue64_v2_ptsz(CUstream a, CUdeviceptr b, cuuint64_t c, unsigned d) {
  return per_thread([&] { return cuStreamWriteValue64_v2(a, b, c, d); });
}
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr* a, size_t* b, size_t c,
                                                CUmemLocation* d, size_t* e, size_t f,
                                                unsigned long long g, CUstream h) {
  return per_thread([&] { return cuMemDiscardAndPrefetchBatchAsync(a, b, c, d, e, f, g, h); });
}
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr* a, size_t* b, size_t c, unsigned long long d,
                                     CUstream e) {
  return per_thread([&] { return cuMemDiscardBatchAsync(a, b, c, d, e); });
}
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr* a, size_t* b, size_t c, CUmemLocation* d,
                                      size_t* e, size_t f, unsigned long long g, CUstream h) {
  return per_thread([&] { return cuMemPrefetchBatchAsync(a, b, c, d, e, f, g, h); });
}
CUresult cuMemcpy3DBatchAsync_ptsz(size_t a, CUDA_MEMCPY3D_BATCH_OP* b, size_t* c,
                                   unsigned long long d, CUstream e) {
  return per_thread([&] { return cuMemcpy3DBatchAsync(a, b, c, d, e); });
}
CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t a, CUDA_MEMCPY3D_BATCH_OP* b, unsigned long long c,
                                      CUstream d) {
  return per_thread([&] { return cuMemcpy3DBatchAsync_v2(a, b, c, d); });
}
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr* a, CUdeviceptr* b, size_t* c, size_t d,
                                 CUmemcpyAttributes* e, size_t* f, size_t g, size_t* h,
                                 CUstream i) {
  return per_thread([&] { return cuMemcpyBatchAsync(a, b, c, d, e, f, g, h, i); });
}
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr* a, CUdeviceptr* b, size_t* c, size_t d,
                                    CUmemcpyAttributes* e, size_t* f, size_t g, CUstream h) {
  return per_thread([&] { return cuMemcpyBatchAsync_v2(a, b, c, d, e, f, g, h); });
}
CUresult cuMemcpyAtoA_v2_ptds(CUarray a, size_t b, CUarray c, size_t d, size_t e) {
  return per_thread([&] { return cuMemcpyAtoA_v2(a, b, c, d, e); });
}
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr a, CUarray b, size_t c, size_t d) {
  return per_thread([&] { return cuMemcpyAtoD_v2(a, b, c, d); });
}
CUresult cuMemcpyAtoHAsync_v2_ptsz(void* a, CUarray b, size_t c, size_t d, CUstream e) {
  return per_thread([&] { return cuMemcpyAtoHAsync_v2(a, b, c, d, e); });
}
CUresult cuMemcpyAtoH_v2_ptds(void* a, CUarray b, size_t c, size_t d) {
  return per_thread([&] { return cuMemcpyAtoH_v2(a, b, c, d); });
}
CUresult cuMemcpyDtoA_v2_ptds(CUarray a, size_t b, CUdeviceptr c, size_t d) {
  return per_thread([&] { return cuMemcpyDtoA_v2(a, b, c, d); });
}
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray a, size_t b, const void* c, size_t d, CUstream e) {
  return per_thread([&] { return cuMemcpyHtoAAsync_v2(a, b, c, d, e); });
}
CUresult cuMemcpyHtoA_v2_ptds(CUarray a, size_t b, const void* c, size_t d) {
  return per_thread([&] { return cuMemcpyHtoA_v2(a, b, c, d); });
}

}  // extern "C"
