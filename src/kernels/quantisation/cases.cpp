#include "ladder/cases.h"

#include <cmath>

#include "kernels/quantisation/quantisation.h"
#include "ladder/family.h"

namespace ridge::quantisation {
namespace {

bool is_given(const Case& c) {
  return !is_back(c.op) && format_of_op(c.op).has_tensor_scale() && c.flag("given");
}

// Only x and y may have gaps between their rows.
void close_gaps(TensorSpec& t) {
  int64_t stride = 1;
  for (size_t d = t.shape.size(); d-- > 0; stride *= t.shape[d]) t.strides[d] = stride;
  t.span = count(t.shape);
}

void workload(const Case& c, Workload& w) {
  const Format& format = format_of_op(c.op);
  for (TensorSpec& t : w.tensors) {
    t.rounding = t.arithmetic = 0;  // every bit is defined
    if (t.name != "x" && t.name != "y") close_gaps(t);
  }
  const double elements = double(c.size("rows")) * double(c.size("cols"));
  const double plain = elements * double(size_of(c.dtype));
  double packed = elements * bits_of(c.format("q")) / 8;
  for (const TensorSpec& t : w.tensors)
    if (t.name != "q" && t.name != "x" && t.name != "y")
      packed += double(count(t.shape)) * double(size_of(t.dtype));
  // Before the first element can be written, the last one has to be seen.
  const double reads = format.has_tensor_scale() && !is_given(c) ? 2 : 1;
  w.cost.read = is_back(c.op) ? packed : reads * plain;
  w.cost.written = is_back(c.op) ? plain : packed;
}

// Four kinds of x, by the seed.
enum class Kind : uint8_t {
  ties,      // halfway between neighbours of the format; every 16 elements reach its largest
  wild,      // of very different sizes, also 0 and subnormal, from 32 columns to 32 columns
  ends,      // near the largest and the least numbers of x's format
  ordinary,  // numbers of one size; every seventh case has zeros alone
};

double tie(const Case& c, uint64_t noise, int64_t index) {
  const Dtype element = c.format("q");
  const double sign = noise & 1 ? -1 : 1;
  if (index % 16 == 5) return sign * largest(element);
  noise >>= 1;
  const bool is_integer = element == Dtype::i8;
  const uint64_t codes = element == Dtype::nf4 ? 15 : is_integer ? 127 : uint64_t(0);
  if (codes) {
    const uint64_t code = noise % codes;
    return sign * (decode(element, code) + decode(element, code + 1)) / 2;
  }
  const uint64_t most = encode(element, largest(element));
  const uint64_t code = noise % most;
  return sign * (decode(element, code) + decode(element, code + 1)) / 2;
}

double x_at(const Case& c, int64_t index) {
  const int64_t cols = std::max<int64_t>(c.size("cols"), 1);
  const uint64_t noise = hash(c.seed, uint64_t(index));
  if (c.specials && noise % 97 == 0) return noise & 128 ? NAN : noise & 256 ? INFINITY : -INFINITY;
  const double plain = 2 * unit(hash(c.seed + 1, uint64_t(index))) - 1;
  const uint64_t part = hash(c.seed + 2, uint64_t(index / cols * 4096 + index % cols / 32));
  const int range = c.dtype == Dtype::f16 ? 10 : 30;
  switch (Kind(c.seed % 4)) {
    case Kind::ties: return tie(c, noise, index);
    case Kind::wild:
      if (part % 8 == 0) return noise & 1 ? -0.0 : 0.0;
      if (part % 8 == 1) return plain * 40 * smallest(c.dtype);
      return std::ldexp(plain, int(part >> 8) % range);
    case Kind::ends:
      return part % 2 ? plain * largest(c.dtype) : plain * 8 * smallest_normal(c.dtype);
    default: return c.seed % 7 == 0 ? 0 : plain;
  }
}

// A number of a tensor that dequantise reads.
double stored_at(const Case& c, const TensorDef& tensor, int64_t index) {
  const uint64_t noise = hash(c.seed + tensor.name.size(), uint64_t(index));
  const Dtype dtype = c.format(tensor.name);
  if (tensor.name == "q") return decode(dtype, noise % (uint64_t(1) << bits_of(dtype)));
  if (c.specials && noise % 5 == 0) return noise & 128 ? NAN : 0;
  const double size = 0.5 + unit(noise);
  if (dtype == Dtype::ue8m0)
    return std::ldexp(1, c.specials ? int(noise >> 8) % 120 : int(noise >> 8) % 9);
  if (dtype == Dtype::e4m3 && noise & 64) return -size * 100;
  return dtype == Dtype::f32 ? size / 64 : size * 200;
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const TensorDef& def = c.def->tensors[tensor];
  if (def.name == "x") return x_at(c, index);
  if (is_back(c.op))
    return def.role == Role::in ? std::optional(stored_at(c, def, index)) : std::nullopt;
  return def.role == Role::inout ? std::optional(0.0078125 * (1 + unit(hash(c.seed, 1))))
                                 : std::nullopt;
}

// Around a byte, a pack, a block, a square, a warp's and a thread block's share.
const Shapes kShapes = {{0, 5},    {3, 0},     {1, 1},    {2, 7},     {5, 31},
                        {3, 33},   {2, 127},   {7, 128},  {130, 129}, {259, 131},
                        {3, 4099}, {1, 20011}, {18, 512}, {9, 1024},  {36, 256}};
const Shapes kEvenShapes = {{0, 6},     {3, 0},    {1, 1},    {1, 7},    {2, 2},
                            {5, 30},    {3, 34},   {4, 62},   {9, 64},   {3, 66},
                            {2, 126},   {7, 128},  {70, 258}, {3, 4102}, {1, 6001},
                            {40, 1024}, {18, 512}, {9, 1024}, {36, 256}};

std::vector<Case> tests() {
  std::vector<Case> cases;
  uint64_t seed = 1;
  for (int op = 0; op < 2 * kFormatCount; ++op) {
    const Format& format = format_of_op(op);
    const Shapes& shapes = bits_of(format.info().element) == 4 ? kEvenShapes : kShapes;
    for (size_t s = 0; s < shapes.size(); ++s)
      for (size_t d = 0; d < kFloats.size(); ++d) {
        const int64_t elements = shapes[s][0] * shapes[s][1];
        Case c = {.op = op, .dtype = kFloats[d], .shape = shapes[s], .seed = seed++};
        // Each shape once as it should be, once misaligned, once with padding; large ones once.
        const size_t awkward = (s + d) % 3;
        if (elements > 10'000 && awkward != size_t(op) % 3) continue;
        c.misalignment = awkward == 1;
        c.padding = awkward == 2 ? (s % 2 ? 3 : 16) : 0;
        c.specials = (s + 2 * d + size_t(op)) % 4 == 0;
        if (format.may_be_e5m2 && (s + d) % 2) c.formats = {{"q", Dtype::e5m2}};
        if (!is_back(op) && format.has_tensor_scale() && (s + d) % 3 == 1)
          c.parameters = {{"given", 1}};
        cases.push_back(c);
      }
  }
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (int op = 0; op < 2 * kFormatCount; ++op)
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const std::vector<int64_t>& shape : Shapes{{8192, 8192}, {4096, 11008}, {333, 7778}})
        cases.push_back({.op = op, .dtype = dtype, .shape = shape, .seed = 3});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "to formats of few bits whose elements share scales, and back",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {256, 1024}, .seed = 3},
          .input = input};
}

}  // namespace ridge::quantisation
