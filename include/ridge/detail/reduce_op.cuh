// What is reduced, apart from how: an operator is a struct of up to five functions, and every
// reduction of Ridge (of a vector, along an axis, by segments) takes any of them, a user's too.
//
//   struct LargestDistance {  // of any element from `centre`
//     float centre;
//     __device__ float identity() const { return 0; }                    // combines to nothing
//     __device__ float transform(float x) const { return fabsf(x - centre); }
//     __device__ float combine(float a, float b) const { return fmaxf(a, b); }
//     __device__ float finish(float a) const { return a; }
//   };
//
// - Elements of f32, f16 and bf16 come as float, others as they are. Where there are two inputs,
//   transform takes an element of each. It may take the element's index (int64_t) behind them.
// - What identity returns is carried along: any trivially copyable struct. combine must be
//   associative and commutative, as far as rounding goes.
// - finish may take the number of elements (int64_t) as well. What it returns is rounded to the
//   output's format.
// - accumulate(carried, elements[N], index of the first) is optional: what a thread does with
//   elements in a row. It meets them in ascending order. Without it, they are combined as a tree.
// - combine_warp(carried, lanes) is optional: the total of what the lanes of a warp that are in the
//   mask carry, in all of them. Without it, they are combined as a tree.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace ridge::reduction {

template <class Op>
using AccOf = decltype(std::declval<const Op&>().identity());

// Formats as operators see them.
template <class T>
__device__ __forceinline__ auto element(T x) {
  if constexpr (std::is_same_v<T, __half>) return __half2float(x);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>) return __bfloat162float(x);
  else return x;
}
template <class T>
using ElementOf =
    std::conditional_t<std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, float, T>;

// What an operator has of what is optional.
template <class Op, class... E>
using TransformedByIndex =
    decltype(std::declval<const Op&>().transform(std::declval<E>()..., int64_t()));
template <class Op>
using FinishedByCount =
    decltype(std::declval<const Op&>().finish(std::declval<AccOf<Op>>(), int64_t()));
template <class Op, class Elements>
using Accumulated = decltype(std::declval<const Op&>().accumulate(
    std::declval<AccOf<Op>&>(), std::declval<const Elements&>(), int64_t()));

template <class Op>
using CombinedByWarp =
    decltype(std::declval<const Op&>().combine_warp(std::declval<AccOf<Op>>(), 0u));

template <template <class...> class Expression, class Void, class... A>
struct IsValid : std::false_type {};
template <template <class...> class Expression, class... A>
struct IsValid<Expression, std::void_t<Expression<A...>>, A...> : std::true_type {};

template <class Op, class... E>
constexpr bool kTakesIndex = IsValid<TransformedByIndex, void, Op, E...>::value;
template <class Op>
constexpr bool kTakesCount = IsValid<FinishedByCount, void, Op>::value;
template <class Op, class E, int N>
constexpr bool kAccumulates = IsValid<Accumulated, void, Op, E[N]>::value;
template <class Op>
constexpr bool kCombinesWarp = IsValid<CombinedByWarp, void, Op>::value;

template <class Op, class... E>
__device__ __forceinline__ AccOf<Op> transformed(const Op& op, int64_t index, E... elements) {
  if constexpr (kTakesIndex<Op, E...>) return op.transform(elements..., index);
  else return op.transform(elements...);
}

template <class Out, class Op>
__device__ __forceinline__ Out finished(const Op& op, AccOf<Op> acc, int64_t count) {
  const auto result = [&] {
    if constexpr (kTakesCount<Op>) return op.finish(acc, count);
    else return op.finish(acc);
  }();
  if constexpr (std::is_same_v<Out, __half>) return __float2half_rn(float(result));
  else if constexpr (std::is_same_v<Out, __nv_bfloat16>) return __float2bfloat16_rn(float(result));
  else return Out(result);
}

}  // namespace ridge::reduction
