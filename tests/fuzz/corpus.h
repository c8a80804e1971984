// The PTX that nvcc put into our own programs: what fuzzers start from, and what the printer's test
// reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ridge::fuzz {

struct Corpus {
  std::vector<std::string> containers;  // fat binaries, as they lie in the programs
  std::vector<std::string> ptx;         // each text once
};

// Of every ELF file in the folder and below.
Corpus corpus_of(const std::filesystem::path& folder);

}  // namespace ridge::fuzz
