// Dynamic parallelism: grids that kernels launch.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

const std::string kDeclarations = R"(
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,
    .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 d, .param .b64 s, .param .b64 n,
    .param .b32 k, .param .b64 t);
)";
// *p = *p * by + 1, and a shared array that is not its parent's business.
const std::string kChild = R"(
.visible .entry child(.param .u64 p, .param .u32 by) {
  .reg .b64 %rd<3>; .reg .b32 %r<5>;
  .shared .align 4 .b8 big[40000];
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [by];
  ld.global.u32 %r2, [%rd1];
  mad.lo.u32 %r2, %r2, %r1, 1;
  st.shared.u32 [big], %r2;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
// Launches child(out, by) with `threads` threads into a stream; %r1 = what the launch says.
std::string launch(const std::string& stream, int by, int threads = 1) {
  return R"({
  .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
  mov.u64 %rd9, child;
  st.param.b64 [f], %rd9;
  st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
  st.param.b32 [b], )" +
         std::to_string(threads) + R"(; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
  st.param.b32 [s], 0;
  call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);
  ld.param.b64 %rd1, [r];
  setp.eq.u64 %p1, %rd1, 0;
  @!%p1 st.u64 [%rd1], %out;
  mov.u32 %r9, )" +
         std::to_string(by) + R"(;
  @!%p1 st.u32 [%rd1+8], %r9;
  .param .b64 q; .param .b64 t; .param .b32 c;
  st.param.b64 [q], %rd1;
  st.param.b64 [t], )" +
         stream + R"(;
  call (c), __cudaCDP2LaunchDeviceV2, (q, t);
  ld.param.b32 %r1, [c];
})";
}
const std::string kNull = "0", kTail = "3", kForget = "4";

uint32_t run(const std::string& body, uint32_t start, Fault* fault = nullptr) {
  Machine m;
  m.load_body(body, kDeclarations + kChild);
  const uint64_t out = m.allocate(std::vector<uint32_t>{start, 0});
  const Fault got = m.run({1}, {1}, out);
  if (fault) *fault = got;
  else EXPECT_FALSE(got) << text_of(got);
  return m.read<uint32_t>(out, 1)[0];
}

TEST(Children, RunInOrderAndTailsLast) {
  EXPECT_EQ(run(launch(kNull, 2), 10), 21u);
  EXPECT_EQ(run(launch(kTail, 3) + launch(kNull, 2) + launch(kForget, 5), 1),
            ((1u * 2 + 1) * 5 + 1) * 3 + 1);
}

TEST(Children, SeeWhatTheirParentWrote) {
  EXPECT_EQ(run("mov.u32 %r5, 7; st.global.u32 [%out], %r5;" + launch(kForget, 10), 1), 71u);
}

TEST(Children, CopiesKeepTheirPlace) {
  EXPECT_EQ(run("mov.u32 %r5, 100; st.global.u32 [%out+4], %r5;" + launch(kNull, 2) + R"({
  .param .b64 d; .param .b64 s; .param .b64 n; .param .b32 k; .param .b64 t; .param .b32 r;
  add.u64 %rd3, %out, 4;
  st.param.b64 [d], %out; st.param.b64 [s], %rd3; st.param.b64 [n], 4; st.param.b32 [k], 3;
  st.param.b64 [t], 0;
  call (r), __cudaCDP2MemcpyAsync, (d, s, n, k, t);
})" + launch(kNull, 3),
                10),
            301u);
}

TEST(Children, ABadConfigurationIsAnErrorOfTheThread) {
  EXPECT_EQ(run(launch(kNull, 2, 2048) + R"({
  .param .b32 r;
  call (r), __cudaCDP2GetLastError;
  ld.param.b32 %r2, [r];
  st.global.u32 [%out], %r2;
})",
                0),
            1u)
      << "the launch of no buffer";
  EXPECT_EQ(run(launch(kNull, 2, 0) + "st.global.u32 [%out], %r1;", 5), 1u);
}

TEST(Children, AFaultOfAChildIsTheParentsOutcome) {
  Fault fault;
  Machine m;
  m.load_body("mov.u64 %out, 64;" + launch(kNull, 2), kDeclarations + kChild);
  fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::illegal_address);
  EXPECT_NE(text_of(fault).find("in kernel child"), std::string::npos) << text_of(fault);
}

TEST(Children, OtherDeviceFunctionsAreRefusedByName) {
  Machine m;
  m.load_body("{ .param .b32 r; call (r), __cudaCDP2DeviceGetLimit; }",
              ".extern .func (.param .b32 r) __cudaCDP2DeviceGetLimit();");
  const Fault fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::unsupported);
  EXPECT_NE(text_of(fault).find("'DeviceGetLimit' is not supported"), std::string::npos)
      << text_of(fault);
}

}  // namespace
}  // namespace ridge::vm::testing
