// The instructions that statements are made of, one row per family of spellings. Not taken from the
// instruction tables: those grow, and a seed must always mean the same program.
#pragma once

#include <span>
#include <string_view>

namespace ridge::differential {

// Spelling: [a|b] one of them, {a|b} one of them or none.
// Operands: one letter per register of that pool (pools.h), the destination first; a lower-case
// source may also be an immediate unless '!' follows. "r|p" may have a second destination, "r&p"
// has one. "#8" is an immediate below 2^8; "~p" a predicate, perhaps negated.
struct Row {
  std::string_view spelling;
  std::string_view operands;
};

std::span<const Row> rows();

}  // namespace ridge::differential
