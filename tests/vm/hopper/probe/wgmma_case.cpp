#include "wgmma_case.h"

namespace ridge::hopper {

std::string WgmmaCase::instruction() const {
  std::string s = "wgmma.mma_async";
  if (sparse) s += ".sp";
  s += ".sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(k()) + "." + name_of(d) +
       "." + name_of(a) + "." + name_of(b);
  if (a == Kind::b1) s += ".and.popc";
  if (satfinite) s += ".satfinite";
  return s;
}

std::string WgmmaCase::name() const {
  std::string s = instruction();
  s += a_in_registers ? " a=registers" : " a=shared";
  if (!is_integer(a)) s += " scale=" + std::to_string(scale_a) + "," + std::to_string(scale_b);
  s += scale_d ? " d=1" : " d=0";
  if (sparse) s += " selector=" + std::to_string(selector) + (any_metadata ? " any" : "");
  if (chain > 1) s += " chain=" + std::to_string(chain);
  return s;
}

std::vector<WgmmaCase> wgmma_cases() {
  struct Types {
    Kind d, a, b;
    bool satfinite = false;
  };
  std::vector<Types> types = {{Kind::f32, Kind::bf16, Kind::bf16},
                              {Kind::f32, Kind::f16, Kind::f16},
                              {Kind::f16, Kind::f16, Kind::f16},
                              {Kind::f32, Kind::tf32, Kind::tf32}};
  for (Kind d : {Kind::f32, Kind::f16})
    for (Kind a : {Kind::e4m3, Kind::e5m2})
      for (Kind b : {Kind::e4m3, Kind::e5m2}) types.push_back({d, a, b});
  for (bool saturates : {false, true})
    for (Kind a : {Kind::s8, Kind::u8})
      for (Kind b : {Kind::s8, Kind::u8}) types.push_back({Kind::s32, a, b, saturates});
  types.push_back({Kind::s32, Kind::b1, Kind::b1});

  std::vector<WgmmaCase> all;
  const auto base = [](const Types& t) {
    WgmmaCase c;
    c.d = t.d;
    c.a = t.a;
    c.b = t.b;
    c.satfinite = t.satfinite;
    return c;
  };
  for (const Types& t : types) {
    for (bool in_registers : {false, true}) {
      WgmmaCase c = base(t);
      c.a_in_registers = in_registers;
      std::vector<int> widths = {8, 32, 256};
      if (t.a == Kind::bf16) widths = {8, 16, 24, 32, 64, 128, 176, 256};
      for (int n : widths) {
        c.n = n;
        all.push_back(c);
      }
      c.n = 8;
      c.chain = 4;
      all.push_back(c);
      c.chain = 1;
      c.scale_d = false;
      all.push_back(c);
      c.scale_d = true;
      if (!is_integer(t.a))
        for (int scales = 1; scales < 4; ++scales) {
          c.scale_a = scales & 1 ? -1 : 1;
          c.scale_b = scales & 2 ? -1 : 1;
          all.push_back(c);
        }
    }
    if (t.a == Kind::b1) continue;
    for (bool in_registers : {false, true})
      for (int selector = 0; selector < (bits_of(t.a) >= 16 ? 2 : 1); ++selector)
        for (int n : {8, 256})
          for (bool any : {false, true}) {
            if (any && n != 8) continue;
            WgmmaCase c = base(t);
            c.sparse = true;
            c.a_in_registers = in_registers;
            c.selector = selector;
            c.n = n;
            c.any_metadata = any;
            all.push_back(c);
          }
  }
  return all;
}

int rounds_of(const WgmmaCase& c) { return c.n <= 32 ? 2 * kModes : kModes; }
int mode_of_round(int round) { return round % kModes; }

std::string module_header() {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 shared_image[];\n";
}

std::string kernel_text(const WgmmaCase& c, const std::string& name) {
  const auto number = [](size_t x) { return std::to_string(x); };
  const int accumulators = c.registers(), a_count = c.a_registers();
  std::string t = ".visible .entry " + name +
                  "(.param .u64 in, .param .u64 in_bytes, .param .u64 out, .param .u64 out_bytes,\n"
                  "    .param .u64 desc_a, .param .u64 desc_b, .param .u64 desc_b_step)\n{\n"
                  "  .reg .b32 c<" +
                  number(accumulators) + ">, a<" + number(std::max(a_count, 1)) +
                  ">, m<4>, r<8>;\n  .reg .b64 x<12>;\n  .reg .pred p, q;\n"
                  "  mov.u32 r0, %tid.x;\n  mov.u32 r1, %ctaid.x;\n  cvt.u64.u32 x0, r1;\n"
                  "  ld.param.u64 x1, [in];\n  ld.param.u64 x2, [in_bytes];\n"
                  "  mad.lo.u64 x1, x0, x2, x1;\n"
                  "  ld.param.u64 x3, [out];\n  ld.param.u64 x4, [out_bytes];\n"
                  "  mad.lo.u64 x3, x0, x4, x3;\n"
                  "  mul.wide.u32 x5, r0, 4;\n  add.u64 x3, x3, x5;\n"
                  "  mov.u32 r2, shared_image;\n  shl.b32 r3, r0, 2;\n"
                  "copy:\n"
                  "  setp.ge.u32 p, r3, " +
                  number(c.shared_bytes()) +
                  ";\n  @p bra done;\n"
                  "  cvt.u64.u32 x6, r3;\n  add.u64 x6, x6, x1;\n  ld.global.b32 r4, [x6];\n"
                  "  add.u32 r5, r2, r3;\n  st.shared.b32 [r5], r4;\n  add.u32 r3, r3, 512;\n"
                  "  bra copy;\ndone:\n  fence.proxy.async;\n  bar.sync 0;\n"
                  "  add.u64 x1, x1, x5;\n";
  size_t at = c.shared_bytes();
  const auto load = [&](const std::string& reg) {
    t += "  ld.global.b32 " + reg + ", [x1+" + number(at) + "];\n";
    at += 512;
  };
  for (int i = 0; i < a_count; ++i) load("a" + number(i));
  for (int i = 0; i < c.metadata_registers(); ++i) load("m" + number(i));
  for (int i = 0; i < accumulators; ++i) load("c" + number(i));
  t += "  shr.u32 r6, r2, 4;\n  cvt.u64.u32 x7, r6;\n"
       "  ld.param.u64 x8, [desc_a];\n  add.u64 x8, x8, x7;\n"
       "  ld.param.u64 x9, [desc_b];\n  add.u64 x9, x9, x7;\n"
       "  ld.param.u64 x10, [desc_b_step];\n"
       "  setp.ne.u32 q, r2, 0x7fffffff;\n";  // true, but not known to be
  if (!c.scale_d) t += "  setp.eq.u32 q, r2, 0x7fffffff;\n";
  t += "  wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < c.chain; ++step) {
    t += "  " + c.instruction() + " {";
    for (int i = 0; i < accumulators; ++i) t += (i ? ", c" : "c") + number(i);
    t += "}, ";
    if (c.a_in_registers) {
      t += "{";
      for (int i = 0; i < 4; ++i) t += (i ? ", a" : "a") + number(4 * step + i);
      t += "}";
    } else {
      t += "x8";
    }
    t += ", x9, ";
    if (c.sparse) t += "m" + number(step) + ", " + number(c.selector) + ", ";
    t += "q";
    if (!is_integer(c.a)) {
      t += ", " + std::to_string(c.scale_a) + ", " + std::to_string(c.scale_b);
      if (bits_of(c.a) == 16) {
        if (!c.a_in_registers) t += c.trans_a ? ", 1" : ", 0";
        t += c.trans_b ? ", 1" : ", 0";
      }
    }
    t += ";\n";
    if (step + 1 < c.chain)
      t += "  add.u64 x8, x8, " + number(64 * 32 / 16) + ";\n  add.u64 x9, x9, x10;\n";
  }
  t += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < accumulators; ++i)
    t += "  st.global.b32 [x3+" + number(512 * i) + "], c" + number(i) + ";\n";
  return t + "  ret;\n}\n";
}

namespace {
uint32_t metadata_word(Kind kind, bool any, Stream& stream) {
  static constexpr int kPairs[] = {4, 8, 9, 12, 13, 14};  // two places of four, the lower one first
  if (any) return uint32_t(stream.next());
  uint32_t word = 0;
  for (int q = 0; q < 8; ++q) {
    const uint64_t r = stream.next();
    word |= uint32_t(kind == Kind::tf32 ? (r & 1 ? 14 : 4) : kPairs[r % 6]) << (4 * q);
  }
  return word;
}
}  // namespace

// In the order in which it is stored: all A in shared memory (of the whole chain), all B, and then
// the registers.
std::vector<uint32_t> make_input(const WgmmaCase& c, int round) {
  std::vector<uint32_t> words(c.input_words());
  const std::string name = c.name();
  Stream stream(hash_bytes(name.data(), name.size()) + uint64_t(round));
  const int mode = mode_of_round(round);
  auto* at = reinterpret_cast<uint8_t*>(words.data());
  const auto put = [&](size_t bytes, Kind kind, Role role) {
    fill(at, bytes, kind, role, mode, stream);
    at += bytes;
  };
  put(c.a_bytes() * c.chain, c.a, Role::factor);
  put(c.b_bytes() * c.chain, c.b, Role::factor);
  put(size_t(512) * c.a_registers(), c.a, Role::factor);
  for (int i = 0; i < 128 * c.metadata_registers(); ++i, at += 4) {
    const uint32_t word = metadata_word(c.a, c.any_metadata, stream);
    std::memcpy(at, &word, 4);
  }
  put(size_t(512) * c.registers(), c.d, Role::addend);
  return words;
}

}  // namespace ridge::hopper
