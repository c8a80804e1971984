// Modules: headers, variables and their initialisers, functions and how declarations of one name
// merge.
#include <bit>
#include <cstring>

#include "parse_test.h"
#include "sample_ptx.h"

namespace ridge::vm {
namespace {

template <class T>
T value_at(const Variable& v, size_t offset) {
  T value{};
  if (offset + sizeof(T) > v.init.size()) {
    ADD_FAILURE() << v.name << " has " << v.init.size() << " initialised bytes";
    return value;
  }
  memcpy(&value, v.init.data() + offset, sizeof(T));
  return value;
}

TEST(Module, Header) {
  auto m = parse_module(".version 8.10\n.target sm_90a, debug\n.address_size 64\n", "x.ptx");
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ((*m)->version_major, 8);
  EXPECT_EQ((*m)->version_minor, 10);
  EXPECT_EQ((*m)->target, "sm_90a");
  EXPECT_EQ((*m)->address_size, 64);
}

TEST(Module, PaddingAfterTheTextIsIgnored) {
  EXPECT_TRUE(parse_module(std::string(".version 9.0\n.target sm_90\n\0\0\0", 31), "x.ptx"));
}

TEST(Module, Files) {
  const auto m =
      parsed(".file 3 \"dir/a \\\"b\\\" \\303\\251.cu\", 1700000000, 99\n.file\t1 \"c.h\"\n");
  ASSERT_TRUE(m);
  ASSERT_EQ(m->files.size(), 4u);
  EXPECT_EQ(m->files[3], "dir/a \"b\" \xC3\xA9.cu");
  EXPECT_EQ(m->files[1], "c.h");
  EXPECT_EQ(m->files[2], "");
}

TEST(Module, VariablesOfAllSpaces) {
  const auto m = parsed(
      ".visible .global .align 16 .b8 bytes[3][5];\n"
      ".const .u32 one;\n"
      ".extern .shared .align 16 .b8 dynamic[];\n"
      ".global .attribute(.managed) .align 4 .u32 managed = 3;\n"
      ".weak .global .v4 .f32 quad;\n"
      ".common .global .v2.u16 pairs[4];\n"
      ".global .attribute(.unified(0xAB, 0xCD)) .f64 unified, second;\n");
  ASSERT_TRUE(m);
  const auto& by_name = m->variable_by_name;
  EXPECT_EQ(by_name.at("bytes")->size, 15u);
  EXPECT_EQ(by_name.at("bytes")->align, 16u);
  EXPECT_EQ(by_name.at("bytes")->linkage, Linkage::visible);
  EXPECT_EQ(by_name.at("bytes")->line, 4u);
  EXPECT_EQ(by_name.at("one")->space, Space::constant);
  EXPECT_EQ(by_name.at("one")->align, 4u);
  EXPECT_TRUE(by_name.at("dynamic")->unsized);
  EXPECT_EQ(by_name.at("dynamic")->size, 0u);
  EXPECT_EQ(by_name.at("dynamic")->linkage, Linkage::external);
  EXPECT_TRUE(by_name.at("managed")->managed);
  EXPECT_FALSE(by_name.at("one")->managed);
  EXPECT_EQ(by_name.at("quad")->size, 16u);
  EXPECT_EQ(by_name.at("quad")->align, 16u);
  EXPECT_EQ(by_name.at("quad")->type, Type::f32);
  EXPECT_EQ(by_name.at("pairs")->size, 16u);
  EXPECT_EQ(by_name.at("pairs")->align, 4u);
  EXPECT_EQ(by_name.at("second")->type, Type::f64);
}

TEST(Initializer, Integers) {
  const auto m = parsed(
      ".global .s32 a[2][3] = {{1, -2, 0x3}, {017, 0b101}};\n"
      ".global .u64 b = 0xFFFFFFFFFFFFFFFF;\n"
      ".global .u8 c[] = {1, 2, 300};\n"
      ".global .u16 d[][2] = {{1, 2}, {3}, {4, 5}};\n"
      ".global .s64 e[4] = {(1 + 2) * 3 << 1, 7 > 2 ? -7 / 2 : 0, ~0, WARP_SZ};\n");
  ASSERT_TRUE(m);
  const Variable& a = *m->variable_by_name.at("a");
  ASSERT_EQ(a.init.size(), 24u);
  const int expected[] = {1, -2, 3, 15, 5, 0};
  for (size_t i = 0; i < 6; i++) EXPECT_EQ(value_at<int32_t>(a, 4 * i), expected[i]) << i;
  EXPECT_EQ(value_at<uint64_t>(*m->variable_by_name.at("b"), 0), UINT64_MAX);
  const Variable& c = *m->variable_by_name.at("c");
  EXPECT_EQ(c.init, (std::vector<uint8_t>{1, 2, 44}));
  EXPECT_EQ(c.size, 3u);
  EXPECT_FALSE(c.unsized);
  const Variable& d = *m->variable_by_name.at("d");
  EXPECT_EQ(d.size, 12u);
  EXPECT_EQ(value_at<uint16_t>(d, 4), 3);
  EXPECT_EQ(value_at<uint16_t>(d, 8), 4);
  const Variable& e = *m->variable_by_name.at("e");
  EXPECT_EQ(value_at<int64_t>(e, 0), 18);
  EXPECT_EQ(value_at<int64_t>(e, 8), -3);
  EXPECT_EQ(value_at<int64_t>(e, 16), -1);
  EXPECT_EQ(value_at<int64_t>(e, 24), 32);
}

TEST(Initializer, Floats) {
  const auto m = parsed(
      ".global .f32 a[5] = {1.5, -0.25, 0f40490FDB, .5, 1e2};\n"
      ".global .f64 b[2] = {0d400921FB54442D18, -1.5 + 0.25};\n"
      ".global .v4 .f32 c[2] = {{1.0, 2.0}, {3.0, 4.0, 5.0, 6.0}};\n"
      ".global .b32 d = 0f3F800000;\n");
  ASSERT_TRUE(m);
  const Variable& a = *m->variable_by_name.at("a");
  const float expected[] = {1.5f, -0.25f, 3.14159274f, 0.5f, 100.0f};
  for (size_t i = 0; i < 5; i++) EXPECT_EQ(value_at<float>(a, 4 * i), expected[i]) << i;
  EXPECT_EQ(value_at<double>(*m->variable_by_name.at("b"), 0), 3.141592653589793);
  EXPECT_EQ(value_at<double>(*m->variable_by_name.at("b"), 8), -1.25);
  EXPECT_EQ(value_at<float>(*m->variable_by_name.at("c"), 4), 2.0f);
  EXPECT_EQ(value_at<float>(*m->variable_by_name.at("c"), 28), 6.0f);
  EXPECT_EQ(value_at<uint32_t>(*m->variable_by_name.at("d"), 0), 0x3F800000u);
}

TEST(Initializer, Addresses) {
  const auto m = parsed(
      ".func f;\n"
      ".global .u32 a[4];\n"
      ".global .u64 b[5] = {a, generic(a), generic(a)+8, (generic(a+4)-12), f};\n"
      ".global .align 8 .b8 c[4] = {7, 0xFF(a), 0xFF00(generic(a)+4), 0xFF00000000000000(f)};\n"
      ".global .u64 self = generic(self);\n");
  ASSERT_TRUE(m);
  const Variable* a = m->variable_by_name.at("a");
  const auto& b = m->variable_by_name.at("b")->relocations;
  ASSERT_EQ(b.size(), 5u);
  EXPECT_EQ(b[0].variable, a);
  EXPECT_FALSE(b[0].generic);
  EXPECT_EQ(b[0].size, 8);
  EXPECT_TRUE(b[1].generic);
  EXPECT_EQ(b[1].offset, 8u);
  EXPECT_EQ(b[2].addend, 8);
  EXPECT_EQ(b[3].addend, -8);
  EXPECT_TRUE(b[3].generic);
  EXPECT_EQ(b[4].function, m->function_by_name.at("f"));
  EXPECT_EQ(b[4].offset, 32u);
  EXPECT_EQ(m->variable_by_name.at("b")->init.size(), 40u);

  const Variable& c = *m->variable_by_name.at("c");
  ASSERT_EQ(c.relocations.size(), 3u);
  EXPECT_EQ(c.init[0], 7);
  EXPECT_EQ(c.relocations[0].size, 1);
  EXPECT_EQ(c.relocations[0].byte, 0);
  EXPECT_EQ(c.relocations[1].byte, 1);
  EXPECT_EQ(c.relocations[1].offset, 2u);
  EXPECT_EQ(c.relocations[1].addend, 4);
  EXPECT_TRUE(c.relocations[1].generic);
  EXPECT_EQ(c.relocations[2].byte, 7);
  EXPECT_EQ(m->variable_by_name.at("self")->relocations[0].variable,
            m->variable_by_name.at("self"));
}

TEST(Initializer, Errors) {
  EXPECT_EQ(module_error(".global .u32 a[2] = {1, 2, 3};"),
            "4:28: too many initialisers: this array of 'a' has 2 elements");
  EXPECT_EQ(module_error(".global .f32 a = 1;"), "4:18: this constant does not initialise a .f32");
  EXPECT_EQ(module_error(".global .u32 a = 1.5;"),
            "4:18: this constant does not initialise a .u32");
  EXPECT_EQ(module_error(".global .u32 a = 1 / (2 - 2);"),
            "4:20: division by zero in a constant expression");
  EXPECT_EQ(module_error(".global .u64 a = b;"),
            "4:18: unknown name 'b': no variable or function declared above is called so");
  EXPECT_EQ(module_error(".global .u8 b; .global .u8 a = b;"),
            "4:32: an address does not fit a .u8");
  EXPECT_EQ(module_error(".global .u8 b; .global .u8 a = 0xF0(b);"),
            "4:32: a mask must select one byte of the address: 0xFF, 0xFF00, …");
  EXPECT_EQ(module_error(".global .u32 a[2][2] = {1, 2};"),
            "4:25: expected '{' before an array's initialisers, found '1'");
  EXPECT_EQ(module_error(".global .b8 a[0xFFFFFFFFFFF] = {1};"),
            "4:35: this initialised variable is too large");
}

TEST(Function, ParametersAndDirectives) {
  const auto m = parsed(
      ".visible .entry k(\n"
      "  .param .u64 .ptr .global .align 8 a,\n"
      "  .param .align 8 .b8 b[24],\n"
      "  .param .b8 rest[]\n"
      ") .maxntid 256, 2 .reqntid 128, 1, 1 .minnctapersm 2 .maxnreg 64 .maxnctapersm 3\n"
      ".explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8 .blocksareclusters\n"
      ".pragma \"x\"; .abi_preserve 32 .abi_preserve_control 4\n"
      "{ ret; }\n"
      ".func .attribute(.unified(1, 2)) (.param .b32 r) f (.param .f64 x) .noreturn;\n"
      ".entry bare { exit; }\n");
  ASSERT_TRUE(m);
  const Function& k = *m->function_by_name.at("k");
  EXPECT_TRUE(k.entry);
  EXPECT_TRUE(k.defined);
  EXPECT_EQ(k.linkage, Linkage::visible);
  EXPECT_EQ(k.line, 4u);
  ASSERT_EQ(k.params.size(), 3u);
  EXPECT_EQ(k.params[0].name, "a");
  EXPECT_EQ(k.params[0].size, 8u);
  EXPECT_EQ(k.params[0].align, 8u);
  EXPECT_EQ(k.params[0].space, Space::param);
  EXPECT_EQ(k.params[1].size, 24u);
  EXPECT_EQ(k.params[1].align, 8u);
  EXPECT_TRUE(k.params[2].unsized);
  EXPECT_EQ(k.maxntid[0], 256u);
  EXPECT_EQ(k.maxntid[1], 2u);
  EXPECT_EQ(k.maxntid[2], 1u);
  EXPECT_EQ(k.reqntid[0], 128u);
  EXPECT_EQ(k.minnctapersm, 2u);
  EXPECT_EQ(k.maxnreg, 64u);
  EXPECT_EQ(k.reqnctapercluster[0], 2u);
  EXPECT_EQ(k.maxclusterrank, 8u);
  EXPECT_TRUE(k.explicitcluster && k.blocksareclusters);
  EXPECT_EQ(m->text.substr(k.body_begin, k.body_end - k.body_begin), " ret; ");
  EXPECT_EQ(k.body_line, 11u);
  EXPECT_EQ(k.body_column, 2u);
  const Function& f = *m->function_by_name.at("f");
  EXPECT_FALSE(f.entry || f.defined);
  EXPECT_TRUE(f.noreturn);
  EXPECT_EQ(f.results.at(0).name, "r");
  EXPECT_TRUE(m->function_by_name.at("bare")->defined);
}

TEST(Function, PrototypeAndDefinitionAreOneObject) {
  const auto m = parsed(
      ".visible .func (.param .b32 r0) a_function_with_a_long_name (.param .b32 declared);\n"
      ".global .u64 pointer = a_function_with_a_long_name;\n"
      ".func (.param .b32 r) a_function_with_a_long_name (.param .b32 defined) { ret; }\n"
      ".visible .func (.param .b32 r9) a_function_with_a_long_name (.param .b32 again);\n");
  ASSERT_TRUE(m);
  ASSERT_EQ(m->functions.size(), 1u);
  const Function* f = m->function_by_name.at("a_function_with_a_long_name");
  EXPECT_EQ(f, m->variable_by_name.at("pointer")->relocations.at(0).function);
  EXPECT_TRUE(f->defined);
  EXPECT_EQ(f->name, "a_function_with_a_long_name");
  EXPECT_EQ(f->params.at(0).name, "defined");
  EXPECT_EQ(f->linkage, Linkage::visible);
}

TEST(Function, AliasSharesTheBody) {
  const auto m = parsed(
      ".visible .func other_name (.param .b32 x);\n"
      ".alias other_name, f;\n"
      ".func f (.param .b32 y) { .reg .b32 a; ld.param.b32 a, [y]; ret; }\n");
  ASSERT_TRUE(m);
  Function& f = *m->function_by_name.at("other_name");
  EXPECT_EQ(f.name, "other_name");
  EXPECT_EQ(f.linkage, Linkage::visible);
  const Status status = parse_body(*m, f);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(f.instructions.at(0).operands.at(1).variable, &f.params[0]);
}

TEST(Module, DeclarationsOfOneVariableMerge) {
  const auto m = parsed(
      ".extern .global .b8 a_variable_with_a_long_name[];\n"
      ".global .u64 pointer = a_variable_with_a_long_name;\n"
      ".visible .global .align 4 .b8 a_variable_with_a_long_name[3] = {1, 2, 3};\n"
      ".extern .global .b8 a_variable_with_a_long_name[];\n"
      ".weak .global .u32 w = 1;\n"
      ".weak .global .u32 w = 2;\n");
  ASSERT_TRUE(m);
  const Variable* v = m->variable_by_name.at("a_variable_with_a_long_name");
  EXPECT_EQ(v, m->variable_by_name.at("pointer")->relocations.at(0).variable);
  EXPECT_EQ(v->name, "a_variable_with_a_long_name");
  EXPECT_EQ(v->size, 3u);
  EXPECT_EQ(v->linkage, Linkage::visible);
  EXPECT_EQ(m->variable_by_name.at("w")->init.at(0), 1);
}

TEST(Module, BodiesSectionsAndCommentsAreSkippedByTheirBraces) {
  const auto m = parsed(
      ".entry a { .pragma \"}{\"; // }\n /* } */ { mov.b32 {x, y}, z; } /* \" */ }\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90 // }\n.b64 .debug_abbrev+4\n}\n"
      "@@DWARF .byte 0x7b {\n"
      ".global .u32 after;\n");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->variable_by_name.at("after")->line, 13u);
}

TEST(Module, Errors) {
  EXPECT_EQ(module_error(".entry k {\n{ }\n"), "4:10: no '}' closes the body of 'k'");
  EXPECT_EQ(module_error(".global .u32 a;\n.global .u32 a;"),
            "5:14: 'a' is declared twice; the first is on line 4");
  EXPECT_EQ(module_error(".entry k {}\n.entry k {}"),
            "5:8: 'k' is defined twice; the first is on line 4");
  EXPECT_EQ(module_error(".func f;\n.entry f {}"), "5:8: 'f' is declared both .entry and .func");
  EXPECT_EQ(module_error(".func f;\n.global .u32 f;"), "5:14: 'f' is already a function");
  EXPECT_EQ(module_error(".alias a, b;"), "4:8: 'b', which 'a' stands for, has no body");
  EXPECT_EQ(module_error(".global .u33 a;"),
            "4:9: unknown type or attribute '.u33' in a declaration");
  EXPECT_EQ(module_error(".global .align 3 .u32 a;"), "4:9: an alignment must be a power of two");
  EXPECT_EQ(module_error(".gobal .u32 a;"), "4:1: unknown directive '.gobal'");
  EXPECT_EQ(module_error("global .u32 a;"),
            "4:1: expected a directive such as .visible, found 'global'");
  EXPECT_EQ(module_error(".entry k() .maxntid x {}"), "4:21: expected a constant, found 'x'");
  EXPECT_EQ(module_error(".reg .u32 a;"), "4:11: registers are declared inside functions");
  EXPECT_EQ(module_error("/* never closed"), "4:1: this comment is never closed");
  EXPECT_EQ(module_error(".file 1 \"open"), "4:9: this string is not closed on its line");
  EXPECT_EQ(module_error(".global .u32 a\x01;"), "4:15: unexpected byte 0x01");
  EXPECT_EQ(module_error(".global .u32 a = 99999999999999999999;"),
            "4:18: this integer does not fit 64 bits");
  EXPECT_EQ(module_error(".global .f32 a = 0f3F80;"),
            "4:18: expected 8 hexadecimal digits after '0f'");
  EXPECT_EQ(module_error(".global .u32 a = 12ab;"), "4:20: unexpected 'a' in a number");
  const auto empty = parse_module("", "empty.ptx");
  ASSERT_FALSE(empty);
  EXPECT_EQ(
      empty.error().message,
      "empty.ptx:1:1: expected .version, with which every PTX module starts, found the end\n\n^");
}

TEST(Diagnostic, CaretStandsUnderTheToken) {
  const auto m = parse_module(".version 9.0\n.target sm_90\n\t.global\t.u32 a b;\r\n", "dir/x.ptx");
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().message,
            "dir/x.ptx:3:17: expected ';' after a variable, found 'b'\n"
            "\t.global\t.u32 a b;\n"
            "\t       \t       ^");
}

TEST(Diagnostic, LongLinesAreCutAroundTheCaret) {
  Module m;
  m.name = "x";
  m.text = std::string(5000, 'a') + "!" + std::string(5000, 'b');
  const std::string message = diagnostic(m, 1, 5001, "here");
  EXPECT_LT(message.size(), 600u);
  const size_t line = message.find('\n') + 1, caret_line = message.find('\n', line) + 1;
  EXPECT_EQ(message[line + (message.find('^') - caret_line)], '!');
}

TEST(Module, CompiledSample) {
  const auto m = parse_module(std::string(kCompiledPtx), "sample.ptx");
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ((*m)->functions.size(), 3u);
  for (Function& f : (*m)->functions) {
    const Status status = parse_body(**m, f);
    EXPECT_TRUE(status) << status.message();
  }
  EXPECT_EQ((*m)->functions[2].instructions.size(), 73u);
}

TEST(Module, EverythingSample) {
  const auto m = parse_module(std::string(kEverythingPtx), "everything.ptx");
  ASSERT_TRUE(m) << m.error().message;
  for (Function& f : (*m)->functions) {
    if (!f.defined) continue;
    const Status status = parse_body(**m, f);
    EXPECT_TRUE(status) << status.message();
  }
}

}  // namespace
}  // namespace ridge::vm
