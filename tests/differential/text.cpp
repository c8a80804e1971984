// The frame around a program's statements: declarations, the first values of the registers, and
// where the last ones go.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "pools.h"
#include "program.h"
#include "random.h"

namespace ridge::differential {
namespace {

constexpr uint32_t kLevels = 7;

uint64_t threads(const Program& p) { return uint64_t(p.blocks) * p.threads; }

// Names are per function, so every function declares the same ones.
std::string registers() {
  std::string text;
  for (const Pool& p : kPools)
    text += ".reg ." + std::string(p.type) + " %" + p.letter + "<" + number(p.count) + ">;\n";
  const std::string levels = "<" + number(kLevels) + ">";
  return text + ".reg .b32 %m" + levels + ", %w" + levels + ", %c" + levels + ", %n" + levels +
         ";\n.reg .pred %q" + levels +
         ", %tp;\n.reg .b16 %th;\n.reg .b32 %t<4>, %thread;\n.reg .b64 %u<3>;\n.reg .f32 %tf;\n"
         ".reg .f64 %te;\n.reg .b64 %buffer, %in, %ag, %as, %sg, %ss, %sl, %gs, %gl, %bg, %bs;\n"
         ".local .align 16 .b8 scratch[" +
         number(kScratchBytes) + "];\n";
}

// %s*: a thread's scratch bytes in global, shared and local memory; %g*: the same as generic
// addresses; %b*: where the block's begin; %a*: the accumulators.
std::string bases(const Program& p) {
  const std::string stride = number(kScratchBytes);
  return "mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmad.lo.u32 %thread, %t1, " +
         number(p.threads) + ", %t0;\nmov.b64 %ag, %buffer;\nmul.wide.u32 %u0, %thread, " + stride +
         ";\nadd.u64 %sg, %buffer, %u0;\nadd.u64 %sg, %sg, " + number(kAccumulatorBytes) +
         ";\nmul.wide.u32 %u0, %t0, " + stride + ";\nsub.u64 %bg, %sg, %u0;\nmov.u64 %as, shared_" +
         p.name() + ";\nadd.u64 %bs, %as, " + number(kAccumulatorBytes) +
         ";\nadd.u64 %ss, %bs, %u0;\nmov.u64 %sl, scratch;\ncvta.shared.u64 %gs, %ss;\n"
         "cvta.local.u64 %gl, %sl;\n";
}

std::string kernel_start(const Program& p) {
  std::string text = "ld.param.u64 %buffer, [buffer];\nld.param.u64 %in, [in];\n" + bases(p);
  // Each register from its pool's region of the input, another place for every thread.
  text +=
      "mul.lo.u32 %t2, %thread, 40;\nand.b32 %t2, %t2, 1016;\ncvt.u64.u32 %u0, %t2;\n"
      "add.u64 %u0, %u0, %in;\n";
  Random random(p.seed);
  for (const Pool& pool : kPools)
    for (uint32_t i = 0; i < pool.count; ++i) {
      const uint32_t offset = pool.region * kRegionBytes + random.below(128) * 8;
      const std::string at = "[%u0+" + number(offset) + "]";
      if (pool.bytes)
        text += "ld.global.b" + number(pool.bytes * 8) + " %" + pool.letter + number(i) + ", " +
                at + ";\n";
      else text += "ld.global.s8 %t3, " + at + ";\nsetp.gt.s32 %p" + number(i) + ", %t3, 0;\n";
    }
  for (uint32_t at = 0; at < kScratchBytes; at += 8)
    text += "st.shared.u64 [%ss+" + number(at) + "], %d0;\nst.local.u64 [%sl+" + number(at) +
            "], %d1;\n";
  // The block's accumulators start like the grid's, which the host copied from the same place.
  text +=
      "mov.u32 %t0, %tid.x;\nACCUMULATORS:\nmul.wide.u32 %u0, %t0, 8;\nadd.u64 %u1, %u0, %in;\n"
      "add.u64 %u2, %u0, %as;\nsetp.lt.u32 %tp, %t0, " +
      number(kAccumulatorBytes / 8) + ";\n@%tp ld.global.u64 %u1, [%u1+" +
      number(kRegions * kRegionBytes) + "];\n@%tp st.shared.u64 [%u2], %u1;\nadd.u32 %t0, %t0, " +
      number(p.threads) + ";\n@%tp bra ACCUMULATORS;\nbar.sync 0;\n";
  if (p.threads % 32 == 0) return text + "mov.b32 %m0, 0xffffffff;\n";
  return text + "mov.u32 %t0, %tid.x;\nand.b32 %t0, %t0, 0xffffffe0;\nsub.u32 %t0, " +
         number(p.threads) + ", %t0;\nmin.u32 %t0, %t0, 32;\nbmsk.clamp.b32 %m0, 0, %t0;\n";
}

// Row after row, so that neighbouring threads write neighbouring places.
std::string kernel_end(const Program& p) {
  uint64_t row = kAccumulatorBytes + threads(p) * kScratchBytes;
  std::string text;
  uint32_t bytes = 0;
  for (const Pool& pool : kPools)
    for (uint32_t i = 0; i < pool.count; ++i) {
      const uint32_t size = pool.bytes ? pool.bytes : 1;
      if (size != bytes)
        text += "mul.wide.u32 %u0, %thread, " + number(size) + ";\nadd.u64 %u0, %u0, %buffer;\n";
      bytes = size;
      const std::string name = std::string("%") + pool.letter + number(i);
      if (!pool.bytes) text += "selp.u32 %t0, 1, 0, " + name + ";\n";
      text += "st.global.b" + number(size * 8) + " [%u0+" + number(row) + "], " +
              (pool.bytes ? name : "%t0") + ";\n";
      row += size * threads(p);
    }
  return text + "ret;\n";
}

// Registers from the two values it is given; one value of each kind out of all of them.
std::string function_start(const Program& p) {
  std::string text = "ld.param.b64 %buffer, [i3];\nld.param.b64 %in, [i4];\n" + bases(p) +
                     "ld.param.b32 %t0, [i0];\nld.param.b64 %u0, [i1];\nld.param.b32 %m0, [i2];\n";
  for (uint32_t i = 0; i < pool('d').count; ++i)
    text += "mad.lo.u64 %d" + number(i) + ", %u0, " + number(2 * i + 3) + ", " + number(i) + ";\n";
  for (uint32_t i = 0; i < pool('r').count; ++i)
    text += "mad.lo.u32 %r" + number(i) + ", %t0, " + number(4 * i + 1) + ", " + number(i) + ";\n";
  for (uint32_t i = 0; i < pool('h').count; ++i)
    text += "cvt.u16.u32 %h" + number(i) + ", %r" + number(i) + ";\n";
  for (uint32_t i = 0; i < pool('f').count; ++i)
    text += "cvt.rn.f32.s16 %f" + number(i) + ", %h" + number(i) + ";\n";
  for (uint32_t i = 0; i < pool('e').count; ++i)
    text += "cvt.rn.f64.s32 %e" + number(i) + ", %r" + number(i) + ";\n";
  for (uint32_t i = 0; i < 4; ++i) {
    const std::string n = number(i);
    text += "cvt.rn.f16.s16 %k" + n + ", %h" + n + ";\ncvt.rn.bf16.s16 %b" + n + ", %h" + n +
            ";\nmov.b32 %x" + n + ", {%k" + n + ", %k0};\nmov.b32 %y" + n + ", {%b" + n +
            ", %b0};\n";
  }
  for (uint32_t i = 0; i < pool('p').count; ++i)
    text += "setp.gt.s32 %p" + number(i) + ", %r" + number(i) + ", 0;\n";
  for (uint32_t at = 0; at < kScratchBytes; at += 8)
    text += "st.local.u64 [%sl+" + number(at) + "], %d1;\n";
  return text;
}
std::string function_end() {
  std::string text = "FUNCTION_END:\nmov.b32 %t0, 0;\nmov.b64 %u0, 0;\n";
  for (const Pool& pool : kPools)
    for (uint32_t i = 0; i < pool.count; ++i) {
      const std::string name = std::string("%") + pool.letter + number(i);
      if (pool.bytes == 8)
        text += "mul.lo.u64 %u0, %u0, 5;\nmov.b64 %u1, " + name + ";\nxor.b64 %u0, %u0, %u1;\n";
      if (pool.bytes == 4)
        text += "mul.lo.u32 %t0, %t0, 5;\nmov.b32 %t1, " + name + ";\nxor.b32 %t0, %t0, %t1;\n";
      if (pool.bytes == 2)
        text += "mul.lo.u32 %t0, %t0, 5;\ncvt.u32.u16 %t1, " + name + ";\nxor.b32 %t0, %t0, %t1;\n";
      if (pool.bytes == 0) text += "@" + name + " xor.b32 %t0, %t0, " + number(256u << i) + ";\n";
    }
  return text + "st.param.b32 [o], %t0;\nst.param.b64 [o+8], %u0;\nret;\n";
}

char kept(const Mask& mask, const Node& node) {
  return node.id < mask.size() ? mask[node.id] : '+';
}

void append(const std::vector<Node>& nodes, const Mask& mask, bool unwrapped, std::string& out) {
  for (const Node& n : nodes) {
    const char keep = kept(mask, n);
    if (keep == '-' || (unwrapped && n.leaves_loop)) continue;
    if (keep == 'u') out += n.unwrapped;
    for (const Arm& arm : n.arms) {
      if (keep == '+') out += arm.head;
      append(arm.body, mask, keep == 'u', out);
    }
    if (keep == '+') out += n.tail;
  }
}

std::string signature(const std::string& name) {
  return ".func (.param .align 8 .b8 o[16]) " + name +
         "(.param .b32 i0, .param .b64 i1, .param .b32 i2, .param .b64 i3, .param .b64 i4)";
}

uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

std::string module_header() { return ".version 8.2\n.target sm_90\n.address_size 64\n"; }

std::string text(const Program& p, const Mask& mask) {
  Random random(p.seed + 1);
  std::string out = ".const .align 16 .b32 table_" + p.name() + "[16] = {";
  for (int i = 0; i < 16; ++i) out += (i ? ", " : "") + number(random.next() >> 32);
  out += "};\n.shared .align 16 .b8 shared_" + p.name() + "[" +
         number(kAccumulatorBytes + p.threads * kScratchBytes) + "];\n";
  for (size_t i = 0; i < p.functions.size(); ++i) {
    out += signature("f" + number(i) + "_" + p.name()) + "\n{\n" + registers() + function_start(p);
    append(p.functions[i], mask, false, out);
    out += function_end() + "}\n";
  }
  if (p.functions.size() == 2)
    out += ".global .align 8 .u64 functions_" + p.name() + "[2] = {f0_" + p.name() + ", f1_" +
           p.name() + "};\n";
  out += ".visible .entry " + p.name() + "(.param .u64 buffer, .param .u64 in)\n{\n" + registers() +
         kernel_start(p);
  out += "// statements\n";
  append(p.kernel, mask, false, out);
  return out + "// end of statements\n" + kernel_end(p) + "}\n";
}

uint64_t buffer_bytes(uint32_t blocks, uint32_t threads) {
  uint64_t row = kScratchBytes;
  for (const Pool& pool : kPools) row += (pool.bytes ? pool.bytes : 1) * pool.count;
  return kAccumulatorBytes + row * blocks * threads;
}

std::vector<uint8_t> input_bytes() {
  std::vector<uint8_t> bytes(kRegions * kRegionBytes + kAccumulatorBytes);
  Random random(2024);
  const auto put = [&](uint32_t region, uint32_t index, auto value) {
    std::memcpy(bytes.data() + region * kRegionBytes + index * sizeof value, &value, sizeof value);
  };
  // Floats of moderate size, so that most results are neither infinite nor zero.
  const auto real = [&] {
    const double fraction = double(int64_t(random.next() >> 12)) / double(1ull << 52) - 0.5;
    return std::ldexp(fraction, int(random.below(17)) - 6);
  };
  for (uint32_t i = 0; i < kRegionBytes / 8; ++i) put(kIntegers, i, random.next());
  for (uint32_t i = 0; i < kRegionBytes / 4; ++i) put(kFloats, i, float(real()));
  for (uint32_t i = 0; i < kRegionBytes / 8; ++i) put(kDoubles, i, real());
  for (uint32_t i = 0; i < kRegionBytes / 2; ++i) {
    // An f16 of the same size as the f32: sign, exponent 15 - 6 … 15 + 10, ten bits of fraction.
    const uint16_t half =
        uint16_t((random.below(2) << 15) | ((9 + random.below(17)) << 10) | random.below(1024));
    put(kHalves, i, half);
    put(kBrains, i, uint16_t(float_bits(float(real())) >> 16));
  }
  // One in sixteen is an edge: zeros, infinities, NaNs, subnormals, by chance of the bits.
  for (uint32_t i = 0; i < kRegionBytes / 4; i += 16) {
    constexpr uint32_t kEdges[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                   0x7fc12345, 1,          0x7f7fffff};
    put(kFloats, i, random.pick(kEdges));
  }
  for (uint32_t i = 0; i < kRegionBytes / 8; i += 16) {
    constexpr uint64_t kEdges[] = {0, 1ull << 63,        0x7ffull << 52, 0xfffull << 52,
                                   1, 0x000fffffffffffff};
    put(kDoubles, i, random.pick(kEdges));
  }
  for (uint32_t i = 0; i < kRegionBytes / 2; i += 16) {
    constexpr uint16_t kHalf[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e01, 1, 0x7bff, 0x03ff};
    constexpr uint16_t kBrain[] = {0, 0x8000, 0x7f80, 0xff80, 0x7fc1, 1, 0x7f7f, 0x007f};
    put(kHalves, i, random.pick(kHalf));
    put(kBrains, i, random.pick(kBrain));
  }
  // Accumulators: zero for floats, which stay exact; anything else for the rest.
  for (uint32_t i = 0; i < kAccumulatorBytes / 8; ++i) {
    const bool is_float =
        kAccumulators[i / kCells].value == 'f' || kAccumulators[i / kCells].value == 'e';
    put(kRegions, i, is_float ? uint64_t(0) : random.next());
  }
  return bytes;
}

}  // namespace ridge::differential
