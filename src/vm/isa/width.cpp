// The decoder's helpers: registers of another width than an instruction works on, packing, uniform
// parameter loads.
#include "vm/isa/internal.h"
#include "vm/isa/load_store.h"

namespace ridge::vm::internal {
namespace {

template <class From, class To, bool Full>
const Inst* resize_lanes(Warp& w, const Inst* inst) {
  const From* a = w.src<From>(inst->a);
  each_lane<Full>(w.reg<To>(inst->d), w.mask, [&](int i) { return To(a[i]); });
  return inst + 1;
}
template <class From, class To>
constexpr Handlers resized() {
  return {resize_lanes<From, To, true>, resize_lanes<From, To, false>};
}

template <class Whole, class Part, int N, bool Full>
const Inst* pack_lanes(Warp& w, const Inst* inst) {
  const Part* p[4] = {w.src<Part>(inst->a), w.src<Part>(inst->b)};
  if constexpr (N == 4) {
    p[2] = w.src<Part>(inst->c);
    p[3] = w.src<Part>(wide(inst).x[0]);
  }
  each_lane<Full>(w.reg<Whole>(inst->d), w.mask, [&](int i) {
    Whole value = 0;
    for (int k = 0; k < N; ++k) value |= Whole(p[k][i]) << (8 * sizeof(Part) * k);
    return value;
  });
  return inst + 2;
}
template <class Whole, class Part, int N, bool Full>
const Inst* unpack_lanes(Warp& w, const Inst* inst) {
  const Whole* a = w.src<Whole>(inst->a);
  for (int k = 0; k < N; ++k) {
    const uint32_t d = k == 0 ? inst->d : wide(inst).x[k - 1];
    if (d == kNoOperand) continue;
    each_lane<Full>(w.reg<Part>(d), w.mask,
                    [&](int i) { return Part(a[i] >> (8 * sizeof(Part) * k)); });
  }
  return inst + 2;
}

template <class Whole, class Part, int N>
constexpr Handlers packed() {
  return {pack_lanes<Whole, Part, N, true>, pack_lanes<Whole, Part, N, false>, true};
}
template <class Whole, class Part, int N>
constexpr Handlers unpacked() {
  return {unpack_lanes<Whole, Part, N, true>, unpack_lanes<Whole, Part, N, false>, true};
}

// Bytes pair up in one 16-bit register (mov.b16 {b8, b8}): the lanes hold 16 bits, the parts
// count 8.
template <bool Full>
const Inst* pack_bytes(Warp& w, const Inst* inst) {
  const uint16_t *a = w.src<uint16_t>(inst->a), *b = w.src<uint16_t>(inst->b);
  each_lane<Full>(w.reg<uint16_t>(inst->d), w.mask,
                  [&](int i) { return uint16_t((a[i] & 0xff) | b[i] << 8); });
  return inst + 2;
}

template <bool Full>
const Inst* pack_four_bytes(Warp& w, const Inst* inst) {
  const uint16_t *a = w.src<uint16_t>(inst->a), *b = w.src<uint16_t>(inst->b),
                 *c = w.src<uint16_t>(inst->c), *e = w.src<uint16_t>(wide(inst).x[0]);
  each_lane<Full>(w.reg<uint32_t>(inst->d), w.mask, [&](int i) {
    return (a[i] & 0xffu) | (b[i] & 0xffu) << 8 | (c[i] & 0xffu) << 16 | uint32_t(e[i]) << 24;
  });
  return inst + 2;
}
template <class Whole, bool Full>
const Inst* unpack_bytes(Warp& w, const Inst* inst) {
  const Whole* a = w.src<Whole>(inst->a);
  for (int k = 0; k < int(sizeof(Whole)); ++k)
    each_lane<Full>(w.reg<uint16_t>(k == 0 ? inst->d : wide(inst).x[k - 1]), w.mask,
                    [&](int i) { return uint16_t(a[i] >> 8 * k & 0xff); });
  return inst + 2;
}

template <class M, int V, bool Full>
const Inst* load_uniform(Warp& w, const Inst* inst) {
  const auto value = load_as<Elements<M, V>>(w.params + inst->b);
  for (int k = 0; k < V; ++k)
    each_lane<Full>(w.reg<RegisterOf<M>>(data_register(inst, k)), w.mask,
                    [&](int) { return RegisterOf<M>(value.e[k]); });
  return after<V>(inst);
}
template <class M>
Handlers uniform(int elements) {
  switch (elements) {
    case 1: return {load_uniform<M, 1, true>, load_uniform<M, 1, false>};
    case 2: return {load_uniform<M, 2, true>, load_uniform<M, 2, false>, true};
    case 4: return {load_uniform<M, 4, true>, load_uniform<M, 4, false>, true};
    default: return {};
  }
}

const Inst* local_address(Warp& w, const Inst* inst) {
  const uint64_t address = inst->b + w.frame->local_base;
  each_lane<false>(w.reg<uint64_t>(inst->d), w.mask, [&](int) { return address; });
  return inst + 1;
}

}  // namespace

Handlers resize(int from, int to, bool is_signed) {
  switch (from * 16 + to) {
    case 0x24: return is_signed ? resized<int16_t, int32_t>() : resized<uint16_t, uint32_t>();
    case 0x28: return is_signed ? resized<int16_t, int64_t>() : resized<uint16_t, uint64_t>();
    case 0x48: return is_signed ? resized<int32_t, int64_t>() : resized<uint32_t, uint64_t>();
    case 0x42: return resized<uint32_t, uint16_t>();
    case 0x82: return resized<uint64_t, uint16_t>();
    case 0x84: return resized<uint64_t, uint32_t>();
    default: return {};
  }
}

Handlers pack(int whole, int parts) {
  if (whole == 2 && parts == 2) return {pack_bytes<true>, pack_bytes<false>, true};
  if (whole == 4 && parts == 4) return {pack_four_bytes<true>, pack_four_bytes<false>, true};
  if (whole == 4 && parts == 2) return packed<uint32_t, uint16_t, 2>();
  if (whole == 8 && parts == 2) return packed<uint64_t, uint32_t, 2>();
  if (whole == 8 && parts == 4) return packed<uint64_t, uint16_t, 4>();
  return {};
}
Handlers unpack(int whole, int parts) {
  if (whole == 2 && parts == 2)
    return {unpack_bytes<uint16_t, true>, unpack_bytes<uint16_t, false>, true};
  if (whole == 4 && parts == 4)
    return {unpack_bytes<uint32_t, true>, unpack_bytes<uint32_t, false>, true};
  if (whole == 4 && parts == 2) return unpacked<uint32_t, uint16_t, 2>();
  if (whole == 8 && parts == 2) return unpacked<uint64_t, uint32_t, 2>();
  if (whole == 8 && parts == 4) return unpacked<uint64_t, uint16_t, 4>();
  return {};
}

Handlers load_param(Type type, int elements) {
  switch (type) {
    case Type::s8: return uniform<int8_t>(elements);
    case Type::b8:
    case Type::u8: return uniform<uint8_t>(elements);
    default: break;
  }
  switch (size_of(type)) {
    case 2: return uniform<uint16_t>(elements);
    case 4: return uniform<uint32_t>(elements);
    case 8: return uniform<uint64_t>(elements);
    default: return {};
  }
}

const Handlers kLocalAddress = {local_address, local_address};

}  // namespace ridge::vm::internal
