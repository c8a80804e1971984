// What the fuzzers call: each takes any bytes at all and must come back, with nothing leaked.
#pragma once

#include <span>
#include <string_view>

namespace ridge::fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};

// fatbin: a container, its images unpacked. parse: PTX text, every body. print: the same, and
// what is printed of it reads as the same module. link: PTX texts with a
// zero byte between them, linked and parsed. load: PTX text placed in memory, every kernel decoded.
std::span<const Target> targets();

// Without a sanitizer a target that reads too far may get away with it: give it a copy that ends
// where its memory does.
void run(const Target& target, std::string_view bytes);

}  // namespace ridge::fuzz
