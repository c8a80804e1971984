#include "model/work.h"

#include <unordered_map>

namespace ridge::model {
namespace {

// Whether what the access of such an op names is lines of memory.
bool is_memory(Op::Kind kind) {
  switch (kind) {
    case Op::Kind::load:
    case Op::Kind::store:
    case Op::Kind::atomic:
    case Op::Kind::reduction:
    case Op::Kind::copy:
    case Op::Kind::bulk_load:
    case Op::Kind::bulk_store: return true;
    default: return false;
  }
}

// Calls `use` with every line that a stream touches.
template <class Use>
void each_line(const Work& work, const std::vector<uint32_t>& stream, Use use) {
  for (size_t at = 0; at < stream.size();) {
    const uint32_t word = stream[at++];
    if (word & kSwitchedOff) continue;
    const Step& step = work.steps[word];
    for (uint32_t k = step.op; k < step.op + step.ops; ++k)
      for (int a = 0; a < work.ops[k].accesses; ++a) {
        const uint32_t lines = stream[at + 1];
        for (uint32_t i = 0; is_memory(work.ops[k].kind) && i < lines; ++i)
          if (stream[at + 3 + 2 * i] >> 28)  // else: bytes of another SM
            use(uint64_t(stream[at + 3 + 2 * i] & 0xfff) << 32 | stream[at + 2 + 2 * i]);
        at += 2 + 2 * lines;
      }
  }
}

}  // namespace

void find_common_lines(Work& work) {
  std::unordered_map<uint64_t, size_t> owner;  // the block that touched a line first
  for (size_t block = 0; block < work.sm.size(); ++block)
    for (const auto& stream : work.sm[block].warps)
      each_line(work, stream, [&](uint64_t line) {
        if (owner.try_emplace(line, block).first->second != block) work.common_lines.insert(line);
      });
}

}  // namespace ridge::model
