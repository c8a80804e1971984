// Which mul and add become one fma. The values tell: a * b lies half a unit of its last place above
// -c, so that a * b + c is exactly that half where they are fused and 0 where the product is
// rounded.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

constexpr uint32_t kRounded = 0, kFused = 0x33800000;  // 2^-24
constexpr uint32_t kFusedNegative = 0xb3800000;
constexpr const char* kA = "0f3f800800";  // as an immediate

// The outputs of a kernel that has a = b = 1 + 2^-12, c = -(1 + 2^-11), one = 1, n = 7, and t … z
// free.
class Contract : public ::testing::Test {
 protected:
  static std::string kernel(const std::string& body) {
    return R"(
.visible .entry k(.param .u64 k_out, .param .f32 k_b)
{
  .reg .f32 %a, %b, %c, %one, %param, %t, %u, %v, %w, %x, %y, %z;
  .reg .pred %p, %q; .reg .b32 %n, %i; .reg .b64 %out;
  ld.param.u64 %out, [k_out];
  ld.param.f32 %param, [k_b];
  ld.global.f32 %a, [%out+64]; ld.global.f32 %b, [%out+68]; ld.global.f32 %c, [%out+72];
  ld.global.f32 %one, [%out+76]; ld.global.u32 %n, [%out+80];
  setp.eq.u32 %p, %n, 7; setp.ne.u32 %q, %n, 7;
)" + body + "\n  ret;\n}\n";
  }
  std::vector<uint32_t> run(const std::string& body, const std::string& options = "") {
    Machine m;
    const std::string head = ".version 8.0\n.target sm_90" + options + "\n.address_size 64\n";
    const auto program = m.engine().load(head + kernel(body), "test.ptx");
    EXPECT_TRUE(program) << program.error().message;
    std::vector<uint32_t> memory(32, ~0u);
    const uint32_t inputs[] = {0x3f800800, 0x3f800800, 0xbf801000, 0x3f800000, 7};
    std::copy(std::begin(inputs), std::end(inputs), memory.begin() + 16);
    const uint64_t out = m.allocate(memory);
    Launch launch = Machine::shape({1}, {1});
    launch.kernel = m.engine().find_kernel(*program, "k");
    launch.params.resize(12);
    std::memcpy(launch.params.data(), &out, 8);
    std::memcpy(launch.params.data() + 8, &inputs[1], 4);
    m.engine().set_counting(true);
    const Fault fault = m.engine().run(launch);
    EXPECT_FALSE(fault) << text_of(fault);
    executed_ = m.engine().counts().thread_instructions;
    return m.read<uint32_t>(out, 4);
  }
  // The only output.
  uint32_t result(const std::string& body) { return run(body + " st.global.f32 [%out], %z;")[0]; }

  uint64_t executed_ = 0;
};

TEST_F(Contract, SumOfAProduct) {
  EXPECT_EQ(result("mul.f32 %t,%a,%b; add.f32 %z,%t,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; add.f32 %z,%c,%t;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; add.f32 %t,%t,%c; mov.f32 %z,%t;"), kFused);
  EXPECT_EQ(result("mul.ftz.f32 %t,%a,%b; add.ftz.f32 %z,%t,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; add.sat.f32 %z,%t,%c;"), kFused);
}

TEST_F(Contract, Differences) {
  EXPECT_EQ(result("neg.f32 %u,%c; mul.f32 %t,%a,%b; sub.f32 %z,%t,%u;"), kFused);
  EXPECT_EQ(result("neg.f32 %u,%c; mul.f32 %t,%a,%b; sub.f32 %z,%u,%t;"), kFusedNegative);
  EXPECT_EQ(result("neg.f32 %u,%c; mul.f32 %t,%a,0f3f800800; sub.f32 %z,%u,%t;"), kFusedNegative);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; sub.f32 %z,%t,0f3f801000;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; sub.f32 %z,0f3f801000,%t;"), kFusedNegative);
}

TEST_F(Contract, OnlyUnroundedAndAlike) {
  EXPECT_EQ(result("mul.rn.f32 %t,%a,%b; add.f32 %z,%t,%c;"), kRounded);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; add.rn.f32 %z,%t,%c;"), kRounded);
  EXPECT_EQ(result("mul.rn.f32 %t,%a,%b; sub.rn.f32 %z,%t,0f3f801000;"), kRounded);
  EXPECT_EQ(result("mul.ftz.f32 %t,%a,%b; add.f32 %z,%t,%c;"), kRounded);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; add.ftz.f32 %z,%t,%c;"), kRounded);
  EXPECT_EQ(result("mul.sat.f32 %t,%a,%b; sub.f32 %z,%t,%one;"), kRounded);
}

TEST_F(Contract, CopiesAndNegationsAreSeenThrough) {
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mov.f32 %u,%t; add.f32 %z,%u,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mov.b32 %i,%t; mov.b32 %u,%i; add.f32 %z,%u,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; neg.f32 %u,%t; sub.f32 %z,%u,%c;"), kFusedNegative);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; neg.f32 %u,%t; sub.f32 %z,%c,%u;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mul.f32 %u,%t,0f3f800000; add.f32 %z,%u,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; abs.f32 %u,%t; add.f32 %z,%u,%c;"), kRounded);
}

TEST_F(Contract, AnotherUseOfTheProductPreventsIt) {
  const auto stored = run(
      "mul.f32 %t,%a,%b; add.f32 %z,%t,%c; st.global.f32 [%out],%z; st.global.f32 [%out+4],%t;");
  EXPECT_EQ(stored[0], kRounded);
  EXPECT_EQ(stored[1], 0x3f801000u);
  EXPECT_EQ(
      result(
          "mul.f32 %t,%a,%b; add.f32 %z,%t,%c; fma.rn.f32 %u,%t,%t,%t; st.global.f32 [%out+4],%u;"),
      kRounded);
  EXPECT_EQ(
      result("mul.f32 %t,%a,%b; add.f32 %u,%t,%t; add.f32 %z,%t,%c; st.global.f32 [%out+4],%u;"),
      kRounded);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; @%q add.f32 %t,%t,%t; add.f32 %z,%t,%c;"), kRounded);
}

TEST_F(Contract, SumsOnlyAllTakeTheProduct) {
  const auto both = run(R"(mul.f32 %t,%a,%b; add.f32 %u,%t,%c; neg.f32 %v,%c; sub.f32 %w,%v,%t;
                           st.global.f32 [%out],%u; st.global.f32 [%out+4],%w;)");
  EXPECT_EQ(both[0], kFused);
  EXPECT_EQ(both[1], kFusedNegative);
}

// Of a*b + c*one only the first product's rounding shows.
TEST_F(Contract, WhichOfTwoProducts) {
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mul.f32 %u,%c,%one; add.f32 %z,%t,%u;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mul.f32 %u,%c,%one; add.f32 %z,%u,%t;"), kRounded);
  EXPECT_EQ(result("mul.f32 %u,%c,%one; mul.f32 %t,%a,%b; add.f32 %z,%t,%u;"), kFused);
  // Used once before used twice.
  EXPECT_EQ(result(R"(mul.f32 %t,%a,%b; mul.f32 %u,%c,%one; add.f32 %z,%t,%u;
                      add.f32 %v,%t,%one; st.global.f32 [%out+4],%v;)"),
            kRounded);
  EXPECT_EQ(result(R"(mul.f32 %t,%a,%b; mul.f32 %u,%c,%one; add.f32 %v,%u,%one; add.f32 %z,%u,%t;
                      st.global.f32 [%out+4],%v;)"),
            kFused);
  // The other is an addend now: its sums do not take it.
  const auto kept =
      run(R"(mul.f32 %t,%a,%b; mul.f32 %u,%one,%one; add.f32 %v,%t,%c; add.f32 %w,%t,%u;
                           st.global.f32 [%out],%v; st.global.f32 [%out+4],%w;)");
  EXPECT_EQ(kept[0], kRounded);
  // Two uses before three; of as many uses, the first operand.
  EXPECT_EQ(result(R"(mul.f32 %t,%a,%b; mul.f32 %u,%c,%one; add.f32 %z,%u,%t; add.f32 %v,%t,%one;
                      add.f32 %w,%u,%one; add.f32 %x,%u,%a; st.global.f32 [%out+4],%v;
                      st.global.f32 [%out+8],%w; st.global.f32 [%out+12],%x;)"),
            kFused);
  EXPECT_EQ(result(R"(mul.f32 %t,%a,%b; mul.f32 %u,%c,%one; add.f32 %z,%u,%t; add.f32 %v,%t,%one;
                      add.f32 %w,%u,%one; st.global.f32 [%out+4],%v; st.global.f32 [%out+8],%w;)"),
            kRounded);
}

TEST_F(Contract, GuardedSumsButNotGuardedProducts) {
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mov.f32 %z,%one; @%p add.f32 %z,%t,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mov.f32 %z,%one; @%q add.f32 %z,%t,%c;"), 0x3f800000u);
  EXPECT_EQ(result("mov.f32 %t,%one; @%p mul.f32 %t,%a,%b; add.f32 %z,%t,%c;"), kRounded);
}

TEST_F(Contract, BranchesAndWhatBecomesBranches) {
  EXPECT_EQ(result("mov.f32 %z,%one; mul.f32 %t,%a,%b; @%q bra L; add.f32 %z,%t,%c; L:"), kRounded);
  EXPECT_EQ(
      result("mul.f32 %t,%a,%b; div.rn.f32 %u,%a,%b; add.f32 %z,%t,%c; st.global.f32 [%out+4],%u;"),
      kRounded);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; @%q ld.global.f32 %b,[%out]; add.f32 %z,%t,%c;"), kRounded);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; ld.global.f32 %u,[%out]; bar.sync 0; add.f32 %z,%t,%c;"),
            kFused);
  EXPECT_EQ(
      result(
          "mul.f32 %t,%a,%b; div.full.f32 %u,%a,%b; add.f32 %z,%t,%c; st.global.f32 [%out+4],%u;"),
      kFused);
  // The same register in another stretch is another value.
  EXPECT_EQ(result("mul.f32 %t,%a,%b; add.f32 %z,%t,%c; @%q bra L; mul.f32 %t,%a,%a; st.global.f32 "
                   "[%out+4],%t; L:"),
            kFused);
}

TEST_F(Contract, AConstantFactorCrossesBranches) {
  const std::string rest = "mov.f32 %z,%one; @%q bra L; add.f32 %z,%t,%c; L:";
  EXPECT_EQ(result("mul.f32 %t,%a," + std::string(kA) + ";" + rest), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%param;" + rest), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%param; mov.f32 %a,%one;" + rest), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%param;" + rest + "st.global.f32 [%out+4],%t;"), kRounded);
  EXPECT_EQ(result("mov.u32 %i,0; mul.f32 %t,%a,%param; L: add.f32 %z,%t,%c; add.u32 %i,%i,1; "
                   "setp.lt.u32 %q,%i,%n; @%q bra L;"),
            kFused);
}

TEST_F(Contract, FactorsThatWereOverwritten) {
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mov.f32 %a,%one; add.f32 %z,%t,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mov.f32 %a,%one; mov.f32 %b,%one; add.f32 %z,%t,%c;"),
            kFused);
  EXPECT_EQ(result("mov.f32 %t,%a; mul.f32 %t,%t,%b; add.f32 %z,%t,%c;"), kFused);
  EXPECT_EQ(result("mul.f32 %t,%a,%b; mov.f32 %u,%t; mov.f32 %t,%one; add.f32 %z,%u,%c;"), kFused);
  EXPECT_EQ(result("bra M; L: ret; M: mul.f32 %t,%a,%b; @%p mov.f32 %a,%one; add.f32 %z,%t,%c; "
                   "st.global.f32 [%out],%z; bra L;"),
            kFused);
}

TEST_F(Contract, ConstantsAreMultipliedBeforehand) {
  EXPECT_EQ(result("mov.f32 %t,0f3f800800; mul.f32 %u,%t,%t; add.f32 %z,%u,%c;"), kRounded);
  EXPECT_EQ(result("mov.f32 %t,0f3f800800; mul.f32 %u,%t,%a; add.f32 %z,%u,%c;"), kFused);
}

// c * 1 is c, so that a * b is the only product of the sum.
TEST_F(Contract, ProductsWithOneAreNone) {
  const std::string rest = "mul.f32 %u,%a,%b; add.f32 %z,%t,%u;";
  EXPECT_EQ(result("mul.f32 %t,%c,0f3f800000;" + rest), kFused);
  EXPECT_EQ(result("mul.f32 %t,%c,1.0;" + rest), kFused);
  EXPECT_EQ(result("mul.ftz.f32 %t,%c,0f3f800000;" + rest), kFused);
  EXPECT_EQ(result("mul.f32 %t,%c,0f3f000000; mul.f32 %t,%t,0f40000000;" + rest), kRounded);
  EXPECT_EQ(result("mul.f32 %t,%c,0fbf800000; mul.f32 %u,%a,%b; sub.f32 %z,%u,%t;"), kFused);
  // In a register, too, moved and negated; not where it has another value on another path.
  EXPECT_EQ(result("mov.f32 %y,0f3f800000; mul.f32 %t,%c,%y;" + rest), kFused);
  EXPECT_EQ(result("mov.b32 %i,0x3f800000; mov.b32 %y,%i; mul.f32 %t,%y,%c;" + rest), kFused);
  EXPECT_EQ(result("mov.f32 %y,0f3f800000; neg.f32 %x,%y; mul.f32 %t,%c,%x; neg.f32 %t,%t;" + rest),
            kFused);
  EXPECT_EQ(
      result("mov.f32 %y,0f3f800000; @%q bra L; mov.f32 %v,%one; L: mul.f32 %t,%c,%y;" + rest),
      kFused);
  EXPECT_EQ(result("mov.f32 %y,0f3f800000; @%q mov.f32 %y,%a; mul.f32 %t,%c,%y;" + rest), kRounded);
  EXPECT_EQ(
      result("mov.f32 %y,0f3f800000; @%q bra L; mov.f32 %y,%one; L: mul.f32 %t,%c,%y;" + rest),
      kRounded);
  // Of a product, it is a copy.
  EXPECT_EQ(result("mov.f32 %y,0fbf800000; mul.f32 %t,%a,%b; mul.f32 %u,%t,%y; sub.f32 %z,%c,%u;"),
            kFused);
}

TEST_F(Contract, DebugCodeIsLeftAlone) {
  const std::string body = "mul.f32 %t,%a,%b; add.f32 %z,%t,%c; st.global.f32 [%out],%z;";
  EXPECT_EQ(run(body)[0], kFused);
  EXPECT_EQ(run(body, ", debug")[0], kRounded);
}

TEST_F(Contract, AProductThatNothingReadsIsNotExecuted) {
  run("mul.f32 %t,%a,%b; add.f32 %z,%t,%c; st.global.f32 [%out],%z;");
  const uint64_t fused = executed_;
  run("fma.rn.f32 %z,%a,%b,%c; st.global.f32 [%out],%z;");
  EXPECT_EQ(fused, executed_);
  run("mul.f32 %t,%a,%b; mov.f32 %u,%t; sub.f32 %z,%u,%c; st.global.f32 [%out],%z;");
  EXPECT_EQ(fused, executed_);
  run("mul.rn.f32 %t,%a,%b; add.f32 %z,%t,%c; st.global.f32 [%out],%z;");
  EXPECT_EQ(fused + 1, executed_);
}

// The other formats: a * b + c with the same construction.
struct Format {
  const char* type;
  const char* bits;
  uint64_t a, c, fused, one;
};
class ContractFormat : public ::testing::TestWithParam<Format> {};

TEST_P(ContractFormat, SumOfAProduct) {
  const Format& f = GetParam();
  const auto run = [&](const std::string& rounding, bool used_twice) {
    const std::string type = f.type, bits = f.bits;
    Machine m;
    m.load_body(".reg ." + bits + " %a, %c, %t, %u;" + "ld.global." + bits +
                " %a,[%out]; ld.global." + bits + " %c,[%out+8]; mul" + rounding + "." + type +
                " %t,%a,%a; add." + type + " %u,%t,%c; st.global." + bits + " [%out+16],%u;" +
                (used_twice ? "st.global." + bits + " [%out+24],%t;" : ""));
    const uint64_t out = m.allocate(std::vector<uint64_t>{f.a, f.c, 0, 0});
    const Fault fault = m.run({1}, {1}, out);
    EXPECT_FALSE(fault) << text_of(fault);
    return m.read<uint64_t>(out, 3)[2];
  };
  EXPECT_EQ(run("", false), f.fused);
  EXPECT_EQ(run("", true), 0u);
  EXPECT_EQ(run(".rn", false), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    , ContractFormat,
    ::testing::Values(Format{"f64", "b64", 0x3ff0000002000000, 0xbff0000004000000,
                             0x3c90000000000000, 0x3ff0000000000000},
                      Format{"f16", "b16", 0x3c10, 0xbc20, 0x0c00, 0x3c00},
                      Format{"f16x2", "b32", 0x3c103c10, 0xbc20bc20, 0x0c000c00, 0x3c003c00},
                      Format{"bf16", "b16", 0x3f88, 0xbf90, 0x3b80, 0x3f80},
                      Format{"bf16x2", "b32", 0x3f883f88, 0xbf90bf90, 0x3b803b80, 0x3f803f80}),
    [](const auto& info) { return std::string(info.param.type); });

// c * 1 + a * a in the same values: of halves in pairs, 1 is a factor like any other.
TEST_P(ContractFormat, ProductsWithOneAreNone) {
  const Format& f = GetParam();
  const std::string type = f.type, bits = f.bits;
  const bool pairs = type.ends_with("x2");
  Machine m;
  m.load_body(".reg ." + bits + " %a, %c, %t, %u, %one; ld.global." + bits +
              " %a,[%out]; ld.global." + bits + " %c,[%out+8]; mov." + bits + " %one," +
              std::to_string(f.one) + "; mul." + type + " %t,%c,%one; mul." + type +
              " %u,%a,%a; add." + type + " %u,%t,%u; st.global." + bits + " [%out+16],%u;");
  const uint64_t out = m.allocate(std::vector<uint64_t>{f.a, f.c, 0});
  const Fault fault = m.run({1}, {1}, out);
  EXPECT_FALSE(fault) << text_of(fault);
  EXPECT_EQ(m.read<uint64_t>(out, 3)[2], pairs ? 0 : f.fused);
}

// Halves look at sums one after another: a product of two sums goes into the first even where the
// second could take one that is used once.
TEST(ContractHalf, NoFirstStepForProductsUsedOnce) {
  Machine m;
  m.load_body(R"(
  .reg .b32 %a, %c, %one, %t, %u, %v, %w;
  ld.global.b32 %a,[%out]; ld.global.b32 %c,[%out+4]; ld.global.b32 %one,[%out+8];
  mul.f16x2 %t,%a,%a; mul.f16x2 %u,%one,%one; add.f16x2 %v,%t,%c; add.f16x2 %w,%u,%t;
  st.global.b32 [%out+12],%v; st.global.b32 [%out+16],%w;)");
  const uint64_t out = m.allocate(std::vector<uint32_t>{0x3c103c10, 0xbc20bc20, 0x3c003c00, 0, 0});
  const Fault fault = m.run({1}, {1}, out);
  EXPECT_FALSE(fault) << text_of(fault);
  EXPECT_EQ(m.read<uint32_t>(out, 4)[3], 0x0c000c00u);
}

}  // namespace
}  // namespace ridge::vm::testing
