// The names a function body declares, block by block: an inner name hides an outer one until its
// block closes.
//
// Registers come in ranges (`%r<271>` declares %r0 … %r270), and a body may have tens of thousands
// of them, so a range is one entry under its prefix and a look-up splits the digits off a name.
// Labels may be used before they are declared; scope.cpp keeps such uses until their block, or one
// around it, closes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vm/parse/lexer.h"
#include "vm/parse/module.h"

namespace ridge::vm::parse {

struct Binding {
  const Variable* variable = nullptr;  // null: a register
  int32_t first = -1;                  // its index; a vector's components follow each other
  uint32_t width = 1;                  // components: 1, 2 or 4
};

// A label used before its block has closed: an operand of an instruction, or an entry of a branch
// table.
struct LabelUse {
  std::string_view name;
  uint32_t line, column;
  bool in_table;
  uint32_t owner;  // index of the instruction or table
  uint32_t slot;   // operand or entry
};

class Scopes {
 public:
  explicit Scopes(Function& function) : function_(function) { open(); }

  void open();
  // Resolves the block's labels and hands the uses it cannot resolve to the block around it.
  void close();
  size_t depth() const { return blocks_.size(); }

  // These return false when the block already has the name.
  bool declare(std::string_view name, const Binding& binding);
  bool declare_range(std::string_view prefix, const Binding& first, uint32_t count);
  bool declare_label(std::string_view name, bool is_table, uint32_t target);

  void use_label(const LabelUse& use) { blocks_.back().uses.push_back(use); }

  struct Found {
    enum class Kind : uint8_t { nothing, something, beyond_range };
    Kind kind = Kind::nothing;
    Binding binding;
    uint32_t count = 0;  // of the range that is too short
  };
  Found find(std::string_view name) const;

 private:
  struct Entry {
    std::string_view name;
    Binding binding;
    uint32_t count;  // of a range
    uint32_t depth;  // of the block that declares it
    int32_t hidden;  // the entry of the same name around it, -1 for none
    bool is_range;
  };
  struct Label {
    bool is_table;
    uint32_t target;
  };
  struct Block {
    size_t first_entry;
    std::unordered_map<std::string_view, Label> labels;
    std::vector<LabelUse> uses;
  };
  // Name → its newest entry, -1 for none.
  using Index = std::unordered_map<std::string_view, int32_t>;

  bool add(Index& index, Entry entry);
  const Entry* newest(const Index& index, std::string_view name) const;
  void resolve(const LabelUse& use, const Label& label);

  Function& function_;
  std::vector<Entry> entries_;
  Index names_, ranges_;
  std::vector<Block> blocks_;
  std::deque<std::string> spelled_;  // names of ranges whose prefix ends in a digit, spelled out
};

}  // namespace ridge::vm::parse
