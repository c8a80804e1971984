// All operators and families, and where their kernels are. Descriptions are part of the library
// itself. The kernels of a family are a library of their own, which is loaded when it is first
// needed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "operator/call.h"
#include "operator/description.h"

namespace ridge {

class Ladder;

struct ListedRung {
  std::string name, idea;
};
struct FamilyInfo {
  std::string name;
  std::vector<ListedRung> rungs;    // as in ladder.def, slowest idea first
  std::vector<std::string> rivals;  // libraries that its rivals come from: "cub", "cublas"
  std::vector<const OperatorDef*> operators;
};

std::span<const FamilyInfo> all_families();  // in the order of families.def
std::span<const OperatorDef* const> all_operators();

// Finds an operator by its name, by a name that it had before, or by the name of its family, which
// means the first operator of the family.
const OperatorDef* find_operator(std::string_view name);
const FamilyInfo* find_family(std::string_view name);

// The family's ladder, loaded. An error says what is missing.
Expected<const Ladder*> load_family(const std::string& family);

// A call of another operator with the same tensors and parameters, as far as it has those names.
Call handed_over(std::string_view op, const Call& call);

// What a family's library exports: const Ladder* ridge_family().
constexpr const char* kFamilySymbol = "ridge_family";
// The file of a family's library, beside the library that holds this function.
std::string family_library(const std::string& family);
// The file of its rivals, which need not exist: rivals are built on machines with a GPU
// (harness/contestant.h).
std::string rivals_library(const std::string& family);

// Reports a description or a case that makes no sense, and ends the process.
[[noreturn]] void fail_at_start(const std::string& where, const std::string& what);

}  // namespace ridge
