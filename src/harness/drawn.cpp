#include "harness/drawn.h"

#include <algorithm>
#include <cmath>

#include "core/mix.h"
#include "operator/check.h"

namespace ridge::harness {
namespace {

constexpr int kMostTries = 200;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(mixed(seed)) {}
  int64_t below(int64_t end) { return int64_t(next_mixed(state_) % uint64_t(end)); }
  int64_t from(int64_t first, int64_t last) { return first + below(last - first + 1); }
  bool one_in(int64_t n) { return below(n) == 0; }
  double unit() { return double(next_mixed(state_) >> 11) * 0x1p-53; }
  // Of any magnitude alike.
  int64_t up_to(int64_t most) { return int64_t(std::exp2(unit() * std::log2(double(most) + 1))); }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[size_t(below(int64_t(all.size())))];
  }

 private:
  uint64_t state_;
};

// --- sizes ---

// Next to what kernels cut into tiles, and away from it.
int64_t drawn_size(Random& random, int64_t most) {
  static const std::vector<int64_t> primes = {2,  3,  5,   7,   11,  13,  17,  31,   61,
                                              67, 97, 127, 131, 257, 521, 997, 1031, 4099};
  int64_t size = 1;
  switch (random.below(8)) {
    case 0: break;
    case 1: size = random.from(2, 9); break;
    case 2: size = random.of(primes); break;
    case 3: size = int64_t(1) << random.from(1, 13); break;
    case 4: size = (int64_t(1) << random.from(2, 13)) + random.from(-1, 1); break;
    case 5: size = 16 * random.from(1, 20) + random.from(-1, 1); break;
    default: size = random.up_to(most);
  }
  return size <= most ? size : random.up_to(most);
}

bool is_pack(const OperatorDef& op, size_t dimension) {
  for (const TensorDef& tensor : op.tensors)
    for (const Extent& e : tensor.pattern)
      if (e.pack && size_t(e.dimension) == dimension) return true;
  return false;
}

// The numbers of each dimension: a pack may have any number of them.
std::vector<std::vector<int64_t>> numbers_of(const Case& c) {
  std::vector<std::vector<int64_t>> numbers(c.def->dimensions.size());
  for (size_t d = 0; d < numbers.size(); ++d)
    for (int i = 0; i < c.sizes.pack_rank[d]; ++i) numbers[d].push_back(c.sizes.pack[d][size_t(i)]);
  return numbers;
}

// A dimension's size as the sizes of a few.
std::vector<int64_t> split(Random& random, int64_t size) {
  if (size == 1 && random.one_in(3)) return {};
  std::vector<int64_t> parts;
  while (parts.size() < 2 && size > 1 && random.one_in(3)) {
    parts.push_back(random.from(1, std::min<int64_t>(size, 5)));
    size /= parts.back();
  }
  parts.push_back(size);
  return parts;
}

// Some dimensions anew, whose product stays under a number of elements that is drawn, too, so that
// few rows are long, and many are short. Sizes that follow from others keep doing so.
void draw_sizes(Case& c, Random& random, const MostWork& most) {
  auto numbers = numbers_of(c);
  const size_t dimensions = numbers.size();
  std::vector<size_t> order(dimensions);
  for (size_t d = 0; d < dimensions; ++d) order[d] = d;
  for (size_t d = dimensions; d > 1; --d)
    std::swap(order[d - 1], order[size_t(random.below(int64_t(d)))]);
  const int64_t keep = random.one_in(2) ? 0 : 2;            // one in so many stays as it was
  int64_t room = random.up_to(int64_t(most.elements / 2));  // there are two tensors at least
  for (const size_t d : order) {
    const bool follows = numbers[d].empty() && c.def->dimensions[d].has_default();
    if (follows || (keep && random.one_in(keep))) continue;
    const int64_t size = drawn_size(random, room);
    numbers[d] = is_pack(*c.def, d) ? split(random, size) : std::vector{size};
    room = std::max<int64_t>(room / size, 1);
  }
  if (dimensions && random.one_in(16)) {  // nothing at all
    auto& emptied = numbers[size_t(random.below(int64_t(dimensions)))];
    if (!emptied.empty()) emptied[size_t(random.below(int64_t(emptied.size())))] = 0;
  }
  c.shape.clear();
  for (const auto& of_dimension : numbers)
    c.shape.insert(c.shape.end(), of_dimension.begin(), of_dimension.end());
  // Of outer..., length, inner... the parameter says which number is the length.
  if (c.def->parameter_index("axis") < 0) return;
  std::erase_if(c.parameters, [](const auto& p) { return p.first == "axis"; });
  const int64_t axis = int64_t(numbers.front().size());
  c.parameters.emplace_back("axis",
                            double(random.one_in(2) ? axis : axis - int64_t(c.shape.size())));
}

// --- everything else ---

double drawn_number(Random& random, const ParameterDef& def) {
  const bool has_least = std::isfinite(def.least), has_most = std::isfinite(def.most);
  switch (random.below(4)) {
    case 0: return has_least && !def.above_least ? def.least : def.otherwise;
    case 1: return has_most && !def.under_most && def.most <= 1 ? def.most : def.otherwise;
    case 2:
      if (has_least && has_most && def.most - def.least <= 1e3)
        return def.least + random.unit() * (def.most - def.least);
      return has_least ? def.least + std::exp2(random.unit() * 12 - 10) : random.unit() * 8 - 4;
    default: {
      const double some[] = {0, 0.25, 0.5, 1, 2};
      return some[random.below(5)];
    }
  }
}
double drawn_whole(Random& random, const ParameterDef& def) {
  const int64_t size = random.one_in(4) ? random.up_to(1 << 16) : random.below(6);
  if (std::isfinite(def.least) && def.least >= -1) return def.least + double(size);
  return double(random.one_in(3) ? -size : size);
}
double drawn_value(Random& random, const ParameterDef& def) {
  switch (def.type) {
    case ParameterType::flag: return double(random.below(2));
    case ParameterType::choice: return double(random.below(int64_t(def.choices.size())));
    case ParameterType::integer: return drawn_whole(random, def);
    case ParameterType::number: break;
  }
  return drawn_number(random, def);
}

void draw_parameters(Case& c, Random& random) {
  for (const ParameterDef& def : c.def->parameters) {
    if (def.name == "axis" || c.def->dimension_index(def.name) >= 0 || !random.one_in(2)) continue;
    std::erase_if(c.parameters, [&](const auto& p) { return p.first == def.name; });
    c.parameters.emplace_back(def.name, drawn_value(random, def));
  }
}

void draw_formats(Case& c, Random& random) {
  const Formats& main = main_formats(*c.def);
  c.dtype = random.of(main);
  c.formats.clear();
  for (const TensorDef& tensor : c.def->tensors)
    if (tensor.formats.size() > 1 && &tensor.formats != &main && random.one_in(2))
      c.formats.emplace_back(tensor.name, random.of(tensor.formats));
}

void draw_optional(Case& c, Random& random) {
  c.with.clear();
  for (const TensorDef& tensor : c.def->tensors)
    if (tensor.on_request && random.one_in(2)) c.with.push_back(tensor.name);
}

bool has_place_for(const TensorDef& tensor, Layout layout) {
  return tensor.layout == layout || tensor.layout == Layout::any;
}

// How tensors lie in memory, as far as their layouts leave it open.
void draw_places(Case& c, Random& random) {
  c.misalignment = random.one_in(2) ? int(random.below(17)) : 0;
  c.skew = random.one_in(3) ? int(random.below(5)) : 0;
  c.padding = c.padding_skew = 0;
  c.step = 1;
  c.transposed.clear();
  c.same.clear();
  const auto& tensors = c.def->tensors;
  const auto none = [&](Layout layout) {
    return std::ranges::any_of(tensors, [=](const TensorDef& t) { return t.layout == layout; });
  };
  if (!none(Layout::contiguous) || random.one_in(2)) {
    if (random.one_in(2)) c.padding = random.below(20);
    if (random.one_in(4)) c.padding_skew = random.below(4);
    if (random.one_in(8)) c.step = random.from(1, 3);
  }
  for (const TensorDef& tensor : tensors)
    if ((has_place_for(tensor, Layout::matrix) || tensor.layout == Layout::dense) &&
        random.one_in(3))
      c.transposed.push_back(tensor.name);
  std::vector<std::string> taken;
  for (const TensorDef& tensor : tensors) {
    if (tensor.may_be.empty() || !random.one_in(3)) continue;
    const std::string& in = random.of(tensor.may_be);
    const auto is_there = [&](const TensorDef& t) { return !t.on_request || c.has(t.name); };
    if (!is_there(tensor) || !is_there(*c.def->tensor(in)) ||
        std::ranges::find(taken, in) != taken.end())
      continue;
    c.same.emplace_back(tensor.name, in);
    taken.push_back(in);
  }
}

void draw_distribution(Case& c, Random& random) {
  c.distribution = c.def->distributions.empty() ? "" : random.of(c.def->distributions);
}

// --- what may be drawn at all ---

double elements_of(const Workload& workload) {
  double elements = 0;
  for (const TensorSpec& tensor : workload.tensors) elements += double(tensor.span);
  return elements;
}

// Where the tensors of a case would start: checks and selection look at addresses, not behind them.
std::vector<void*> places_of(const Case& c, const Workload& workload) {
  constexpr uintptr_t kApart = uintptr_t(1) << 43;
  std::vector<void*> places;
  for (size_t t = 0; t < workload.tensors.size(); ++t) {
    const int64_t offset = c.misalignment + int64_t(t) * c.skew;
    places.push_back(reinterpret_cast<void*>(
        kApart * (t + 1) + uintptr_t(bytes_for(workload.tensors[t].dtype, offset))));
  }
  return places;
}

// Whether an output that is to lie in its input's place can: both are there, and alike.
bool can_be_same(const Case& c, const Workload& workload) {
  const auto find = [&](const std::string& name) {
    return std::ranges::find(workload.tensors, name, &TensorSpec::name);
  };
  return std::ranges::all_of(c.same, [&](const auto& same) {
    const auto out = find(same.first), in = find(same.second);
    return out != workload.tensors.end() && in != workload.tensors.end() &&
           out->shape == in->shape && out->dtype == in->dtype;
  });
}

}  // namespace

DrawnCases::DrawnCases(const Ladder& ladder, const DeviceInfo& device, const MostWork& most)
    : ladder_(ladder), device_(device), most_(most), tests_(ladder.operators.size()) {
  for (const Case& c : ladder.tests()) tests_[size_t(c.op)].push_back(c);
}

bool DrawnCases::is_possible(Case& c) const {
  if (!complete(c, *c.def) || !ladder_.check(c)) return false;
  const Workload workload = ladder_.workload(c);
  if (!can_be_same(c, workload) || elements_of(workload) > most_.elements ||
      workload.cost.flops > most_.operations)
    return false;
  KeptCall kept;
  Call call = ladder_.call(c, workload, places_of(c, workload), kept);
  return check_call(call, c.def->name.c_str()) && ladder_.choices(call, device_);
}

std::optional<Case> DrawnCases::operator()(uint64_t seed) const {
  Random random(seed);
  const size_t op = size_t(random.below(int64_t(tests_.size())));
  if (tests_[op].empty()) return std::nullopt;
  for (int i = 0; i < kMostTries; ++i) {
    Case c = random.of(tests_[op]);
    c.seed = seed;
    const bool all = random.one_in(2);
    const auto anew = [&] { return all || random.one_in(2); };
    if (anew()) draw_formats(c, random);
    // What NaN and infinities go together with is known to those who wrote the test.
    if (!c.specials) {
      if (anew()) draw_optional(c, random);
      if (anew()) draw_parameters(c, random);
      if (anew()) draw_distribution(c, random);
    }
    if (anew()) draw_places(c, random);
    draw_sizes(c, random, most_);
    if (is_possible(c)) return c;
  }
  return std::nullopt;
}

}  // namespace ridge::harness
