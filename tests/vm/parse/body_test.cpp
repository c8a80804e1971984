// Bodies: registers and blocks, operands of every form, labels and tables, source locations.
#include <bit>

#include "parse_test.h"

namespace ridge::vm {
namespace {

using Kind = Operand::Kind;

TEST(Registers, RangesVectorsAndLists) {
  const Body b = parsed_body(
      ".reg .b32 %r<3>, x; .reg.pred q; .reg .v2 .f32 v; .reg .v4 .b16 %w<2>;\n"
      "mov.b32 %r2, x; mov.b32 v.y, v.r; mov.b16 %w1.w, %w0.x; st.v2.f32 [%r0], v; add.u32 x, x, "
      "%r2.h1;");
  ASSERT_TRUE(b.function);
  const auto& registers = b.function->registers;
  ASSERT_EQ(registers.size(), 15u);
  EXPECT_EQ(registers[0].name, "%r0");
  EXPECT_EQ(registers[3].name, "x");
  EXPECT_EQ(registers[4].type, Type::pred);
  EXPECT_EQ(b.reg(b.operand(0, 0)), "%r2");
  EXPECT_EQ(b.reg(b.operand(0, 1)), "x");
  EXPECT_EQ(b.reg(b.operand(1, 0)), "v.y");
  EXPECT_EQ(b.reg(b.operand(1, 1)), "v.x");
  EXPECT_EQ(b.reg(b.operand(2, 0)), "%w1.w");
  EXPECT_EQ(b.reg(b.operand(2, 1)), "%w0.x");
  const Operand& whole = b.operand(3, 1);
  ASSERT_EQ(whole.kind, Kind::vec);
  ASSERT_EQ(whole.elems.size(), 2u);
  EXPECT_EQ(b.reg(whole.elems[1]), "v.y");
  EXPECT_EQ(b.operand(4, 2).text, "h1");
  EXPECT_EQ(b.reg(b.operand(4, 2)), "%r2");
}

TEST(Registers, ARangeWhosePrefixEndsInADigit) {
  const Body b = parsed_body(".reg .b32 %a1<12>; mov.b32 %a10, %a111;");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(b.operand(0, 0).reg, 0);
  EXPECT_EQ(b.operand(0, 1).reg, 11);
}

TEST(Registers, ParametersInRegisters) {
  const auto m = parsed(".func (.reg .b32 out) f (.reg .b64 in) { cvt.u32.u64 out, in; ret; }");
  ASSERT_TRUE(m);
  Function& f = *m->function_by_name.at("f");
  ASSERT_TRUE(parse_body(*m, f));
  EXPECT_EQ(f.params.at(0).space, Space::reg);
  EXPECT_EQ(f.registers.at(size_t(f.instructions[0].operands[1].reg)).name, "in");
}

TEST(Scope, InnerNamesHideOuterOnesUntilTheBlockCloses) {
  const Body b = parsed_body(
      ".reg .b32 %r<4>, r0; mov.b32 r0, %r1;\n"
      "{ .reg .b64 r0, %r1; mov.b32 r0, %r1; { .reg .b16 %r<2>; mov.b32 r0, %r1; } mov.b32 r0, "
      "%r1; }\n"
      "{ .reg .f32 r0; mov.b32 r0, %r1; }\n"
      "mov.b32 r0, %r1;");
  ASSERT_TRUE(b.function);
  const auto type = [&](size_t i, size_t j) {
    return b.function->registers.at(size_t(b.operand(i, j).reg)).type;
  };
  EXPECT_EQ(type(0, 0), Type::b32);
  EXPECT_EQ(type(0, 1), Type::b32);
  EXPECT_EQ(type(1, 0), Type::b64);
  EXPECT_EQ(type(1, 1), Type::b64);
  EXPECT_EQ(type(2, 0), Type::b64);
  EXPECT_EQ(type(2, 1), Type::b16);
  EXPECT_EQ(type(3, 1), Type::b64);
  EXPECT_EQ(type(4, 0), Type::f32);
  EXPECT_EQ(type(4, 1), Type::b32);
  EXPECT_EQ(type(5, 0), Type::b32);
}

TEST(Scope, AShorterRangeHidesOnlyTheNamesItHas) {
  const Body b = parsed_body(
      ".reg .b32 %r<9>;\n"
      "mov.u32 %r1, 0; mov.u32 %r8, 0;\n"
      "{ .reg .b32 %r<4>; mov.u32 %r1, 0; mov.u32 %r8, 0;\n"
      "  { .reg .b32 %r<2>; mov.u32 %r1, 0; mov.u32 %r3, 0; mov.u32 %r8, 0; } mov.u32 %r3, 0; }");
  ASSERT_TRUE(b.function);
  const auto target = [&](size_t i) { return b.operand(i, 0).reg; };
  EXPECT_NE(target(2), target(0));
  EXPECT_EQ(target(3), target(1));
  EXPECT_NE(target(4), target(2));
  EXPECT_EQ(target(5), target(7));
  EXPECT_EQ(target(6), target(1));
}

TEST(Scope, ACallSequenceHasItsOwnParameters) {
  const Body b = parsed_body(
      ".reg .b32 %r<3>;\n"
      "{ .param .b32 a; st.param.b32 [a+0], %r1; call.uni f, (a); }\n"
      "{ .param .b64 a; st.param.b64 [a+0], %r1; call.uni f, (a); }\n",
      ".func f (.param .b32 x);\n");
  ASSERT_TRUE(b.function);
  ASSERT_EQ(b.function->variables.size(), 2u);
  EXPECT_EQ(b.operand(0, 0).variable, &b.function->variables[0]);
  EXPECT_EQ(b.operand(1, 1).elems.at(0).variable, &b.function->variables[0]);
  EXPECT_EQ(b.operand(2, 0).variable, &b.function->variables[1]);
}

TEST(Scope, LabelsBelongToTheirBlock) {
  const Body b = parsed_body(
      "bra DONE;\n"                           // 0 → 6
      "{ L: bra L; bra DONE; }\n"             // 1 → 1, 2 → 6
      "{ bra DONE; DONE: ret; L: bra L; }\n"  // 3 → 4, 5 → 5
      "DONE: ret;");                          // 6
  ASSERT_TRUE(b.function);
  const auto target = [&](size_t i) {
    EXPECT_EQ(b.operand(i, 0).kind, Kind::label);
    return b.operand(i, 0).target;
  };
  EXPECT_EQ(target(0), 6u);
  EXPECT_EQ(target(1), 1u);
  EXPECT_EQ(target(2), 6u);
  EXPECT_EQ(target(3), 4u);
  EXPECT_EQ(target(5), 5u);
}

TEST(Scope, ALabelMayEndTheBody) {
  const Body b = parsed_body("bra $L__BB0_1; a: b: bra a; $L__BB0_1:");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(b.operand(0, 0).target, 2u);
  EXPECT_EQ(b.operand(1, 0).target, 1u);
}

TEST(Scope, NamesInABodyHideThoseOfTheModule) {
  const Body b =
      parsed_body(".reg .u64 r; mov.u64 r, x; { .shared .u32 x; mov.u64 r, x; } mov.u64 r, x;",
                  ".global .u32 x;\n");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(b.operand(0, 1).variable->space, Space::global);
  EXPECT_EQ(b.operand(1, 1).variable->space, Space::shared);
  EXPECT_EQ(b.operand(2, 1).variable->space, Space::global);
}

TEST(Variables, InsideABody) {
  const Body b = parsed_body(
      ".shared .align 16 .b8 tile[2][8]; .local .v2 .f32 spill; .const .u32 table[2] = {1, 2};\n"
      ".extern .shared .b8 dynamic[]; .reg .b64 r; mov.u64 r, tile;");
  ASSERT_TRUE(b.function);
  const auto& v = b.function->variables;
  ASSERT_EQ(v.size(), 4u);
  EXPECT_EQ(v[0].size, 16u);
  EXPECT_EQ(v[1].align, 8u);
  EXPECT_EQ(v[2].init.at(4), 2);
  EXPECT_TRUE(v[3].unsized);
  EXPECT_EQ(b.operand(0, 1).kind, Kind::symbol);
}

TEST(Instructions, MnemonicGuardAndPlace) {
  const Body b = parsed_body(
      ".reg .pred %p1; .reg .b32 %r<2>;\n"
      "\t@!%p1 ld.shared::cluster.L2::128B.b32 \t%r1, [%r0];\n"
      "@%p1 ret; mov .u32 %r1, 5;");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(b.at(0).mnemonic, "ld.shared::cluster.L2::128B.b32");
  EXPECT_EQ(b.at(0).guard, 0);
  EXPECT_TRUE(b.at(0).guard_negated);
  EXPECT_EQ(b.at(0).line, 6u);
  EXPECT_EQ(b.at(0).column, 8u);
  EXPECT_EQ(b.operand(0, 0).column, 41u);
  EXPECT_EQ(b.at(1).guard, 0);
  EXPECT_FALSE(b.at(1).guard_negated);
  EXPECT_TRUE(b.at(1).operands.empty());
  EXPECT_EQ(b.at(2).guard, -1);
  EXPECT_EQ(b.at(2).mnemonic, "mov.u32");
}

TEST(Operands, Immediates) {
  const Body b = parsed_body(
      "i 5, -1, 0x1F, 017, 0b11, 7U, -0x80000000, 0xFFFFFFFFFFFFFFFF;\n"
      "f 0f3F800000, 0d3FF0000000000000, 1.5, -2.5e-1, -0f3F800000, 0F00000000;\n"
      "e (1 + 2) * 3, 1 << 4 | 1, WARP_SZ - 1, ~0, !5, (.u64)-1 >> 60, (.s64)-16 >> 2, 5 > 3 ? 10 "
      ": 20,\n"
      "  1 == 1 && 0 || 1, 7 % 4 ^ 1, -7 / 2, 6 & 3, 0 < -1U;");
  ASSERT_TRUE(b.function);
  const uint64_t ints[] = {5, ~0ull, 31, 15, 3, 7, uint64_t(-0x80000000ll), ~0ull};
  for (size_t i = 0; i < std::size(ints); i++) {
    EXPECT_EQ(b.operand(0, i).kind, Kind::imm);
    EXPECT_FALSE(b.operand(0, i).is_float);
    EXPECT_EQ(b.operand(0, i).bits, ints[i]) << i;
  }
  EXPECT_TRUE(b.operand(1, 0).is_float);
  EXPECT_FALSE(b.operand(1, 0).is_f64);
  EXPECT_EQ(b.operand(1, 0).bits, 0x3F800000u);
  EXPECT_TRUE(b.operand(1, 1).is_f64);
  EXPECT_EQ(b.operand(1, 1).bits, std::bit_cast<uint64_t>(1.0));
  EXPECT_TRUE(b.operand(1, 2).is_f64);
  EXPECT_EQ(b.operand(1, 2).bits, std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(b.operand(1, 3).bits, std::bit_cast<uint64_t>(-0.25));
  EXPECT_EQ(b.operand(1, 4).bits, 0xBF800000u);
  const uint64_t exprs[] = {9, 17, 31, ~0ull, 0, 15, uint64_t(-4), 10, 1, 2, uint64_t(-3), 2, 1};
  for (size_t i = 0; i < std::size(exprs); i++) EXPECT_EQ(b.operand(2, i).bits, exprs[i]) << i;
}

TEST(Operands, RegistersSpecialsAndSinks) {
  const Body b = parsed_body(
      ".reg .b32 %r<9>; .reg .pred %p<3>;\n"
      "shfl.sync.up.b32 %r8|%p1, %tid.x, %laneid, _, !%p2; match.all.sync.b32 _|%p1, %r1; x %p1|_, "
      "%envreg3;");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(b.reg(b.operand(0, 0)), "%r8");
  EXPECT_EQ(b.function->registers.at(size_t(b.operand(0, 0).second)).name, "%p1");
  EXPECT_EQ(b.operand(0, 1).kind, Kind::special);
  EXPECT_EQ(b.operand(0, 1).text, "%tid.x");
  EXPECT_EQ(b.operand(0, 2).text, "%laneid");
  EXPECT_EQ(b.operand(0, 3).kind, Kind::sink);
  EXPECT_TRUE(b.operand(0, 4).negated);
  EXPECT_EQ(b.reg(b.operand(0, 4)), "%p2");
  EXPECT_EQ(b.operand(1, 0).kind, Kind::sink);
  EXPECT_EQ(b.function->registers.at(size_t(b.operand(1, 0).second)).name, "%p1");
  EXPECT_EQ(b.operand(2, 0).second, -1);
  EXPECT_EQ(b.operand(2, 1).text, "%envreg3");
}

TEST(Operands, AVectorMayHaveAPredicateToo) {
  const Body b = parsed_body(
      ".reg .b32 %r<9>; .reg .pred %p<3>; .reg .b64 %rd1;\n"
      "tex.2d.v2.f16x2.f32 {%r1, %r2}|%p1, [%rd1, {%r3, %r4}]; x {%r1, %r2}|_, {%r3};");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(b.operand(0, 0).kind, Kind::vec);
  EXPECT_EQ(b.function->registers.at(size_t(b.operand(0, 0).second)).name, "%p1");
  EXPECT_EQ(b.operand(0, 1).elems.size(), 2u);
  EXPECT_EQ(b.operand(1, 0).second, -1);
}

TEST(Operands, AddressesAndSymbols) {
  const Body b = parsed_body(
      ".reg .b64 %rd<3>;\n"
      "a [%rd1], [%rd1+0x10], [%rd1+-8], [ %rd1 + 4 * 2 ], [x], [x+4+8], [x+4-2], [16], [p], "
      "[%rd2-(1+2)];\n"
      "s x, x+4, x[3], k;",
      ".global .u32 x[8];\n");
  ASSERT_TRUE(b.function);
  const int64_t offsets[] = {0, 16, -8, 8, 0, 12, 2, 16, 0, -3};
  for (size_t i = 0; i < std::size(offsets); i++) {
    EXPECT_EQ(b.operand(0, i).kind, Kind::address);
    EXPECT_EQ(b.operand(0, i).offset, offsets[i]) << i;
  }
  EXPECT_EQ(b.operand(0, 0).reg, 1);
  EXPECT_EQ(b.operand(0, 4).variable, b.module->variable_by_name.at("x"));
  EXPECT_EQ(b.operand(0, 4).reg, -1);
  EXPECT_EQ(b.operand(0, 7).variable, nullptr);
  EXPECT_EQ(b.operand(0, 8).variable, &b.function->params[0]);
  EXPECT_EQ(b.operand(1, 0).kind, Kind::symbol);
  EXPECT_EQ(b.operand(1, 1).offset, 4);
  EXPECT_EQ(b.operand(1, 2).offset, 12);
  EXPECT_EQ(b.operand(1, 3).function, b.function);
}

TEST(Operands, VectorsAndTextures) {
  const Body b = parsed_body(
      ".reg .f32 %f<9>; .reg .b64 %rd1; .reg .b32 %r<3>;\n"
      "tex.2d.v4.f32.f32 {%f1, _, %f3, 0f00000000}, [%rd1, {%f5, %f6}];\n"
      "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, sampler, {%r1}];\n"
      "cp.async.bulk.tensor [%r0], [%rd1, {%r1, %r2}], [%r2];\n"
      "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, %r1];",
      ".global .texref image;\n.global .samplerref sampler = { filter_mode = linear };\n");
  ASSERT_TRUE(b.function);
  const Operand& v = b.operand(0, 0);
  ASSERT_EQ(v.kind, Kind::vec);
  ASSERT_EQ(v.elems.size(), 4u);
  EXPECT_EQ(v.elems[1].kind, Kind::sink);
  EXPECT_EQ(v.elems[3].kind, Kind::imm);
  const Operand& t = b.operand(0, 1);
  ASSERT_EQ(t.kind, Kind::address);
  ASSERT_EQ(t.elems.size(), 2u);
  EXPECT_EQ(b.reg(t.elems[1]), "%f6");
  const Operand& s = b.operand(1, 1);
  EXPECT_EQ(s.variable, b.module->variable_by_name.at("image"));
  ASSERT_EQ(s.elems.size(), 2u);
  EXPECT_EQ(s.elems[0].variable, b.module->variable_by_name.at("sampler"));
  EXPECT_EQ(s.elems[1].kind, Kind::vec);
  EXPECT_EQ(b.operand(2, 1).elems.size(), 2u);
  EXPECT_EQ(b.operand(2, 2).kind, Kind::address);
  EXPECT_EQ(b.reg(b.operand(3, 1).elems.at(0)), "%r1");
}

TEST(Calls, AllForms) {
  const Body b = parsed_body(
      ".reg .b64 %rd1; .param .b32 a, b, r;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
      "none : .callprototype ()_ () .noreturn;\n"
      "call f;\n"
      "call.uni (r), f, (a, 5);\n"
      "call (r),\n%rd1,\n(\na,\nb\n)\n, proto;\n"
      "call %rd1, (), none;\n"
      "fns: .calltargets f, g;\n"
      "call (r), %rd1, (a), fns;",
      ".func f;\n.func g;\n");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(b.operand(0, 0).function, b.module->function_by_name.at("f"));
  EXPECT_EQ(b.operand(1, 0).kind, Kind::list);
  EXPECT_EQ(b.operand(1, 1).kind, Kind::symbol);
  ASSERT_EQ(b.operand(1, 2).elems.size(), 2u);
  EXPECT_EQ(b.operand(1, 2).elems[0].variable->name, "a");
  EXPECT_EQ(b.operand(1, 2).elems[1].bits, 5u);
  EXPECT_EQ(b.operand(2, 1).kind, Kind::reg);
  ASSERT_EQ(b.operand(2, 3).kind, Kind::table);
  const BranchTable& proto = b.function->tables.at(b.operand(2, 3).target);
  EXPECT_EQ(proto.name, "proto");
  EXPECT_EQ(proto.results.size(), 1u);
  ASSERT_EQ(proto.params.size(), 2u);
  EXPECT_EQ(proto.params[1].size, 16u);
  EXPECT_TRUE(b.operand(3, 1).elems.empty());
  EXPECT_EQ(b.function->tables.at(b.operand(3, 2).target).name, "none");
  EXPECT_EQ(b.function->tables.at(b.operand(4, 3).target).functions.size(), 2u);
}

TEST(Labels, BranchTables) {
  const Body b = parsed_body(
      ".reg .b32 %r1;\n"
      "targets: .branchtargets A, B, A;\n"
      "brx.idx %r1, targets;\n"
      "A: ret;\n"
      "B: ret;");
  ASSERT_TRUE(b.function);
  ASSERT_EQ(b.operand(0, 1).kind, Kind::table);
  EXPECT_EQ(b.function->tables.at(b.operand(0, 1).target).targets,
            (std::vector<uint32_t>{1, 2, 1}));
}

TEST(Locations, InlinedCodeKnowsItsChain) {
  const Body b = parsed_body(
      "ret;\n"
      ".loc 1 10 3\n"
      "ret;\n"
      ".loc 2 20 5, function_name $L__info_string0, inlined_at 1 10 3\n"
      "ret;\n"
      ".loc 3 30 7, function_name $L__info_string1+16, inlined_at 2 20 5\n"
      "ret;\n"
      ".loc 1 10 3\n"
      "ret;\n"
      ".loc 2 21 1, function_name $L__info_string0, inlined_at 1 99 9\n"
      "ret;");
  ASSERT_TRUE(b.function);
  const auto& locs = b.function->locs;
  EXPECT_EQ(b.at(0).loc, -1);
  EXPECT_EQ(b.at(1).loc, b.at(4).loc);
  const SourceLoc& leaf = locs.at(size_t(b.at(3).loc));
  EXPECT_EQ(leaf.file, 3u);
  EXPECT_EQ(leaf.line, 30u);
  EXPECT_EQ(leaf.column, 7u);
  EXPECT_EQ(leaf.inlined_at, b.at(2).loc);
  EXPECT_EQ(locs.at(size_t(leaf.inlined_at)).inlined_at, b.at(1).loc);
  EXPECT_EQ(locs.at(size_t(b.at(1).loc)).inlined_at, -1);
  EXPECT_EQ(locs.at(size_t(locs.at(size_t(b.at(5).loc)).inlined_at)).line, 99u);
}

TEST(Errors, SayWhatAndWhere) {
  EXPECT_EQ(
      body_error("\n mov.u32 x, 1;"),
      "6:10: unknown name 'x': no register, variable, function or label in reach is called so");
  EXPECT_EQ(body_error("\n mov.u32 {x}, 1;"),
            "6:11: unknown name 'x': no register, variable or function in reach is called so");
  EXPECT_EQ(body_error("{ .reg .b32 x; } ld.u32 [x], 1;"),
            "5:27: unknown name 'x': no register, variable or function in reach is called so");
  EXPECT_EQ(
      body_error("{ L: } bra L;"),
      "5:13: unknown name 'L': no register, variable, function or label in reach is called so");
  EXPECT_EQ(body_error(".reg .b32 %r<4>; mov.u32 %r4, 1;"),
            "5:27: unknown register '%r4': its declaration stops at 4 registers");
  EXPECT_EQ(body_error(".reg .b32 a; .reg .b64 a;"), "5:25: 'a' is already declared in this block");
  EXPECT_EQ(body_error(".reg .b32 %r<2>; .reg .b32 %r<3>;"),
            "5:29: '%r' is already declared in this block");
  EXPECT_EQ(body_error("L: L: ret;"), "5:5: the label 'L' is already declared in this block");
  EXPECT_EQ(body_error(".reg .b32 a; @a ret;"),
            "5:16: a guard must be a predicate register; 'a' is not one");
  EXPECT_EQ(body_error("@p9 ret;"),
            "5:3: expected a predicate register, and 'p9' is not a register in reach");
  EXPECT_EQ(body_error("ret"), "5:5: expected an operand, found the end");
  EXPECT_EQ(body_error("bar.sync 0 ret;"),
            "5:13: expected ',' or ';' after an operand, found 'ret'");
  EXPECT_EQ(body_error("bar.sync 0,;"), "5:13: expected an operand, found ';'");
  EXPECT_EQ(body_error(";"), "5:2: expected an instruction, a label or a declaration, found ';'");
  EXPECT_EQ(body_error(".foo 3;"), "5:2: unknown directive '.foo' in a function");
  EXPECT_EQ(body_error(".reg .v3 .b32 a;"), "5:7: unknown register type '.v3'");
  EXPECT_EQ(body_error(".reg .b32 %r<99999999>;"),
            "5:15: the number of registers must be an integer up to 1048576");
  EXPECT_EQ(body_error(".reg .v2 .b32 v; mov.b32 v.z, 0;"),
            "5:27: this register has no component '.z'");
  EXPECT_EQ(body_error(".reg .b32 a; add.s32 a, -a, 1;"),
            "5:26: no instruction but vmad negates a register on the way");
  EXPECT_EQ(body_error(".reg .b32 a; mov.b64 a, {a, !a};"),
            "5:31: '!' is for predicates; 'a' is not one");
  EXPECT_EQ(body_error(".reg .b128 q; .reg .b64 a; mov.b128 {a, a}, {a, a};"),
            "5:29: mov.b128 moves a register of 128 bits, or two of 64 to or from one");
  EXPECT_EQ(body_error(".loc 1 2 3, inlined 1 2 3"),
            "5:14: expected function_name or inlined_at, found 'inlined'");
  EXPECT_EQ(body_error("ld.b32 [%tid.x], 0;"),
            "5:10: '%tid.x' is not a register or variable, and cannot start an address");
  EXPECT_EQ(body_error(std::string("mov.b32 ") + std::string(9999, '(') + ";"),
            "5:110: this expression is nested too deeply");
}

TEST(Errors, LeaveTheFunctionUnread) {
  const auto m = parsed(kernel(".reg .b32 r; mov.b32 r, 1; mov.b32 q, 1;"));
  ASSERT_TRUE(m);
  Function& k = *m->function_by_name.at("k");
  const Status first = parse_body(*m, k);
  ASSERT_FALSE(first);
  EXPECT_FALSE(k.parsed);
  EXPECT_TRUE(k.registers.empty() && k.instructions.empty());
  EXPECT_EQ(parse_body(*m, k).message(), first.message());
}

TEST(Errors, AFunctionWithoutABody) {
  const auto m = parsed(".func f;\n");
  ASSERT_TRUE(m);
  const Status status = parse_body(*m, *m->function_by_name.at("f"));
  EXPECT_EQ(status.message(), "test.ptx:4:1: 'f' is declared but has no body\n.func f;\n^");
}

}  // namespace
}  // namespace ridge::vm
