// What print.cpp and print_body.cpp share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vm/parse/module.h"

namespace ridge::vm::parse {

// Variables that are not called by their own name.
using Renamed = std::unordered_map<const Variable*, std::string>;

std::string_view linkage_prefix(Linkage linkage);  // ".visible ", or nothing
std::string offset_text(int64_t offset);           // "+8", "-4", or nothing
// ".global .align 8 .u64 name[4]"; linkage and initialiser are the caller's.
std::string declaration_of(const Variable& v, const std::string& name);
// " = {1, 2}"; nothing where there is none.
std::string initializer_of(const Variable& v, const Renamed& renamed);

class BodyPrinter {
 public:
  BodyPrinter(const Module& module, const Function& function);
  std::string text();  // without the braces

 private:
  struct Vector {  // a vector register, whose components are registers in a row
    std::string name;
    int32_t first, width;
  };

  void take_special_names(const Operand& operand);
  void name_variables();
  void name_registers();
  int vector_width(size_t first) const;
  void name_labels();
  void want_label(uint32_t target) { labels_.try_emplace(target); }
  std::string unique(const std::string& name);

  bool reaches_beyond(const std::string& prefix, size_t count) const;
  std::string declared_registers() const;
  std::string table_text(size_t index) const;
  std::string loc_text(int32_t loc) const;
  std::string instruction_text(const Instruction& i) const;
  std::string operand_text(const Operand& o) const;
  std::string register_text(const Operand& o) const;
  std::string address_text(const Operand& o) const;
  std::string elements_text(const std::vector<Operand>& elems) const;
  const std::string& name_of(const Variable& v) const;

  const Module& module_;
  const Function& f_;
  size_t parameters_ = 0;  // registers that are parameters, which the header declares
  std::unordered_set<std::string> taken_;
  Renamed renamed_;
  std::vector<std::string> registers_, tables_;  // their names, by index
  std::unordered_map<int32_t, Vector> vectors_;  // by first register
  std::unordered_map<uint32_t, std::string> labels_;
};

}  // namespace ridge::vm::parse
