// Seeded changes to an input, of the kinds that fuzzers make: the bounded run's stand-in for
// libFuzzer, which needs clang.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace ridge::fuzz {

// The words of a libFuzzer dictionary, one quoted string per line.
std::vector<std::string> read_dictionary(const std::filesystem::path& file);

class Mutator {
 public:
  Mutator(uint64_t seed, std::vector<std::string> words)
      : random_(seed), words_(std::move(words)) {}

  // One to four changes; `other` is what a piece may be taken from.
  std::string change(std::string input, const std::string& other);
  size_t below(size_t end);  // 0 ≤ result < end; end > 0

 private:
  void change_once(std::string& input, const std::string& other);

  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

}  // namespace ridge::fuzz
