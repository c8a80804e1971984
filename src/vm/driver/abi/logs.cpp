// The log: the runtime's.
#include "vm/driver/result.h"

using namespace ridge::vm::driver;

extern "C" {

CUresult cuLogsCurrent(CUlogIterator* iterator, unsigned flags) {
  return driver_call([&] { return cudaLogsCurrent(iterator, flags); });
}
CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned flags) {
  return driver_call([&] { return cudaLogsDumpToFile(iterator, path, flags); });
}
CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned flags) {
  return driver_call([&] { return cudaLogsDumpToMemory(iterator, buffer, size, flags); });
}
CUresult cuLogsRegisterCallback(CUlogsCallback function, void* data, CUlogsCallbackHandle* handle) {
  return driver_call([&] {
    return cudaLogsRegisterCallback(reinterpret_cast<cudaLogsCallback_t>(function), data, handle);
  });
}
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return driver_call([&] { return cudaLogsUnregisterCallback(handle); });
}

}  // extern "C"
