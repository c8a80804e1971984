#include "mutate.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ridge::fuzz {
namespace {

constexpr size_t kLongestPiece = 256;

// A hexadecimal, octal or decimal edge: what sizes, counts and offsets go wrong at.
constexpr const char* kNumbers[] = {"0",          "-1",         "1",
                                    "255",        "65536",      "2147483648",
                                    "4294967295", "4294967296", "18446744073709551615",
                                    "0xffffffff", "1e999",      "99999999999999999999"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::vector<std::string> read_dictionary(const std::filesystem::path& file) {
  std::vector<std::string> words;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const size_t open = line.find('"'), close = line.rfind('"');
    if (line.starts_with('#') || open == close) continue;
    std::string word;
    for (size_t i = open + 1; i < close; ++i) word += line[i] == '\\' ? line[++i] : line[i];
    words.push_back(word);
  }
  return words;
}

size_t Mutator::below(size_t end) { return random_() % end; }

void Mutator::change_once(std::string& input, const std::string& other) {
  const size_t at = below(input.size() + 1);
  const size_t length = std::min(below(kLongestPiece) + 1, input.size() - at);
  const auto piece_of = [&](const std::string& text) {
    return text.empty() ? std::string() : text.substr(below(text.size()), below(kLongestPiece));
  };
  switch (below(9)) {
    case 0:
      if (at < input.size()) input[at] = char(input[at] ^ (1 << below(8)));
      return;
    case 1:
      if (at < input.size()) input[at] = char(below(256));
      return;
    case 2: input.erase(at, length); return;
    case 3: input.insert(at, input.substr(at, length)); return;
    case 4: input.insert(at, piece_of(other)); return;
    case 5: input.replace(at, length, piece_of(input)); return;
    case 6: input.resize(at); return;
    case 7:
      if (!words_.empty()) input.insert(at, words_[below(words_.size())]);
      return;
    default: {  // the next number
      const auto from = std::find_if(input.begin() + ptrdiff_t(at), input.end(), is_digit);
      const auto to = std::find_if_not(from, input.end(), is_digit);
      input.replace(from, to, kNumbers[below(std::size(kNumbers))]);
    }
  }
}

std::string Mutator::change(std::string input, const std::string& other) {
  for (size_t n = below(4) + 1; n > 0; --n) change_once(input, other);
  return input;
}

}  // namespace ridge::fuzz
