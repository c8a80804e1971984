// The program's own text, where it can be read: where a statement fits between two lines, where a
// loop ends, how an update of a place is written as an atomic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ridge::vm::check {

class Source {
 public:
  // Null where there is no such file.
  static std::shared_ptr<const Source> read(const std::string& path);
  explicit Source(std::vector<std::string> lines);

  // Lines (from 1) before which a statement may be put so that it comes behind line `from` and
  // before line `to`, outside all blocks that hold only one of the two. Rising.
  std::vector<uint32_t> places_between(uint32_t from, uint32_t to) const;
  // The line with the brace that ends the innermost loop around both lines; 0: there is none.
  uint32_t end_of_loop(uint32_t a, uint32_t b) const;

  struct Rewrite {
    std::string from, to;
  };
  // `h[in[i]]++` as `atomicAdd(&h[in[i]], 1)`, and `if (*p < v) *p = v;` as `atomicMax(p, v);`.
  std::optional<Rewrite> as_atomic(uint32_t line, const std::string& atomic) const;
  // `d[i] = x;` as `const auto value = x; __syncthreads(); d[i] = value;`.
  std::optional<Rewrite> read_then_write(uint32_t line, const std::string& barrier) const;

 private:
  struct Line {
    std::string code;                  // without comments, and without what stands in quotes
    uint32_t depth = 0, brackets = 0;  // of braces and of parentheses, where it begins
    bool directive = false;            // #if …
  };
  struct Loop {
    uint32_t header = 0, end = 0;
  };
  std::vector<Line> lines_;
  std::vector<Loop> loops_;
};

}  // namespace ridge::vm::check
