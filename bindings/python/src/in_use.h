// Calls on host memory: one at a time, without Python's lock.
#pragma once

#include <Python.h>

#include <mutex>

namespace ridge::python {

// Host memory is shown to the device for one call at a time, and the workspace is shared.
inline std::mutex& device_in_use() {
  static std::mutex one;
  return one;
}

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace ridge::python
