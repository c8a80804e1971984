// Texture and surface instructions from PTX: forms that compilers write rarely, and what goes
// wrong.
#include "machine.h"
#include "vm/texture/object.h"

namespace ridge::vm {
namespace {

using testing::Machine;
using texture::Object;

class ImageTest : public ::testing::Test {
 protected:
  // 4 x 2 floats or words: 0, 1 … 7.
  uint64_t object(Object::Kind kind, texture::Format format = {texture::Channel::real, 32, 1}) {
    std::vector<uint32_t> texels(8);
    for (uint32_t i = 0; i < 8; ++i)
      texels[i] = format.kind == texture::Channel::real ? bits(float(i)) : i;
    memory_ = machine_.allocate(texels);
    Object o;
    o.kind = kind;
    o.image.format = format;
    o.image.dimensions = 2;
    texture::Level level;
    level.base = reinterpret_cast<uint8_t*>(memory_);
    level.width = 4;
    level.height = 2;
    level.pitch = 16;
    level.slice = 32;
    o.image.levels = {level};
    o.memory = memory_;
    o.allocation_id = machine_.engine().memory().find(memory_)->id;
    return machine_.engine().textures().add(o);
  }
  static uint32_t bits(float f) {
    uint32_t u;
    std::memcpy(&u, &f, 4);
    return u;
  }
  // k(out, handle): %rd1 is the handle, %out the output.
  void load(const std::string& body) {
    machine_.load(R"(
.visible .entry k(.param .u64 k_out, .param .u64 k_handle)
{
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>, %out; .reg .f32 %f<32>;
  ld.param.u64 %out, [k_out];
  ld.param.u64 %rd1, [k_handle];
)" + body + "\n  ret;\n}\n");
  }
  std::vector<uint32_t> run(const std::string& body, uint64_t handle, size_t count) {
    load(body);
    const uint64_t out = machine_.allocate(std::vector<uint32_t>(count, 0xffffffff));
    const Fault fault = machine_.run({}, {}, out, handle);
    EXPECT_FALSE(fault) << testing::text_of(fault);
    return machine_.read<uint32_t>(out, count);
  }
  std::string report(const std::string& body, uint64_t handle, FaultKind kind = FaultKind::image) {
    load(body);
    const uint64_t out = machine_.allocate(std::vector<uint32_t>(4));
    const Fault fault = machine_.run({}, {}, out, handle);
    EXPECT_EQ(fault.kind, kind) << testing::text_of(fault);
    return testing::text_of(fault);
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  Machine machine_;
  uint64_t memory_ = 0;
};

TEST_F(ImageTest, ResidentAndOffsetAndHalves) {
  const uint64_t t = object(Object::Kind::texture);
  const auto out = run(R"(
  mov.f32 %f5, 0f3fc00000;  // 1.5
  mov.f32 %f6, 0f3f000000;  // 0.5
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f5, %f6}], {1, 1};
  selp.u32 %r1, 1, 0, %p1;
  tex.2d.v2.f16x2.f32 {%r2, %r3}, [%rd1, {%f5, %f6}];
  tex.2d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd1, {%f5, %f6}];
  cvt.u32.u16 %r4, %h1;
  tex.level.2d.v4.s32.s32 {%r5, %r6, %r7, %r8}, [%rd1, {3, 1}], 0;
  st.global.f32 [%out], %f1;
  st.global.v4.u32 [%out+16], {%r1, %r2, %r3, %r4};
  st.global.u32 [%out+4], %r5;
)",
                       t, 8);
  EXPECT_EQ(out[0], bits(6));
  EXPECT_EQ(out[1], bits(7));
  EXPECT_EQ(out[4], 1u);           // resident
  EXPECT_EQ(out[5], 0x00003c00u);  // {1, 0}
  EXPECT_EQ(out[6], 0u);
  EXPECT_EQ(out[7], 0x3c00u);
}

TEST_F(ImageTest, QueriesAndVectorsOnTopOfTheHandle) {
  const uint64_t t = object(Object::Kind::texture, {texture::Channel::uint, 32, 1});
  const auto out = run(R"(
  txq.width.b32 %r1, [%rd1];
  txq.height.b32 %r2, [%rd1];
  txq.channel_data_type.b32 %r3, [%rd1];
  txq.channel_order.b32 %r4, [%rd1];
  txq.depth.b32 %r5, [%rd1];
  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
  st.global.u32 [%out+16], %r5;
)",
                       t, 5);
  EXPECT_EQ(out, (std::vector<uint32_t>{4, 2, 0x10dc, 0x10b0, 0}));
}

TEST_F(ImageTest, SurfacesStoreReduceAndLoad) {
  const uint64_t s = object(Object::Kind::surface, {texture::Channel::uint, 32, 1});
  run(R"(
  mov.u32 %r1, 40;
  sust.p.2d.b32.trap [%rd1, {1, 0}], {%r1};
  sured.b.add.2d.u32.trap [%rd1, {4, 0}], %r1;
  sured.p.max.2d.b32.clamp [%rd1, {99, 99}], %r1;
  sured.b.or.2d.b32.zero [%rd1, {-4, 0}], %r1;
  mov.b16 %h1, 200;
  sust.b.2d.b8.trap [%rd1, {0, 1}], {%h1};
  suld.b.2d.v2.b32.clamp {%r2, %r3}, [%rd1, {800, 0}];
  suq.height.b32 %r4, [%rd1];
  sust.b.2d.v2.b32.zero [%rd1, {8, 0}], {%r3, %r4};
)",
      s, 1);
  EXPECT_EQ(machine_.read<uint32_t>(memory_, 8),
            (std::vector<uint32_t>{0, 80, 3, 2, 200, 5, 6, 40}));
}

TEST_F(ImageTest, OutsideASurfaceTraps) {
  const uint64_t s = object(Object::Kind::surface);
  const std::string text = report("suld.b.2d.b32.trap {%r1}, [%rd1, {16, 1}];", s);
  EXPECT_TRUE(contains(text, "byte 16 of row 1")) << text;
  EXPECT_TRUE(contains(text, "4 x 2 x 1 texels of 4 bytes")) << text;
}

TEST_F(ImageTest, MisalignedBytesFault) {
  const uint64_t s = object(Object::Kind::surface);
  report("sust.b.2d.b32.trap [%rd1, {2, 1}], {%r1};", s, FaultKind::misaligned_address);
}

const std::string kLook = R"(
  mov.f32 %f5, 0f3fc00000;
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}];
  st.global.f32 [%out], %f1;
)";

TEST_F(ImageTest, UsesAfterTheEndAreTold) {
  const uint64_t t = object(Object::Kind::texture);
  EXPECT_TRUE(contains(report(kLook, 0), "ever created"));
  EXPECT_TRUE(contains(report(kLook, t + 77), "ever created"));
  EXPECT_TRUE(contains(report("suld.b.2d.b32.trap {%r1}, [%rd1, {0, 0}];", t),
                       "is a texture object, not a surface object"));
  machine_.engine().memory().release(memory_, MemKind::device);
  EXPECT_TRUE(contains(report(kLook, t), "has been freed"));
  machine_.engine().textures().destroy(t, Object::Kind::texture);
  EXPECT_TRUE(contains(report(kLook, t), "has been destroyed"));
}

TEST_F(ImageTest, RefusedByName) {
  const uint64_t t = object(Object::Kind::texture);
  const auto refusal = [&](const std::string& body) {
    return report(body, t, FaultKind::unsupported);
  };
  EXPECT_TRUE(contains(refusal("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}], %f6;"),
                       "depth"));
  EXPECT_TRUE(contains(refusal("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f5}];"),
                       "samplerref"));
  EXPECT_TRUE(contains(refusal("tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}];"),
                       "4 coordinates"));
  machine_.load(R"(
.global .texref picture;
.visible .entry k(.param .u64 k_out)
{
  .reg .f32 %f<8>;
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f5, %f5}];
  ret;
}
)");
  const Fault fault = machine_.run({}, {}, uint64_t(0));
  EXPECT_EQ(fault.kind, FaultKind::unsupported);
  EXPECT_TRUE(contains(testing::text_of(fault), ".texref")) << testing::text_of(fault);
}

}  // namespace
}  // namespace ridge::vm
