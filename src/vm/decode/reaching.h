// Which write a read sees, across basic blocks.
#pragma once

#include <map>
#include <vector>

#include "vm/decode/flow.h"

namespace ridge::vm {

// A *web* is a set of writes to a register that some reads cannot tell apart. Compilers rename
// registers by webs, so that one with a single write is as good as a register written once.
class Reaching {
 public:
  static constexpr uint32_t kNone = ~0u;

  Reaching(const std::vector<Item>& items, const std::vector<std::vector<uint32_t>>& tables)
      : items_(items), tables_(tables) {}

  // The item whose write of `reg` is what `reader` reads, alone in its web; else kNone.
  uint32_t only_write(int32_t reg, uint32_t reader);

 private:
  using Set = std::vector<bool>;  // writes of one register, by their order
  void find_blocks();
  std::vector<uint32_t> successors(uint32_t block) const;
  const std::map<uint32_t, uint32_t>& writes_of(int32_t reg);

  const std::vector<Item>& items_;
  const std::vector<std::vector<uint32_t>>& tables_;
  std::vector<uint32_t> begins_;                           // of each block; the last is the end
  std::vector<uint32_t> block_of_;                         // by item
  std::map<int32_t, std::map<uint32_t, uint32_t>> known_;  // by register: reader to only write
};

}  // namespace ridge::vm
