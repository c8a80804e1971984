// What the module parser and the body parser share: the token in hand, errors, constant
// expressions, and the declarations of variables and parameters. Each function is named after the
// grammar it reads and leaves the token after it in hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vm/parse/lexer.h"
#include "vm/parse/module.h"

namespace ridge::vm::parse {

// The value of a constant expression. Integers are 64 bits wide and become unsigned as in C.
struct Constant {
  enum class Type : uint8_t { s64, u64, f32, f64 };
  Type type = Type::s64;
  uint64_t bits = 0;  // two's complement, or the bits of the float

  bool is_float() const { return type == Type::f32 || type == Type::f64; }
  double as_double() const;
};

class Parser {
 public:
  Parser(Module& module, size_t begin, size_t end, uint32_t line)
      : module_(module), lexer_(module.text, begin, end, line) {}
  virtual ~Parser() = default;

 protected:
  const Token& token() const { return lexer_.token(); }
  void next() { lexer_.next(); }
  bool accept(char c);
  void expect(char c, std::string_view where);
  bool accept_directive(std::string_view name);
  std::string_view name(std::string_view what);  // a word without dots
  uint64_t integer(std::string_view what);       // a constant expression that is an integer
  uint64_t integer_up_to(uint64_t limit, std::string_view what);

  void section();
  bool pragma(std::string_view wanted = "");  // whether that is one of them
  Linkage linkage();

  [[noreturn]] void fail(std::string message) const { fail_at(token(), std::move(message)); }
  [[noreturn]] static void fail_at(const Token& at, std::string message);
  [[noreturn]] void fail_expected(std::string_view expected) const;

  // constant.cpp
  Constant constant();       // a whole expression
  Constant additive_term();  // what may stand between the '+' and '-' of an address
  static Constant apply_minus(Constant value);

  // declare.cpp
  struct Declaration {  // what stands before the names of a variable declaration
    Space space = Space::generic;
    Type type = Type::none;
    uint32_t vector = 1;  // .v2, .v4
    uint32_t align = 0;   // 0: natural
    bool managed = false;
  };
  bool at_space() const;
  Declaration declaration();
  Variable declarator(const Declaration& declaration, std::vector<uint64_t>& dims);
  void initializer(Variable& variable, const std::vector<uint64_t>& dims);
  template <class List>
  void parameters(List& list);  // '(' … ')', both in hand
  void skip_parentheses();
  void set_natural_size(Variable& variable, const std::vector<uint64_t>& dims) const;
  uint32_t vector_width(std::string_view directive) const;

  // Names an initialiser may use; a body adds its own variables.
  virtual const Variable* find_variable(std::string_view name) const;
  const Function* find_function(std::string_view name) const;

  Module& module_;
  Lexer lexer_;

 private:
  Constant conditional();
  Constant binary(int min_precedence);
  Constant unary();
  Constant primary();
  Constant cast();

  Variable parameter();
  void initializer_list(Variable& variable, const std::vector<uint64_t>& dims, size_t level,
                        uint64_t offset);
  void initializer_value(Variable& variable, uint64_t offset);
  Relocation symbol_address();

  int depth_ = 0;  // of nested expressions, so that no input overflows the stack
};

// What a token is called in a message: "'bra'", "the end".
std::string describe(const Token& token);

extern template void Parser::parameters(std::deque<Variable>&);
extern template void Parser::parameters(std::vector<Variable>&);

}  // namespace ridge::vm::parse
