// What the parser tests share: text in, parsed module out, with the parser's own message when it
// fails.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "vm/parse/module.h"

namespace ridge::vm {

constexpr const char* kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";  // three lines

inline std::unique_ptr<Module> parsed(const std::string& text) {
  auto module = parse_module(kHeader + text, "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return nullptr;
  }
  return std::move(*module);
}

// A kernel `k` with this body, on line 5.
inline std::string kernel(const std::string& body) {
  return ".visible .entry k(.param .u64 p)\n{" + body + "}\n";
}

struct Body {
  std::unique_ptr<Module> module;
  Function* function = nullptr;
  const Instruction& at(size_t i) const { return function->instructions.at(i); }
  const Operand& operand(size_t i, size_t j) const { return at(i).operands.at(j); }
  const std::string& reg(const Operand& o) const {
    return function->registers.at(size_t(o.reg)).name;
  }
};

inline Body parsed_body(const std::string& body, const std::string& before = "") {
  Body b{parsed(before + kernel(body))};
  if (!b.module) return b;
  b.function = b.module->function_by_name.at("k");
  const Status status = parse_body(*b.module, *b.function);
  EXPECT_TRUE(status) << status.message();
  return b;
}

// The message without its source line and caret: "line:column: what".
inline std::string module_error(const std::string& text) {
  auto module = parse_module(kHeader + text, "test.ptx");
  if (module) return "parsed";
  const std::string& m = module.error().message;
  return m.substr(9, m.find('\n') - 9);
}

inline std::string body_error(const std::string& body, const std::string& before = "") {
  auto module = parse_module(kHeader + before + kernel(body), "test.ptx");
  if (!module) return "module: " + module.error().message;
  const Status status = parse_body(**module, *(*module)->function_by_name.at("k"));
  if (status) return "parsed";
  return status.message().substr(9, status.message().find('\n') - 9);
}

}  // namespace ridge::vm
