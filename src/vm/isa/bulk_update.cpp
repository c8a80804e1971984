#include "vm/isa/bulk_update.h"

#include "vm/isa/atomic_ops.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

// Unlike those of atom, additions of f32 keep subnormals, and a NaN in memory stays as it is.
struct AddFloat {
  float operator()(float old, float b, float) const { return Add::sum(old, b); }
  double operator()(double old, double b, double) const {
    return old != old ? old : b != b ? b : old + b;
  }
};

template <class T, class Op>
void reduce(void* to, const void* from, uint32_t bytes) {
  const auto at = reinterpret_cast<uint64_t>(to);
  for (uint32_t k = 0; k < bytes; k += sizeof(T)) {
    const T value = load_as<T>(static_cast<const uint8_t*>(from) + k);
    update_global<T, Op>(at + k, value, value);
  }
}

template <class T>
BulkUpdate integer_update(Operation operation) {
  switch (operation) {
    case Operation::add: return reduce<T, Add>;
    case Operation::min: return reduce<T, Min>;
    case Operation::max: return reduce<T, Max>;
    case Operation::inc: return reduce<T, Inc>;
    case Operation::dec: return reduce<T, Dec>;
    case Operation::bit_and: return reduce<T, And>;
    case Operation::bit_or: return reduce<T, Or>;
    case Operation::bit_xor: return reduce<T, Xor>;
    default: return nullptr;
  }
}
template <bool Brain16>
BulkUpdate half_update(Operation operation) {
  switch (operation) {
    case Operation::add: return reduce<uint16_t, AddHalf<Brain16>>;
    case Operation::min: return reduce<uint16_t, MinMaxHalf<Brain16, false>>;
    case Operation::max: return reduce<uint16_t, MinMaxHalf<Brain16, true>>;
    default: return nullptr;
  }
}

}  // namespace

BulkUpdate bulk_update(Operation operation, Type type, bool flushes) {
  const bool adds = operation == Operation::add;
  switch (type) {
    case Type::u32:
    case Type::b32: return integer_update<uint32_t>(operation);
    case Type::u64:
    case Type::b64: return integer_update<uint64_t>(operation);
    case Type::s32: return integer_update<int32_t>(operation);
    case Type::s64: return integer_update<int64_t>(operation);
    case Type::f32: return !adds ? nullptr : flushes ? reduce<float, Add> : reduce<float, AddFloat>;
    case Type::f64: return adds ? reduce<double, AddFloat> : nullptr;
    case Type::f16: return half_update<false>(operation);
    case Type::bf16: return half_update<true>(operation);
    default: return nullptr;
  }
}

}  // namespace ridge::vm
