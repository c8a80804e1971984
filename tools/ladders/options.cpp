#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "core/number.h"
#include "ladder/cases.h"

namespace ridge::ladders {
namespace {

constexpr int64_t kMostElements = int64_t(1) << 48;

Expected<std::vector<int64_t>> parse_shape(const std::string& text) {
  std::vector<int64_t> shape;
  int64_t elements = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) break;
    shape.push_back(size);
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements) ||
        elements > kMostElements)
      return Error{2, "'" + text + "' is more than any memory holds"};
    if (next == end) return shape;
    if (*next != 'x') break;
    at = next + 1;
  }
  return Error{2, "'" + text + "' is no shape: numbers with x between them, as in 8192x50257"};
}

// Of those with nothing special about them.
Case largest_test(const Operator& op) {
  Case largest = op.ladder->tour;
  largest.op = op.op;
  int64_t most = -1;
  for (const Case& c : op.ladder->tests) {
    if (c.op != op.op || c.specials || c.misalignment || c.skew || c.padding) continue;
    if (c.dtype == op.ladder->dtypes.front() && count(c.shape) > most) {
      most = count(c.shape);
      largest = c;
    }
  }
  return largest;
}

}  // namespace

int fail(const Status& status) {
  std::printf("%s\n",
              nlohmann::json{{"error", status.message()}, {"code", status.code()}}.dump().c_str());
  std::fflush(stdout);
  return status.code() == 2 ? 2 : 4;
}

Expected<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    std::string* value = word == "--shape"    ? &options.shape
                         : word == "--dtype"  ? &options.dtype
                         : word == "--rung"   ? &options.rung
                         : word == "--rivals" ? &options.rivals
                                              : nullptr;
    if (value || word == "--seed") {
      if (++i == argc) return Error{2, word + " wants a value"};
      if (value) *value = argv[i];
      else options.seed = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--hot") {
      options.hot = true;
    } else if (word == "--tour") {
      options.tour = true;
    } else if (word == "--fast") {
      options.fast = true;
    } else if (word.starts_with("--")) {
      return Error{2, "unknown option " + word};
    } else {
      options.operators.push_back(word);
    }
  }
  return options;
}

Expected<std::vector<Case>> cases_of(const Operator& op, const Options& options,
                                     const std::vector<Case>& fallback) {
  std::vector<Case> cases;
  for (const Case& c : fallback)
    if (c.op == op.op) cases.push_back(c);
  if (cases.empty()) {  // listed for another operator of the family; sizes suit this one too
    cases.push_back(fallback.empty() ? op.ladder->tour : fallback.front());
    cases.front().op = op.op;
    if (!op.ladder->check(cases.front())) cases.front() = largest_test(op);  // or they do not
  }
  if (!options.shape.empty() || !options.dtype.empty()) cases.resize(1);
  if (!options.shape.empty()) {
    auto shape = parse_shape(options.shape);
    if (!shape) return shape.error();
    cases.front().shape = *shape;
  }
  if (!options.dtype.empty()) {
    const auto dtype = parse_dtype(options.dtype);
    if (!dtype) {
      std::string known;
      for (const Dtype d : op.ladder->dtypes)
        known += (known.empty() ? "" : ", ") + std::string(name_of(d));
      return Error{2, "there is no dtype '" + options.dtype + "'; " +
                          op.ladder->operators[size_t(op.op)] + " has " + known};
    }
    cases.front().dtype = *dtype;
  }
  for (Case& c : cases) {
    c.seed = options.seed;
    if (const Status s = op.ladder->check(c); !s) return s.error();
  }
  return cases;
}

}  // namespace ridge::ladders
