// The parser of one function's body: statements in body.cpp, operands in operand.cpp.
#pragma once

#include <map>
#include <tuple>

#include "vm/parse/parser.h"
#include "vm/parse/scope.h"

namespace ridge::vm::parse {

class BodyParser : public Parser {
 public:
  BodyParser(Module& module, Function& function)
      : Parser(module, function.body_begin, function.body_end, function.body_line),
        function_(function),
        scopes_(function) {}
  void body();

 private:
  // body.cpp
  void declare_parameters(std::deque<Variable>& parameters);
  void statement();
  void directive();
  void registers();
  void declare_registers(const Token& at, Type type, uint32_t width, bool is_range, uint32_t count);
  void variables(Linkage linkage);
  void loc();
  SourceLoc source_place();
  int32_t add_loc(const SourceLoc& loc);
  void label(const Token& at);
  void branch_targets(BranchTable& table);
  void call_targets(BranchTable& table);
  void call_prototype(BranchTable& table);
  void instruction(const Token& mnemonic);
  void wide_instruction(Instruction i);
  void guard(Instruction& instruction);
  std::string_view mnemonic(const Token& first);

  // operand.cpp
  void operands(Instruction& instruction);
  Operand operand(bool is_call);
  Operand element();
  Operand vector();
  Operand list();
  Operand address();
  Operand immediate();
  Operand negated();
  Operand minus();
  Operand named();
  Operand symbol(Operand o);
  bool bind(Operand& o, const Token& at);
  void select_component(Operand& o, const Binding& binding, std::string_view component,
                        const Token& at);
  void second_register(Operand& o);
  int64_t offset();
  int32_t register_index(std::string_view what);

  const Variable* find_variable(std::string_view name) const override;

  Function& function_;
  Scopes scopes_;
  std::vector<Operand> operands_;  // of the instruction in hand
  int32_t loc_ = -1;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int32_t> newest_loc_;  // by file, line, column
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, int32_t>, int32_t> locs_;  // and inlined_at
};

}  // namespace ridge::vm::parse
