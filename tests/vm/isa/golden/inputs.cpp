#include "inputs.h"

#include <algorithm>
#include <array>

#include "core/mix.h"

namespace ridge::golden {
namespace {

using vm::Type;

struct Random {
  uint64_t state;
  uint64_t next() { return next_mixed(state); }
  uint64_t below(uint64_t n) { return next() % n; }
};

enum class Shape { predicate, integer, real, real_pair };
struct Layout {
  Shape shape;
  int bits;          // of the word, or of one half of a pair
  int exponent = 0;  // bits
};
Layout layout_of(Type type) {
  switch (type) {
    case Type::pred: return {Shape::predicate, 1};
    case Type::f16: return {Shape::real, 16, 5};
    case Type::bf16: return {Shape::real, 16, 8};
    case Type::f32:
    case Type::tf32: return {Shape::real, 32, 8};
    case Type::f64: return {Shape::real, 64, 11};
    case Type::f16x2: return {Shape::real_pair, 16, 5};
    case Type::bf16x2: return {Shape::real_pair, 16, 8};
    default: return {Shape::integer, std::max(16, 8 * vm::size_of(type))};
  }
}
uint64_t ones(int bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

std::vector<uint64_t> integer_edges(int bits) {
  std::vector<uint64_t> edges;
  for (uint64_t v :
       {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256})
    edges.push_back(v);
  const uint64_t top = 1ull << (bits - 1);
  for (uint64_t v : std::initializer_list<uint64_t>{
           top, top - 1, top + 1, ~0ull, ~0ull - 1, ~0ull - 2, ~0ull - 30, ~0ull - 31, 0x8000ull,
           0x7fffull, 0xffffull, 0xaaaaaaaaaaaaaaaaull, 0x5555555555555555ull,
           0x0123456789abcdefull, 0xfedcba9876543210ull})
    edges.push_back(v & ones(bits));
  if (bits >= 32)
    for (uint64_t v : std::initializer_list<uint64_t>{0x80000000ull, 0x7fffffffull, 0xffffffffull,
                                                      0x00ffffffull, 0x00800000ull, 0x80008000ull,
                                                      0x7fff7fffull, 0x80807f7full, 0x3210ull})
      edges.push_back(v);
  if (bits == 64)
    for (uint64_t v : std::initializer_list<uint64_t>{1ull << 32, (1ull << 32) + 1, 1ull << 53,
                                                      (1ull << 53) + 1, (1ull << 24) + 1})
      edges.push_back(v);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Zeros, subnormals, the ends of the normal range, ones and neighbours, halves and ties, integers'
// limits, infinities, quiet and signalling NaNs; each with both signs.
std::vector<uint64_t> real_edges(int bits, int exponent) {
  const int mantissa = bits - 1 - exponent;
  const uint64_t infinity = ones(exponent) << mantissa, hidden = 1ull << mantissa;
  const uint64_t bias = ones(exponent - 1);
  const auto power = [&](int e) { return (bias + uint64_t(int64_t(e))) << mantissa; };
  std::vector<uint64_t> edges = {0,
                                 1,
                                 2,
                                 hidden - 1,
                                 hidden / 2,
                                 hidden,
                                 hidden + 1,
                                 infinity - 1,
                                 infinity,
                                 infinity | hidden / 2,
                                 infinity | 1,
                                 infinity | (hidden - 1),
                                 power(0),
                                 power(0) + 1,
                                 power(0) - 1,
                                 power(-1),
                                 power(1),
                                 power(1) | hidden / 2,
                                 power(-1) | hidden / 2,
                                 power(0) | hidden / 2,
                                 power(2),
                                 power(3),
                                 power(mantissa),
                                 power(mantissa) + 1,
                                 power(mantissa - 1) + 1,
                                 power(-mantissa - 1),
                                 power(-1) - 1,
                                 power(-1) + 1,
                                 power(-4)};
  for (int e : {7, 8, 15, 16, 31, 32, 63, 64})
    if (uint64_t(e) < bias) edges.push_back(power(e)), edges.push_back(power(e) - 1);
  const size_t n = edges.size();
  for (size_t i = 0; i < n; ++i) edges.push_back(edges[i] | 1ull << (bits - 1));
  return edges;
}

uint64_t random_real(Random& r, int bits, int exponent) {
  const uint64_t any = r.next() & ones(bits);
  if (r.next() & 1) return any;
  const int mantissa = bits - 1 - exponent;  // near one
  const uint64_t near = ones(exponent - 1) - 8 + r.below(17);
  return (any & ~(ones(exponent) << mantissa)) | near << mantissa;
}

std::vector<uint64_t> edges_of(Type type) {
  const Layout l = layout_of(type);
  switch (l.shape) {
    case Shape::predicate: return {0, 1};
    case Shape::integer: return integer_edges(l.bits);
    case Shape::real: return real_edges(l.bits, l.exponent);
    case Shape::real_pair: {  // neighbours in a fixed shuffle, so that every value is once low and
                              // once high
      const std::vector<uint64_t> single = real_edges(l.bits, l.exponent);
      std::vector<uint64_t> pairs;
      for (size_t i = 0; i < single.size(); ++i)
        pairs.push_back(single[i] | single[(i * 7 + 3) % single.size()] << 16);
      return pairs;
    }
  }
  return {};
}
uint64_t random_of(Type type, Random& r) {
  const Layout l = layout_of(type);
  switch (l.shape) {
    case Shape::predicate: return r.next() & 1;
    case Shape::integer: {  // of every magnitude, either sign
      const uint64_t v = (r.next() & ones(l.bits)) >> r.below(uint64_t(l.bits));
      return r.next() % 4 ? v : (0 - v) & ones(l.bits);
    }
    case Shape::real: return random_real(r, l.bits, l.exponent);
    case Shape::real_pair:
      return random_real(r, 16, l.exponent) | random_real(r, 16, l.exponent) << 16;
  }
  return 0;
}

bool exhaustive(const std::vector<Type>& types) {
  return types.size() == 1 && types[0] != Type::pred && layout_of(types[0]).bits == 16 &&
         layout_of(types[0]).shape != Shape::real_pair;
}

}  // namespace

int thread_count(const std::vector<Type>& types) {
  if (exhaustive(types)) return 65536;
  const size_t wide =
      size_t(std::count_if(types.begin(), types.end(), [](Type t) { return t != Type::pred; }));
  return wide == 0 ? 128 : wide == 1 ? 4096 : wide == 2 ? 4096 : 8192;
}

InputSet make_inputs(const std::vector<Type>& types, int threads) {
  InputSet set;
  set.threads = threads;
  const size_t n = size_t(set.threads);
  set.words.resize(types.size() * n);
  if (exhaustive(types) && n == 65536) {
    for (size_t i = 0; i < n; ++i) set.words[i] = i;
    return set;
  }
  std::vector<std::vector<uint64_t>> edges;
  uint64_t combinations = 1;
  uint64_t seed = 0x52494447;
  for (Type t : types) {
    edges.push_back(edges_of(t));
    combinations *= edges.back().size();
    seed = seed * 31 + uint64_t(t);
  }
  Random random{seed};
  const size_t from_edges = n * 3 / 4;
  for (size_t i = 0; i < n; ++i) {
    uint64_t pick = combinations <= from_edges ? i : random.below(combinations);
    const bool edge = combinations <= from_edges ? i < combinations : i < from_edges;
    for (size_t k = 0; k < types.size(); ++k) {
      uint64_t& word = set.words[k * n + i];
      if (edge) {
        word = edges[k][pick % edges[k].size()];
        pick /= edges[k].size();
      } else {
        word = random_of(types[k], random);
        // Now and then a neighbour of the operand before it: equal, or one apart.
        if (k && types[k] == types[k - 1] && random.below(8) == 0)
          word = (set.words[(k - 1) * n + i] + random.below(3) - 1) &
                 ones(std::max(16, 8 * vm::size_of(types[k])));
      }
    }
  }
  return set;
}

void restrict_inputs(std::string_view spelling, InputSet& set) {
  if (!spelling.starts_with("fns")) return;
  const size_t n = size_t(set.threads);
  for (size_t i = 0; i < n; ++i) set.words[n + i] &= 31;
}

}  // namespace ridge::golden
