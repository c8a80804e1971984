// Which instructions touch registers that products of wgmma use: accumulators, and fragments of A.
//
// Found once per function. A register is followed under the number of its place: accumulators that
// the decoder has given one place (decode/accumulators.h) have one number, so that a move between
// them is none. Registers that moves connect with those of products are followed, too, because a
// move passes a value on and does nothing with it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "vm/decode/code.h"

namespace ridge::vm::check {

bool starts_product(const Match& match);

struct Touch {
  enum class How : uint8_t {
    reads,
    writes,
    sets,        // to a constant
    moves,       // from another place
    moves_also,  // and from one more: a move that packs several
  };
  How how = How::reads;
  uint32_t place = 0, from = 0;  // numbers; from: of moves
};

struct ProductPlaces {
  std::vector<uint32_t> d, a;  // a: none where A lies in shared memory
};

class Touches {
 public:
  Touches() = default;
  explicit Touches(const Code& code);

  uint32_t places() const { return places_; }
  // What an instruction that is no product does, reads first.
  std::span<const Touch> of(size_t inst) const {
    if (begins_.empty()) return {};
    return std::span(touches_).subspan(begins_[inst], begins_[inst + 1] - begins_[inst]);
  }
  const ProductPlaces& product(size_t inst) const { return products_.at(inst); }
  bool any() const { return !products_.empty(); }

 private:
  void find_products(const Code& code);
  void join_accumulators(const Code& code);
  void follow_moves(const Code& code);
  void add_touches(const Instruction& source);
  static constexpr uint32_t kNone = ~0u;

  uint32_t places_ = 0;
  std::unordered_map<int32_t, uint32_t> number_;  // by register
  std::vector<uint32_t> begins_;                  // by instruction, and the end
  std::vector<Touch> touches_;
  std::unordered_map<size_t, ProductPlaces> products_;
};

}  // namespace ridge::vm::check
