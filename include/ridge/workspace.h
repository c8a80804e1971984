// Device memory that an operator works in. Every function that takes one can also say how much it
// needs:
//
//   std::size_t bytes = 0;
//   ridge::sum(x, out, ridge::Workspace::ask(bytes));    // checks everything, launches nothing
//   …                                                     // get that much device memory
//   ridge::sum(x, out, {memory, bytes}, stream);
//
// The memory is aligned to 16 bytes and may contain anything. Two calls that may run at the same
// time need a workspace each. How much a call needs depends on its tensors and on the current
// device, and may be nothing.
#pragma once

#include <cstddef>

namespace ridge {

struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::size_t* wanted = nullptr;  // where a call writes how much it takes, instead of running

  static Workspace ask(std::size_t& wanted) { return {nullptr, 0, &wanted}; }
};

}  // namespace ridge
