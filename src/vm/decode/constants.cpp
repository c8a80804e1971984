// The constants of blocks of another rank than 0: addresses of shared memory have the rank in them.
#include <algorithm>
#include <cstring>
#include <new>

#include "vm/decode/code.h"

namespace ridge::vm {
namespace {

constexpr std::align_val_t kAlign{64};

void release(const uint8_t* made) { operator delete[](const_cast<uint8_t*>(made), kAlign); }

}  // namespace

Code::~Code() {
  for (const auto& made : ranked_constants) release(made.load());
}

const uint8_t* Code::make_constants(uint32_t rank) const {
  const size_t size = size_t(constant_storage.data() + constant_storage.size() - constants);
  uint8_t* made = new (kAlign) uint8_t[size];
  std::copy(constants, constants + size, made);
  for (const SharedConstant& c : shared_constants)
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint8_t* place = made + c.offset + uint32_t(lane) * c.bytes;
      uint64_t value = 0;
      std::memcpy(&value, place, c.bytes);
      value += uint64_t(rank) << kRankShift;
      std::memcpy(place, &value, c.bytes);
    }
  const uint8_t* first = nullptr;
  if (ranked_constants[rank].compare_exchange_strong(first, made)) return made;
  release(made);  // another worker was faster
  return first;
}

}  // namespace ridge::vm
