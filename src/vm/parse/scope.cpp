#include "vm/parse/scope.h"

#include <charconv>

namespace ridge::vm::parse {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Scopes::open() { blocks_.push_back({entries_.size(), {}, {}}); }

void Scopes::close() {
  Block block = std::move(blocks_.back());
  blocks_.pop_back();
  for (; entries_.size() > block.first_entry; entries_.pop_back()) {
    const Entry& entry = entries_.back();
    (entry.is_range ? ranges_ : names_)[entry.name] = entry.hidden;
  }
  for (const LabelUse& use : block.uses) {
    const auto it = block.labels.find(use.name);
    if (it != block.labels.end()) resolve(use, it->second);
    else if (!blocks_.empty()) use_label(use);
    else
      throw SyntaxError{use.line, use.column,
                        "unknown name '" + std::string(use.name) +
                            "': no register, variable, function or label in reach is called so"};
  }
}

void Scopes::resolve(const LabelUse& use, const Label& label) {
  if (!use.in_table) {
    Operand& operand = function_.instructions[use.owner].operands[use.slot];
    operand.kind = label.is_table ? Operand::Kind::table : Operand::Kind::label;
    operand.target = label.target;
    return;
  }
  if (label.is_table)
    throw SyntaxError{use.line, use.column, "a branch target must be a label, not a table"};
  function_.tables[use.owner].targets[use.slot] = label.target;
}

const Scopes::Entry* Scopes::newest(const Index& index, std::string_view name) const {
  const auto it = index.find(name);
  return it == index.end() || it->second < 0 ? nullptr : &entries_[size_t(it->second)];
}

bool Scopes::add(Index& index, Entry entry) {
  int32_t& newest = index.try_emplace(entry.name, -1).first->second;
  entry.depth = uint32_t(blocks_.size());
  entry.hidden = newest;
  if (newest >= 0 && entries_[size_t(newest)].depth == entry.depth) return false;
  newest = int32_t(entries_.size());
  entries_.push_back(entry);
  return true;
}

bool Scopes::declare(std::string_view name, const Binding& binding) {
  return add(names_, {name, binding, 0, 0, -1, false});
}

bool Scopes::declare_range(std::string_view prefix, const Binding& first, uint32_t count) {
  if (!is_digit(prefix.back())) return add(ranges_, {prefix, first, count, 0, -1, true});
  for (uint32_t i = 0; i < count;
       i++) {  // a1<3> declares a10, a11, a12, whose digits do not split off
    Binding binding = first;
    binding.first += int32_t(i * first.width);
    if (!declare(spelled_.emplace_back(std::string(prefix) + std::to_string(i)), binding))
      return false;
  }
  return true;
}

bool Scopes::declare_label(std::string_view name, bool is_table, uint32_t target) {
  return blocks_.back().labels.try_emplace(name, Label{is_table, target}).second;
}

Scopes::Found Scopes::find(std::string_view name) const {
  const Entry* exact = newest(names_, name);
  const Entry* range = nullptr;
  uint64_t number = 0;
  size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) digits--;
  const bool splits = digits < name.size() && (name[digits] != '0' || digits + 1 == name.size());
  if (splits && (range = newest(ranges_, name.substr(0, digits)))) {
    const auto parsed = std::from_chars(name.data() + digits, name.data() + name.size(), number);
    if (parsed.ec != std::errc()) number = UINT64_MAX;
    // A shorter range hides only the names that it has.
    while (number >= range->count && range->hidden >= 0) range = &entries_[size_t(range->hidden)];
    if (exact && (exact->depth >= range->depth || number >= range->count)) range = nullptr;
  }
  if (range) {
    if (number >= range->count) return {Found::Kind::beyond_range, {}, range->count};
    Binding binding = range->binding;
    binding.first += int32_t(number * binding.width);
    return {Found::Kind::something, binding, 0};
  }
  if (exact) return {Found::Kind::something, exact->binding, 0};
  return {};
}

}  // namespace ridge::vm::parse
