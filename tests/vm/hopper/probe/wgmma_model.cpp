#include "wgmma_model.h"

#include <algorithm>
#include <bit>

namespace ridge::hopper {

Factor factor_of(Kind kind, uint32_t bits) {
  if (kind == Kind::tf32) bits &= 0xffffe000u;  // the low bits are not looked at
  const Format f = format_of(kind);
  const int bias = (1 << (f.exponent_bits - 1)) - 1, most = (1 << f.exponent_bits) - 1;
  const uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const int field = int(bits >> f.mantissa_bits) & most;
  Factor x;
  x.negative = bits >> (f.mantissa_bits + f.exponent_bits) & 1;
  if (f.has_infinity && field == most) {
    x.nan = mantissa != 0;
    x.infinite = !x.nan;
    return x;
  }
  if (!f.has_infinity && field == most && mantissa == (1u << f.mantissa_bits) - 1) {
    x.nan = true;
    return x;
  }
  x.significand = mantissa | (field ? 1u << f.mantissa_bits : 0);
  x.exponent = (field ? field : 1) - bias;
  x.scale = x.exponent - f.mantissa_bits;
  return x;
}

Rule rule_of(Kind a) { return a == Kind::e4m3 || a == Kind::e5m2 ? Rule{13, 13} : Rule{25, 23}; }

namespace {

// Nothing is aligned to an exponent below this one.
constexpr int kLeastExponent = -133;
constexpr uint32_t kNan32 = 0x7fffffffu, kNan16 = 0x7fffu;

// significand * 2^scale in units of 2^unit, cut off towards zero.
int64_t in_units(bool negative, uint64_t significand, int scale, int unit) {
  const int right = unit - scale;
  const uint64_t size = right >= 64 ? 0 : right >= 0 ? significand >> right : significand << -right;
  return negative ? -int64_t(size) : int64_t(size);
}

// sum * 2^unit as f32 with `kept` bits after the leading one, cut off.
uint32_t cut_to_f32(int64_t sum, int unit, int kept) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x80000000u : 0;
  uint64_t size = uint64_t(sum < 0 ? -sum : sum);
  const int top = 63 - std::countl_zero(size) + unit;
  if (top > 127) return sign | 0x7f800000u;
  const int last = std::max(top, -126) - kept;  // exponent of the last bit that is kept
  size = last > unit ? (last - unit > 63 ? 0 : size >> (last - unit)) : size << (unit - last);
  if (size == 0) return 0;  // never -0
  size <<= 23 - kept;
  return sign |
         (top < -126 ? uint32_t(size) : uint32_t(top + 127) << 23 | (uint32_t(size) & 0x7fffff));
}

// sum * 2^unit as the nearest f16, ties to even.
uint32_t round_to_f16(int64_t sum, int unit) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x8000u : 0;
  const uint64_t size = uint64_t(sum < 0 ? -sum : sum);
  const int top = 63 - std::countl_zero(size) + unit;
  if (top > 15) return sign | 0x7c00u;
  const int last = std::max(top, -14) - 10;
  uint64_t kept;
  if (last <= unit) {
    kept = size << (unit - last);
  } else {
    const int drop = last - unit;
    if (drop > 63) return sign;
    kept = size >> drop;
    const uint64_t rest = size & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    if (rest > half || (rest == half && kept & 1)) ++kept;
  }
  if (kept == 0) return 0;  // never -0
  // `kept` may have become one bit longer: adding the fields carries into the exponent.
  return sign | uint32_t(top < -14 ? kept : (uint64_t(top + 14) << 10) + kept);
}

uint32_t float_sum(const std::vector<Factor>& x, const std::vector<Factor>& y, uint32_t c_bits,
                   const WgmmaCase& w) {
  const Rule rule = rule_of(w.a);
  const bool half = w.d == Kind::f16;
  const Factor c = factor_of(w.d, c_bits);
  bool nan = c.nan, plus = c.infinite && !c.negative, minus = c.infinite && c.negative;
  int highest = -1000;
  if (c.significand) {
    // Of C the exponent is that of its leading bit.
    highest = std::max(highest, c.exponent);
  }
  for (size_t k = 0; k < x.size(); ++k) {
    const bool zero = (!x[k].significand && !x[k].infinite && !x[k].nan) ||
                      (!y[k].significand && !y[k].infinite && !y[k].nan);
    const bool infinite = x[k].infinite || y[k].infinite;
    if (x[k].nan || y[k].nan || (infinite && zero)) nan = true;
    else if (infinite) (x[k].negative != y[k].negative ? minus : plus) = true;
    else if (!zero) highest = std::max(highest, x[k].exponent + y[k].exponent);
  }
  if (nan || (plus && minus)) return half ? kNan16 : kNan32;
  if (plus || minus)
    return half ? (minus ? 0xfc00u : 0x7c00u) : (minus ? 0xff800000u : 0x7f800000u);
  if (highest == -1000) return 0;
  highest = std::max(highest, kLeastExponent);
  const int unit = highest - rule.fraction;
  int64_t sum = in_units(c.negative, c.significand, c.scale, unit);
  for (size_t k = 0; k < x.size(); ++k)
    sum += in_units(x[k].negative != y[k].negative, uint64_t(x[k].significand) * y[k].significand,
                    x[k].scale + y[k].scale, unit);
  return half ? round_to_f16(sum, unit) : cut_to_f32(sum, unit, rule.result_bits);
}

uint32_t integer_sum(const std::vector<int>& x, const std::vector<int>& y, uint32_t c,
                     bool saturates) {
  int64_t sum = int32_t(c);
  for (size_t k = 0; k < x.size(); ++k) sum += int64_t(x[k]) * y[k];
  if (saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  return uint32_t(sum);
}

class Operands {
 public:
  Operands(const WgmmaCase& c, const std::vector<uint32_t>& input, int step)
      : c_(c),
        step_(step),
        shared_(reinterpret_cast<const uint8_t*>(input.data())),
        a_registers_(input.data() + c.shared_bytes() / 4 + size_t(512) * step * c.a_in_registers),
        metadata_(input.data() + c.shared_bytes() / 4 + size_t(128) * (c.a_registers() + step)) {}

  // Element `stored` of row m as it is stored.
  uint32_t a(int m, int stored) const {
    const int bits = bits_of(c_.a);
    if (!c_.a_in_registers)
      return in_shared(c_.a_bytes() * size_t(step_), m, stored, bits, c_.k_bytes_a());
    const int per_word = 32 / bits, chunk = 4 * per_word;
    const int reg = stored / chunk * 2 + m % 16 / 8;
    const int thread = m / 16 * 32 + m % 8 * 4 + stored % chunk / per_word;
    return a_registers_[128 * reg + thread] >> (bits * (stored % per_word)) & mask(bits);
  }
  uint32_t b(int n, int k) const {
    return in_shared(c_.a_bytes() * size_t(c_.chain) + c_.b_bytes() * size_t(step_), n, k,
                     bits_of(c_.b), c_.k_bytes_b());
  }
  // The element of column n that stored element `stored` of row m meets.
  uint32_t met(int m, int stored, int n) const {
    if (!c_.sparse) return b(n, stored);
    if (bits_of(c_.a) != 32) return b(n, stored / 2 * 4 + index(m, stored));
    // A group is four halves of two elements, and the metadata selects halves: what PTX does not
    // allow makes one number of halves of two.
    const auto half = [&](int i) { return b(n, 2 * stored + i / 2) >> (16 * (i % 2)) & 0xffff; };
    return half(index(m, 2 * stored)) | half(index(m, 2 * stored + 1)) << 16;
  }

 private:
  // Two bits of metadata of row m.
  int index(int m, int i) const {
    const int first = m / 16 * 32 + m % 8 * 4, upper = m % 16 / 8, bit = 2 * i;
    if (bits_of(c_.a) >= 16)
      return int(metadata_[first + 2 * c_.selector + bit / 16] >> (16 * upper + bit % 16)) & 3;
    return int(metadata_[first + 2 * (bit / 32) + upper] >> bit % 32) & 3;
  }
  static uint32_t mask(int bits) { return bits == 32 ? ~0u : (1u << bits) - 1; }
  uint32_t in_shared(size_t start, int row, int k, int bits, int row_bytes) const {
    const int bit = k * bits, byte = bit / 8;
    const size_t at =
        start + size_t(row / 8 * 8 * row_bytes + byte / 16 * 128 + row % 8 * 16 + byte % 16);
    uint32_t word = 0;
    std::memcpy(&word, shared_ + at, bits < 8 ? 1 : size_t(bits) / 8);
    return word >> bit % 8 & mask(bits);
  }

  const WgmmaCase& c_;
  int step_;
  const uint8_t* shared_;
  const uint32_t *a_registers_, *metadata_;
};

int integer_of(Kind kind, uint32_t bits) { return kind == Kind::s8 ? int8_t(bits) : int(bits); }

}  // namespace

std::vector<uint32_t> wgmma_result(const WgmmaCase& c, const std::vector<uint32_t>& input) {
  const uint32_t* addend = input.data() + c.shared_bytes() / 4 +
                           size_t(128) * (c.a_registers() + c.metadata_registers());
  std::vector<uint32_t> d(addend, addend + c.output_words());
  const int stored_k = c.sparse ? c.k() / 2 : c.k();
  const auto place = [&](int m, int n, int& shift) {
    const int thread = m / 16 * 32 + m % 8 * 4 + n % 8 / 2;
    if (c.d == Kind::f16) {
      shift = 16 * (n % 2);
      return size_t(128 * (n / 8 * 2 + m % 16 / 8) + thread);
    }
    shift = 0;
    return size_t(128 * (n / 8 * 4 + m % 16 / 8 * 2 + n % 2) + thread);
  };
  const uint32_t mask = c.d == Kind::f16 ? 0xffffu : ~0u;
  for (int step = 0; step < c.chain; ++step) {
    const Operands in(c, input, step);
    for (int m = 0; m < 64; ++m) {
      std::vector<Factor> row;
      std::vector<int> numbers;
      for (int k = 0; k < stored_k; ++k) {
        if (is_integer(c.a)) numbers.push_back(integer_of(c.a, in.a(m, k)));
        else row.push_back(factor_of(c.a, in.a(m, k)));
        if (!is_integer(c.a) && c.scale_a * c.scale_b < 0) row.back().negative ^= true;
      }
      for (int n = 0; n < c.n; ++n) {
        int shift;
        uint32_t& word = d[place(m, n, shift)];
        const uint32_t old = c.scale_d ? word >> shift & mask : 0;
        uint32_t result;
        if (is_integer(c.a)) {
          std::vector<int> y;
          for (int k = 0; k < stored_k; ++k) y.push_back(integer_of(c.b, in.met(m, k, n)));
          result = integer_sum(numbers, y, old, c.satfinite);
        } else {
          std::vector<Factor> y;
          for (int k = 0; k < stored_k; ++k) y.push_back(factor_of(c.b, in.met(m, k, n)));
          result = float_sum(row, y, old, c);
        }
        word = (word & ~(mask << shift)) | result << shift;
      }
    }
  }
  return d;
}

}  // namespace ridge::hopper
