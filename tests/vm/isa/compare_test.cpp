// Comparison and selection against C++'s own, over every operator, type and combination.
#include <cmath>
#include <functional>

#include "lane_harness.h"

namespace ridge::vm::test {
namespace {

const char* const kOrdered[] = {"eq", "ne", "lt", "le", "gt", "ge"};
const char* const kUnsignedNames[] = {"lo", "ls", "hi", "hs"};
const char* const kUnordered[] = {"equ", "neu", "ltu", "leu", "gtu", "geu"};

template <class T>
bool ordered(const std::string& op, T a, T b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a < b || a > b;
  if (op == "lt" || op == "lo") return a < b;
  if (op == "le" || op == "ls") return a <= b;
  if (op == "gt" || op == "hi") return a > b;
  return a >= b;
}
bool floating(const std::string& op, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  if (op == "num") return !nan;
  if (op == "nan") return nan;
  if (op.back() == 'u') return nan || ordered(op.substr(0, 2), a, b);
  return !nan && ordered(op, a, b);
}
bool combined(const std::string& op, bool t, bool c) {
  return op == "and" ? t && c : op == "or" ? t || c : op == "xor" ? t != c : t;
}

double half_value(uint16_t x, int exponent_bits, bool ftz) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (x & 0x7fff) >> mantissa_bits, mantissa = x & ((1 << mantissa_bits) - 1);
  double value;
  if (exponent == (1 << exponent_bits) - 1) value = mantissa ? NAN : INFINITY;
  else if (exponent == 0) value = ftz ? 0 : std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return x & 0x8000 ? -value : value;
}
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

// setp.<op>[.<bool>]<type> for one operator. `truth(op, lane)` is the reference, put() fills slots
// 1 and 2.
struct Case {
  std::string type;  // ".ftz.f32"
  bool second;       // may write q
  std::vector<std::string> ops;
  std::function<void(LaneHarness&, Inputs&)> put;
  std::function<bool(LaneHarness&, const std::string& op, int lane)> truth;
};

template <class T>
Case integer_case(const std::string& type, std::vector<std::string> ops) {
  return {type, true, std::move(ops),
          [](LaneHarness& h, Inputs& in) {
            auto a = in.lanes<T>(), b = in.lanes<T>();
            for (size_t i = 0; i < 32; i += 3) b[i] = a[i];
            h.put(1, a), h.put(2, b);
          },
          [](LaneHarness& h, const std::string& op, int i) {
            return ordered(op, h.get<T>(1)[size_t(i)], h.get<T>(2)[size_t(i)]);
          }};
}
template <class T, class Make, class Value>
Case float_case(const std::string& type, bool second, Make make, Value value) {
  std::vector<std::string> ops(std::begin(kOrdered), std::end(kOrdered));
  ops.insert(ops.end(), std::begin(kUnordered), std::end(kUnordered));
  ops.insert(ops.end(), {"num", "nan"});
  return {type, second, ops,
          [=](LaneHarness& h, Inputs& in) {
            Lanes<T> a, b;
            for (size_t i = 0; i < 32; ++i) a[i] = make(in), b[i] = i % 3 ? make(in) : a[i];
            h.put(1, a), h.put(2, b);
          },
          [=](LaneHarness& h, const std::string& op, int i) {
            return floating(op, value(h.get<T>(1)[size_t(i)]), value(h.get<T>(2)[size_t(i)]));
          }};
}

std::vector<Case> cases() {
  const std::vector<std::string> bits = {"eq", "ne"}, all(std::begin(kOrdered), std::end(kOrdered));
  std::vector<std::string> natural = all;
  natural.insert(natural.end(), std::begin(kUnsignedNames), std::end(kUnsignedNames));
  const auto f32 = [](Inputs& in) { return in.real32(); };
  const auto f64 = [](Inputs& in) { return in.real64(); };
  const auto h16 = [](Inputs& in) { return in.half_bits(); };
  return {
      integer_case<uint16_t>(".b16", bits),
      integer_case<uint32_t>(".b32", bits),
      integer_case<uint64_t>(".b64", bits),
      integer_case<uint16_t>(".u16", natural),
      integer_case<uint32_t>(".u32", natural),
      integer_case<uint64_t>(".u64", natural),
      integer_case<int16_t>(".s16", all),
      integer_case<int32_t>(".s32", all),
      integer_case<int64_t>(".s64", all),
      float_case<float>(".f32", true, f32, [](float x) { return x; }),
      float_case<float>(".ftz.f32", true, f32, flush),
      float_case<double>(".f64", true, f64, [](double x) { return x; }),
      float_case<uint16_t>(".f16", false, h16, [](uint16_t x) { return half_value(x, 5, false); }),
      float_case<uint16_t>(".ftz.f16", false, h16,
                           [](uint16_t x) { return half_value(x, 5, true); }),
      float_case<uint16_t>(".bf16", false, h16, [](uint16_t x) { return half_value(x, 8, false); }),
  };
}

TEST(Compare, SetPredicate) {
  Inputs inputs(5);
  for (const Case& c : cases())
    for (const std::string& op : c.ops)
      for (const std::string combine : {"", ".and", ".or", ".xor"})
        for (int round = 0; round < 6; ++round) {
          const std::string spelling = "setp." + op + combine + c.type;
          const uint32_t mask = round % 2 ? inputs.mask() : kAllLanes;
          const uint32_t other = uint32_t(inputs.bits()), p = uint32_t(inputs.bits()),
                         q = uint32_t(inputs.bits());
          const bool second = c.second && round < 4;
          LaneHarness h;
          c.put(h, inputs);
          h.put_pred(0, p), h.put_pred(3, other), h.put_pred(4, q);
          if (combine.empty())
            h.run(spelling, 0, {h.offset(1), h.offset(2)}, mask, second ? 4 : kNoSlot);
          else
            h.run(spelling, 0, {h.offset(1), h.offset(2), h.negated(3)}, mask,
                  second ? 4 : kNoSlot);
          if (HasFatalFailure()) return;
          uint32_t want_p = p, want_q = q;
          for (int i = 0; i < 32; ++i) {
            if (!(mask >> i & 1)) continue;
            const bool t = c.truth(h, op, i), o = !(other >> i & 1);
            const std::string name = combine.empty() ? "" : combine.substr(1);
            want_p = (want_p & ~(1u << i)) | uint32_t(combined(name, t, o)) << i;
            want_q = (want_q & ~(1u << i)) | uint32_t(combined(name, !t, o)) << i;
          }
          ASSERT_EQ(show(h.get_pred(0)), show(want_p)) << spelling;
          ASSERT_EQ(show(h.get_pred(4)), show(second ? want_q : q)) << spelling;
        }
}

TEST(Compare, SetRegister) {
  Inputs inputs(6);
  for (const Case& c : cases()) {
    const std::string source = c.type.substr(c.type.rfind('.'));
    const bool half = source == ".f16" || source == ".bf16";
    const std::string ftz = c.type.substr(0, c.type.size() - source.size());
    std::vector<std::string> to = {"u32", "s32"};
    if (ftz.empty()) to.push_back("bf16");
    if (!half) to.push_back("f32");
    if (source != ".bf16") to.push_back("f16");
    if (half) to.insert(to.end(), {"u16", "s16"});
    for (const std::string& d : to)
      for (const std::string& op : c.ops)
        for (const std::string combine : {"", ".xor"})
          for (int round = 0; round < 2; ++round) {
            const std::string spelling = "set." + op + combine + ftz + "." + d + source;
            const uint32_t mask = round % 2 ? inputs.mask() : kAllLanes;
            const uint32_t other = uint32_t(inputs.bits());
            LaneHarness h;
            c.put(h, inputs);
            h.put_pred(3, other);
            if (combine.empty()) h.run(spelling, 0, {h.offset(1), h.offset(2)}, mask);
            else h.run(spelling, 0, {h.offset(1), h.offset(2), h.offset(3)}, mask);
            if (HasFatalFailure()) return;
            const bool narrow = d == "u16" || d == "s16" || d == "f16" || d == "bf16";
            const uint32_t one = d == "f32"    ? 0x3f800000
                                 : d == "f16"  ? 0x3c00
                                 : d == "bf16" ? 0x3f80
                                 : narrow      ? 0xffff
                                               : 0xffffffff;
            for (int i = 0; i < 32; ++i) {
              const bool t =
                  combined(combine.empty() ? "" : "xor", c.truth(h, op, i), other >> i & 1);
              const uint32_t want = mask >> i & 1 && t ? one : 0;
              const uint32_t got =
                  narrow ? h.get<uint16_t>(0)[size_t(i)] : h.get<uint32_t>(0)[size_t(i)];
              ASSERT_EQ(show(got), show(want)) << spelling << " lane " << i;
            }
          }
  }
}

TEST(Compare, Pairs) {
  Inputs inputs(9);
  const struct {
    const char* ftz;
    const char* type;
    int exponent_bits;
  } kinds[] = {{"", "f16x2", 5}, {".ftz", "f16x2", 5}, {"", "bf16x2", 8}};
  for (const auto& kind : kinds)
    for (const char* op : {"eq", "ne", "lt", "ge", "equ", "neu", "gtu", "leu", "num", "nan"})
      for (int round = 0; round < 10; ++round) {
        const uint32_t mask = round % 2 ? inputs.mask() : kAllLanes;
        LaneHarness h;
        Lanes<uint32_t> a, b;
        for (size_t i = 0; i < 32; ++i) {
          a[i] = inputs.half_bits() | uint32_t(inputs.half_bits()) << 16;
          b[i] = i % 3 ? inputs.half_bits() | uint32_t(inputs.half_bits()) << 16 : a[i];
        }
        const uint32_t c = uint32_t(inputs.bits());
        h.put(1, a), h.put(2, b), h.put_pred(3, c), h.put_pred(4, 0), h.put_pred(5, 0);
        const std::string tail = std::string(kind.ftz) + "." + kind.type;
        h.run(std::string("setp.") + op + ".and" + tail, 4, {h.offset(1), h.offset(2), h.offset(3)},
              mask, 5);
        h.run(std::string("set.") + op + kind.ftz + "." + kind.type + "." + kind.type, 6,
              {h.offset(1), h.offset(2)}, mask);
        h.run(std::string("set.") + op + kind.ftz + ".u32." + kind.type, 7,
              {h.offset(1), h.offset(2)}, mask);
        for (int i = 0; i < 32; ++i) {
          const auto truth = [&](int shift) {
            const bool ftz = *kind.ftz;
            return (mask >> i & 1) &&
                   floating(op,
                            half_value(uint16_t(a[size_t(i)] >> shift), kind.exponent_bits, ftz),
                            half_value(uint16_t(b[size_t(i)] >> shift), kind.exponent_bits, ftz));
          };
          ASSERT_EQ(h.get_pred(4) >> i & 1, truth(0) && (c >> i & 1)) << op << tail;
          ASSERT_EQ(h.get_pred(5) >> i & 1, truth(16) && (c >> i & 1)) << op << tail;
          const uint32_t one = kind.exponent_bits == 5 ? 0x3c00 : 0x3f80;
          ASSERT_EQ(show(h.get<uint32_t>(6)[size_t(i)]),
                    show((truth(0) ? one : 0) | (truth(16) ? one << 16 : 0)));
          ASSERT_EQ(show(h.get<uint32_t>(7)[size_t(i)]),
                    show((truth(0) ? 0xffffu : 0) | (truth(16) ? 0xffff0000u : 0)));
        }
      }
}

template <class U>
void expect_selection(const std::string& type) {
  Inputs inputs(4);
  for (int round = 0; round < 20; ++round) {
    const uint32_t mask = round % 2 ? inputs.mask() : kAllLanes, p = uint32_t(inputs.bits());
    LaneHarness h;
    const auto a = inputs.lanes<U>(), b = inputs.lanes<U>(), old = inputs.lanes<U>();
    const auto c = inputs.lanes<int32_t>();
    Lanes<float> f;
    for (float& x : f) x = inputs.real32();
    h.put(1, a), h.put(2, b), h.put_pred(3, p), h.put(4, c), h.put(5, f);
    const auto expect = [&](const std::string& spelling, uint32_t source, auto first) {
      h.put(0, old);
      h.run(spelling, 0, {h.offset(1), h.offset(2), source}, mask);
      for (size_t i = 0; i < 32; ++i)
        ASSERT_EQ(h.template get<U>(0)[i], mask >> i & 1 ? (first(i) ? a[i] : b[i]) : old[i])
            << spelling;
    };
    expect("selp." + type, h.offset(3), [&](size_t i) { return p >> i & 1; });
    expect("selp." + type, h.negated(3), [&](size_t i) { return !(p >> i & 1); });
    expect("slct." + type + ".s32", h.offset(4), [&](size_t i) { return c[i] >= 0; });
    expect("slct." + type + ".f32", h.offset(5), [&](size_t i) { return f[i] >= 0; });
    expect("slct.ftz." + type + ".f32", h.offset(5), [&](size_t i) { return flush(f[i]) >= 0; });
  }
}
TEST(Compare, Selection) {
  expect_selection<uint16_t>("b16");
  expect_selection<int16_t>("s16");
  expect_selection<uint32_t>("u32");
  expect_selection<uint32_t>("f32");
  expect_selection<uint64_t>("b64");
  expect_selection<uint64_t>("f64");
}

TEST(Compare, NoSuchForm) {
  std::string error;
  for (const char* spelling :
       {"setp.lt.b32", "setp.lo.s32", "setp.ltu.s32", "setp.ftz.eq.f64", "setp.s32", "setp.eq",
        "set.eq.f32.f16", "set.eq.ftz.bf16.f32", "slct.ftz.f32.s32", "selp.f16", "add.sat.u32"})
    EXPECT_EQ(find_instruction(spelling, &error), nullptr) << spelling;
}

}  // namespace
}  // namespace ridge::vm::test
