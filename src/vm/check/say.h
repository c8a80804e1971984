// Text from parts.
#pragma once

#include <sstream>
#include <string>

namespace ridge::vm::check {

template <class... T>
std::string say(const T&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace ridge::vm::check
