// Where arrays have to be for the device to reach them. On the software GPU, which runs in this
// process, arrays in host memory stay where they are: their memory is registered for the time of
// the call. On a GPU they are copied to the device and back.
#pragma once

#include <vector>

#include "library.h"

namespace ridge::python {

class Placed {
 public:
  explicit Placed(const Library& library) : library_(library) {}
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  ~Placed();

  void add(RidgeTensor& tensor, bool read, bool written);
  // After all have been added: their `data` becomes what the device reaches.
  void place(const char* name);
  // After the device is done.
  void copy_back(const char* name);

 private:
  struct Range {
    char* from;
    char* to;  // behind the last byte
    bool read, written;
    char* device = nullptr;
    bool registered = false;
  };
  struct Moved {
    RidgeTensor* tensor;
    char* first;
  };
  void merge();

  const Library& library_;
  std::vector<Range> ranges_;
  std::vector<Moved> moved_;
};

// Device memory that calls on host memory work in, kept from call to call. Only for whoever holds
// `device_in_use`.
void* scratch(const Library& library, std::size_t bytes, const char* name);
void forget_scratch();

// Throws what a failing call of the runtime says. After a fault of a kernel, the text is that of
// the finding, and the software GPU is reset, so that the process can go on.
[[noreturn]] void throw_error(const Library& library, int error, const std::string& doing,
                              void* log_begin);
void check(const Library& library, int error, const std::string& doing);
void* log_position(const Library& library);

}  // namespace ridge::python
