// What to add to the command line when nvcc refuses a program for want of a flag.
#pragma once

#include <filesystem>
#include <string>

namespace ridge::tools {

struct Refusal {
  std::string output;            // nvcc's words
  std::string flags;             // what --nvcc already says
  std::filesystem::path source;  // headers are looked for around it
};

// One sentence with the flags to add: `…: --nvcc "-rdc=true"`. Empty: no flag that we know of
// helps.
std::string nvcc_hint(const Refusal& refusal);

}  // namespace ridge::tools
