// Read, print, read: the same module.
#include "vm/parse/print.h"

#include "parse_test.h"
#include "same_module.h"
#include "sample_ptx.h"

namespace ridge::vm {
namespace {

void comes_back(const std::string& text) {
  auto module = parse_module(text, "test.ptx");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(round_trip(**module), "") << print(**module);
  for (const Function& f : (*module)->functions) EXPECT_EQ(f.parsed, f.defined) << f.name;
}

TEST(Print, Samples) {
  comes_back(std::string(kCompiledPtx));
  comes_back(std::string(kEverythingPtx));
}

TEST(Print, Text) {
  Body b = parsed_body(R"(
    .reg .pred %p<2>; .reg .b32 %r<3>, x; .reg .v2 .f32 v; .reg .b64 %rd0;
    .loc 1 2 3
    @!%p1 mad.lo.s32 %r0, x, -5, 0f3F800000;
  there: { .reg .b32 x; mov.u32 x, %tid.x; }
    ld.param.u64 %rd0, [p+8];
    st.v2.f32 [%rd0+-4], v;
    @%p0 bra there;
    ret;)");
  ASSERT_TRUE(b.function);
  EXPECT_EQ(print(*b.module), R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %p<2>;
.reg .b32 %r<3>;
.reg .b32 x;
.reg .v2 .f32 v;
.reg .b64 %rd<1>;
.reg .b32 x__2;
.loc 1 2 3
@!%p1 mad.lo.s32 %r0, x, -5, 0f3F800000;
$L_1_:
mov.u32 x__2, %tid.x;
ld.param.u64 %rd0, [p+8];
st.v2.f32 [%rd0-4], v;
@%p0 bra $L_1_;
ret;
}
)");
}

TEST(Print, Variables) {
  comes_back(std::string(kHeader) + R"(
    .file 1 "a \"b\" \\ \303\251.cu"
    .file 3 ""
    .func callee(); .func callee() { ret; }
    .extern .global .u64 later;
    .global .u64 first[3] = {later+8, generic(later), 0};
    .visible .global .u64 later = first;
    .global .b8 bytes[8] = {0xFF(later), 0xFF00(later), 1, 2};
    .const .f32 one = 0f3F800000; .const .f64 two[2] = {0d4000000000000000, 1e-300};
    .global .u64 pointer = callee; .global .s32 negative = -3; .global .b128 wide = 5;
    .global .v4 .f32 vector; .global .align 64 .b8 aligned[3]; .weak .global .u32 weak[2][3] = {{1}, {4, 5}};
    .common .global .u32 common[0]; .global .attribute(.managed) .u32 managed; .extern .shared .b8 s[];
    .global .u32 zeros[4] = {0, 0}; .global .texref t;
    .visible .entry k(.param .align 16 .b8 big[24]) .maxntid 32, 2 .minnctapersm 2 .maxnreg 40 {
      .local .align 8 .b8 frame[16]; .shared .f32 s[4]; { .shared .f32 s[5]; st.shared.f32 [s], 0f00000000; }
      st.shared.f32 [s+4], 0f3F800000; ret; }
  )");
}

TEST(Print, Operands) {
  comes_back(std::string(kHeader) + R"(
    .global .texref t; .global .u32 g[4]; .func (.reg .b32 r) f(.reg .b32 a, .param .b64 _) { mov.b32 r, a; ret; }
    .entry k() {
      .reg .v4 .b32 v; .reg .v2 .b32 w; .reg .b32 %r<12>, a1<3>; .reg .b64 %rd<3>; .reg .pred %p<3>, q;
      .reg .b32 $L_0; .param .b32 in; .param .b32 in2;
      tex.2d.v4.s32.s32 v, [t, {%r0, %r1}]; tex.a.v4.s32.s32 {%r0, %r1, %r2, %r3}, [t, %r1, {%r0, %r1}];
      mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r1, _}, %rd1; tex.v2.s32 {%r1, %r2}|%p0, [t, {%r0, %r1}]; mov.u32 v.z, w.y; mov.v2.u32 w, {w.y, w.x};
      vadd.s32.s32.s32 %r1, %r2.b0, %r3.h1, %r4; setp.lt.s32 %p0|%p1, %r1, 4; setp.lt.s32 _|%p1, %r1, 4;
      setp.lt.and.s32 %p0, a10, a12, !q; ld.global.u32 %r1, [g+8]; ld.global.u32 %r1, [16]; mov.u64 %rd1, g;
      mov.u64 %rd1, g[2]; mov.u64 %rd2, f; mov.f64 %rd1, 1.5; mov.u64 %rd1, -9223372036854775808;
      ld.u32 %r1, [%rd1-9223372036854775808]; mov.u32 %r1, WARP_SZ; mov.u32 %r1, %ctaid.y; mov.u32 %r1, 5U;
      call (%r0), f, (%r1, %rd0); call (in), %rd1, (in2, 7), proto; call (in), %rd1, (in2), targets;
      brx.idx %r1, table; bra after;
      { .param .b32 in; .reg .b32 %r<2>; st.param.b32 [in], %r1; here: bra here; }
      { .param .b32 in; here: bra here; }
      proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 4 .b8 _[8]);
      targets: .calltargets f; empty: .callprototype _;
      table: .branchtargets after, start;
      start: mov .u32 %r1, %r2; ret;
      after:
    })");
}

TEST(Print, InlinedPlaces) {
  comes_back(std::string(kHeader) + R"(
    .entry k() {
      .loc 1 1 1
      .loc 1 2 1, inlined_at 1 1 1
      .loc 1 3 1, function_name $L_info, inlined_at 1 2 1
      ret;
      .loc 1 2 1
      .loc 1 9 9
      .loc 1 3 1, inlined_at 1 2 1
      ret;
      .loc 1 2 1, inlined_at 1 1 1
      ret;
    })");
}

TEST(Print, ABodyThatIsNotReadStaysAsItIs) {
  const auto module = parsed(kernel("nonsense here; // and a comment\n"));
  ASSERT_TRUE(module);
  EXPECT_NE(print(*module).find("\n{nonsense here; // and a comment\n}\n"), std::string::npos);
}

// The comparison itself: it sees each of these.
TEST(Print, DifferencesAreSeen) {
  const std::string body = "{ .reg .b32 a, b; .loc 1 1 1\n add.s32 a, b, 1; ret; }";
  const auto module_of = [](const std::string& text) {
    auto module = parsed(text);
    for (Function& f : module->functions) EXPECT_TRUE(parse_body(*module, f));
    return module;
  };
  const auto module = module_of(".global .u32 g = 1; .entry k() " + body);
  for (const char* other :
       {".global .u32 g = 2; .entry k() { .reg .b32 a, b; .loc 1 1 1\n add.s32 a, b, 1; ret; }",
        ".global .s32 g = 1; .entry k() { .reg .b32 a, b; .loc 1 1 1\n add.s32 a, b, 1; ret; }",
        ".global .u32 g = 1; .entry k() { .reg .b32 a, b; .loc 1 2 1\n add.s32 a, b, 1; ret; }",
        ".global .u32 g = 1; .entry k() { .reg .b32 a, c; .loc 1 1 1\n add.s32 a, c, 1; ret; }",
        ".global .u32 g = 1; .entry k() { .reg .b32 a, b; .loc 1 1 1\n add.s32 a, b, 1; }",
        ".global .u32 g = 1; .entry k() .maxnreg 9 { .reg .b32 a, b; .loc 1 1 1\n add.s32 a, b, 1; "
        "ret; }"})
    EXPECT_NE(difference(*module, *module_of(other)), "") << other;
  EXPECT_EQ(difference(*module, *module_of(".global .u32 g = 1;\n\n.entry k()\n" + body)), "");
}

}  // namespace
}  // namespace ridge::vm
