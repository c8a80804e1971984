// Defines an entry point for programs whose default stream is each thread's own (_ptsz, _ptds) in
// one line, from its plain namesake: the toolkit's header says what that takes and returns.
#pragma once

#include <cstddef>
#include <tuple>

#include "vm/cudart/streams.h"

namespace ridge::vm::cudart {

template <class Function>
struct ParametersOf;
template <class Result, class... Parameters>
struct ParametersOf<Result(Parameters...)> {
  using Types = std::tuple<Parameters...>;
};
template <class Function, size_t kIndex>
using Parameter = std::tuple_element_t<kIndex, typename ParametersOf<Function>::Types>;

}  // namespace ridge::vm::cudart

// Parameters by number: "Parameter<decltype(f), 0> a0, Parameter<decltype(f), 1> a1 …", "a0, a1 …".
#define RIDGE_PARAMETER(f, index) ridge::vm::cudart::Parameter<decltype(f), index> a##index
#define RIDGE_PARAMETERS_1(f) RIDGE_PARAMETER(f, 0)
#define RIDGE_PARAMETERS_2(f) RIDGE_PARAMETERS_1(f), RIDGE_PARAMETER(f, 1)
#define RIDGE_PARAMETERS_3(f) RIDGE_PARAMETERS_2(f), RIDGE_PARAMETER(f, 2)
#define RIDGE_PARAMETERS_4(f) RIDGE_PARAMETERS_3(f), RIDGE_PARAMETER(f, 3)
#define RIDGE_PARAMETERS_5(f) RIDGE_PARAMETERS_4(f), RIDGE_PARAMETER(f, 4)
#define RIDGE_PARAMETERS_6(f) RIDGE_PARAMETERS_5(f), RIDGE_PARAMETER(f, 5)
#define RIDGE_PARAMETERS_7(f) RIDGE_PARAMETERS_6(f), RIDGE_PARAMETER(f, 6)
#define RIDGE_PARAMETERS_8(f) RIDGE_PARAMETERS_7(f), RIDGE_PARAMETER(f, 7)
#define RIDGE_PARAMETERS_9(f) RIDGE_PARAMETERS_8(f), RIDGE_PARAMETER(f, 8)
#define RIDGE_PARAMETERS_10(f) RIDGE_PARAMETERS_9(f), RIDGE_PARAMETER(f, 9)
#define RIDGE_PARAMETERS_11(f) RIDGE_PARAMETERS_10(f), RIDGE_PARAMETER(f, 10)
#define RIDGE_ARGUMENTS_1 a0
#define RIDGE_ARGUMENTS_2 RIDGE_ARGUMENTS_1, a1
#define RIDGE_ARGUMENTS_3 RIDGE_ARGUMENTS_2, a2
#define RIDGE_ARGUMENTS_4 RIDGE_ARGUMENTS_3, a3
#define RIDGE_ARGUMENTS_5 RIDGE_ARGUMENTS_4, a4
#define RIDGE_ARGUMENTS_6 RIDGE_ARGUMENTS_5, a5
#define RIDGE_ARGUMENTS_7 RIDGE_ARGUMENTS_6, a6
#define RIDGE_ARGUMENTS_8 RIDGE_ARGUMENTS_7, a7
#define RIDGE_ARGUMENTS_9 RIDGE_ARGUMENTS_8, a8
#define RIDGE_ARGUMENTS_10 RIDGE_ARGUMENTS_9, a9
#define RIDGE_ARGUMENTS_11 RIDGE_ARGUMENTS_10, a10

// `count` is how many parameters `name` takes: another number does not compile.
#define RIDGE_PER_THREAD(name, suffix, count)                                                     \
  auto name##_##suffix(RIDGE_PARAMETERS_##count(name))->decltype(name(RIDGE_ARGUMENTS_##count)) { \
    const ridge::vm::cudart::PerThreadDefault scope;                                              \
    return name(RIDGE_ARGUMENTS_##count);                                                         \
  }
