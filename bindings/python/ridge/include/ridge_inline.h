// How ridge.load_inline calls the functions of a user's CUDA source: from Python's arguments to
// those of a kernel or of a host function, by the types of its parameters. The source is compiled
// with this header behind it.
//
//   parameter                argument
//   T*, const T*             an array whose elements are T; const: it is only read. void*: any
//   ridge::Tensor            an array, with its shape and strides (ridge/tensor.h)
//   a number or bool         a number
//   cudaStream_t             none: the stream that the arrays' library works on
//
// A host function may return nothing, a number, or a cudaError_t, which becomes an exception.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ridge/tensor.h"

namespace ridge::inlined {

struct Argument {
  enum class Kind : std::int32_t { tensor, integer, number } kind;
  const Tensor* tensor;
  std::int64_t integer;
  double number;
};

struct Call {
  const Argument* arguments;
  std::int32_t count;
  cudaStream_t stream;
  unsigned grid[3], block[3];  // of a kernel
  std::size_t shared_bytes;
  char why[256];  // what is wrong with an argument
  enum class Result : std::int32_t { none, integer, number } result;
  std::int64_t integer;
  double number;
};
constexpr int kWrongArgument = -1;  // otherwise a function returns a cudaError_t

// One letter per parameter: an array that is read (r) or written (w), a number (n); nothing for a
// stream.
template <class P>
constexpr char letter() {
  using T = std::remove_cv_t<std::remove_reference_t<P>>;
  if constexpr (std::is_same_v<T, cudaStream_t>) return 0;
  else if constexpr (std::is_pointer_v<T>)
    return std::is_const_v<std::remove_pointer_t<T>> ? 'r' : 'w';
  else if constexpr (std::is_same_v<T, Tensor>) return 'w';
  else return 'n';
}
template <class... P>
constexpr auto letters(void (*)(P...)) {
  std::array<char, sizeof...(P) + 1> text = {};
  std::size_t at = 0;
  for (const char c : {letter<P>()..., char(0)})
    if (c) text[at++] = c;
  return text;
}
template <class R, class... P>
constexpr auto letters(R (*)(P...)) {
  return letters(static_cast<void (*)(P...)>(nullptr));
}

template <class T>
constexpr int format() {
  if (std::is_same_v<T, float>) return int(Dtype::f32);
  if (std::is_same_v<T, double>) return int(Dtype::f64);
  if (std::is_same_v<T, __half>) return int(Dtype::f16);
  if (std::is_same_v<T, __nv_bfloat16>) return int(Dtype::bf16);
  if (std::is_same_v<T, bool>) return int(Dtype::u8);
  if (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 8   ? int(Dtype::i64)
           : sizeof(T) == 4 ? int(Dtype::i32)
           : sizeof(T) == 1 ? int(Dtype::i8)
                            : -1;
  if (std::is_integral_v<T>)
    return sizeof(T) == 4 ? int(Dtype::u32) : sizeof(T) == 1 ? int(Dtype::u8) : -1;
  return -1;  // a structure of the user's: any array
}

// One argument as a parameter's type; false with call.why.
template <class T>
bool take(Call& call, int& at, T& value) {
  if constexpr (std::is_same_v<T, cudaStream_t>) {
    value = call.stream;
    return true;
  } else {
    const int number = at++;
    const Argument& from = call.arguments[number];
    const auto wrong = [&](const char* is, const char* wanted) {
      std::snprintf(call.why, sizeof call.why, "argument %d is %s; it has to be %s", number + 1, is,
                    wanted);
      return false;
    };
    if constexpr (std::is_same_v<T, Tensor>) {
      value = *from.tensor;
      return true;
    } else if constexpr (std::is_pointer_v<T>) {
      using Element = std::remove_cv_t<std::remove_pointer_t<T>>;
      constexpr int wanted = format<Element>();
      const Dtype is = from.tensor->dtype;
      if (wanted >= 0 && int(is) != wanted) return wrong(name_of(is), name_of(Dtype(wanted)));
      value = static_cast<T>(from.tensor->data);
      return true;
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      if (from.kind != Argument::Kind::integer) return wrong("not a whole number", "one");
      value = static_cast<T>(from.integer);
      if (std::int64_t(value) != from.integer && sizeof(T) < 8)
        return wrong("a number that the parameter's type does not hold", "smaller");
      return true;
    } else {
      static_assert(
          std::is_floating_point_v<T> || std::is_same_v<T, __half> ||
              std::is_same_v<T, __nv_bfloat16>,
          "load_inline knows arrays (T*, ridge::Tensor), numbers and cudaStream_t as parameters");
      value = T(float(0));
      if constexpr (std::is_floating_point_v<T>) value = T(from.number);
      else value = T(float(from.number));
      return true;
    }
  }
}

template <class... P>
using Values = std::tuple<std::remove_cv_t<std::remove_reference_t<P>>...>;

template <class... P, std::size_t... I>
bool take_all(Call& call, Values<P...>& values, std::index_sequence<I...>) {
  constexpr int wanted = (0 + ... + int(letter<P>() != 0));
  if (call.count != wanted) {
    std::snprintf(call.why, sizeof call.why, "%d arguments were given; it has %d", call.count,
                  wanted);
    return false;
  }
  int at = 0;
  return (take(call, at, std::get<I>(values)) && ...);
}

template <class... P, std::size_t... I>
int launch(void (*kernel)(P...), Call& call, std::index_sequence<I...> all) {
  Values<P...> values;
  if (!take_all<P...>(call, values, all)) return kWrongArgument;
  void* pointers[] = {&std::get<I>(values)..., nullptr};
  return cudaLaunchKernel(
      reinterpret_cast<const void*>(kernel), {call.grid[0], call.grid[1], call.grid[2]},
      {call.block[0], call.block[1], call.block[2]}, pointers, call.shared_bytes, call.stream);
}
template <class... P>
int launch(void (*kernel)(P...), Call& call) {
  return launch(kernel, call, std::index_sequence_for<P...>());
}

template <class R, class... P, std::size_t... I>
int run(R (*function)(P...), Call& call, std::index_sequence<I...> all) {
  Values<P...> values;
  if (!take_all<P...>(call, values, all)) return kWrongArgument;
  call.result = Call::Result::none;
  if constexpr (std::is_void_v<R>) {
    function(std::get<I>(values)...);
  } else {
    const R result = function(std::get<I>(values)...);
    if constexpr (std::is_same_v<R, cudaError_t>) {
      if (result != cudaSuccess) return result;
    } else if constexpr (std::is_integral_v<R>) {
      call.result = Call::Result::integer;
      call.integer = std::int64_t(result);
    } else {
      static_assert(std::is_floating_point_v<R>,
                    "a function of load_inline returns nothing, a number or a cudaError_t");
      call.result = Call::Result::number;
      call.number = double(result);
    }
  }
  return cudaPeekAtLastError();
}
template <class R, class... P>
int run(R (*function)(P...), Call& call) {
  return run(function, call, std::index_sequence_for<P...>());
}

}  // namespace ridge::inlined
