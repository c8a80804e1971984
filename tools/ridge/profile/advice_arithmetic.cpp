// Advice on arithmetic: double precision that nobody asked for, and functions of the mathematical
// library, whose code the compiler puts where they are called.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profile/advice.h"
#include "profile/words.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

struct Function {
  const char* name;
  int instructions;  // PTX, of a call with an argument that needs no slow path; CUDA 13, -O3
  const char* instead;
  int then;  // PTX
};
// In single precision, and what is shorter where a few bits less do.
constexpr Function kSingle[] = {
    {"sinf", 28, "__sinf", 1},       {"cosf", 32, "__cosf", 1},     {"tanf", 34, "__tanf", 3},
    {"expf", 18, "__expf", 2},       {"exp10f", 18, "__exp10f", 2}, {"logf", 38, "__logf", 2},
    {"log2f", 41, "__log2f", 1},     {"log10f", 39, "__log10f", 2}, {"powf", 109, "__powf", 3},
    {"sincosf", 44, "__sincosf", 2},
};
// In double precision, and the same in single.
constexpr Function kDouble[] = {
    {"sin", 41, "sinf", 28},   {"cos", 44, "cosf", 32},     {"tan", 56, "tanf", 34},
    {"exp", 44, "expf", 18},   {"log", 71, "logf", 38},     {"pow", 198, "powf", 109},
    {"log2", 74, "log2f", 41}, {"log10", 74, "log10f", 39}, {"tanh", 34, "tanhf", 24},
    {"erf", 93, "erff", 22},   {"exp2", 43, "exp2f", 1},    {"atan2", 78, "atan2f", 41},
    {"cbrt", 50, "cbrtf", 17}, {"sqrt", 3, "sqrtf", 1},
};

bool has_type(const Instruction& one, std::string_view type) {
  return one.ptx.find(type) != std::string::npos;
}

// What the instructions of a line are.
struct Arithmetic {
  uint64_t all = 0, fp64 = 0, from_float = 0, to_float = 0;
  uint64_t times = 0;  // the line is executed, by warps
  Work work;
  const Instruction* first = nullptr;
};

Arithmetic arithmetic_of(const Case& of, const Line& line) {
  Arithmetic sum;
  std::map<uint64_t, uint64_t> often;  // how often → how many instructions
  for (const size_t i : line.instructions) {
    const Instruction& one = of.kernel.instructions[i];
    const uint64_t warps = one.counters.warps;
    if (!sum.first) sum.first = &one;
    sum.all += warps;
    sum.work += of.works[i];
    ++often[warps];
    if (unit_of(one) == "fp64") sum.fp64 += warps;
    if (!one.ptx.starts_with("cvt")) continue;
    if (has_type(one, ".f64.f32")) sum.from_float += warps;
    if (has_type(one, ".f32.f64")) sum.to_float += warps;
  }
  uint64_t most = 0;
  for (const auto& [times, instructions] : often)
    if (instructions > most) most = instructions, sum.times = times;
  return sum;
}

struct Call {
  std::string name;  // as it is written
  const Function* function = nullptr;
};

// Calls that stand in a line's text, as what the compiler made of them: sin of a float is sinf.
struct Calls {
  std::vector<Call> list;
  int power = 0;  // of pow(x, 2), where that is the only call
};

Calls calls_in(const std::string& text, bool in_double) {
  static const std::regex call(R"((^|[^A-Za-z0-9_.>])([a-z][a-z0-9]*)\s*\()");
  static const std::regex power(R"(\bpowf?\s*\(.*,\s*([2-4])(\.0*)?f?\s*\))");
  const std::string code = text.substr(0, text.find("//"));
  Calls calls;
  for (std::sregex_iterator it(code.begin(), code.end(), call), end; it != end; ++it) {
    const std::string name = (*it)[2];
    const auto find = [&](const auto& table, const std::string& wanted) {
      for (const Function& function : table)
        if (wanted == function.name) calls.list.push_back({name, &function});
    };
    if (in_double) find(kDouble, name);
    else find(kSingle, name.ends_with('f') ? name : name + 'f');
  }
  std::smatch match;
  if (calls.list.size() == 1 && std::regex_search(code, match, power))
    calls.power = std::stoi(match[1]);
  return calls;
}

std::string joined(const std::vector<Call>& calls, auto name_of) {
  std::vector<std::string> names;
  for (const Call& call : calls)
    if (std::ranges::find(names, name_of(call)) == names.end()) names.push_back(name_of(call));
  return fmt::format("{}", fmt::join(names, " and "));
}

Advice advice_of(const Line& line, Kind kind) {
  return Advice{.kind = kind, .file = line.file, .line = line.line};
}

// A fraction of everything that a line computes is gone.
Work part_of(const Arithmetic& line, double fraction) {
  Work less;
  for (const Part part : {Part::issue, Part::latency, Part::fp32, Part::fp64, Part::special})
    less[part] = line.work[part] * fraction;
  return less;
}

// How many instructions of a line are inside functions that it calls.
struct Share {
  Calls calls;
  double times = 0;  // that warps make the calls
  double each = 0;   // instructions of all calls together, once
  double of_line(const Arithmetic& line) const {
    return std::min(1.0, times * each / std::max(1.0, double(line.all)));
  }
};

std::optional<Share> share_of(const Line& line, const Arithmetic& sum) {
  // A constant argument makes a function shorter; where even less is left, it is another function.
  constexpr double kMostOfIt = 0.4;
  Share share{.calls = calls_in(line.text, sum.fp64 > 0), .times = double(sum.times)};
  if (share.calls.list.empty() || !sum.times) return std::nullopt;
  double expected = 0;
  for (const Call& call : share.calls.list) expected += call.function->instructions;
  const double found = double(sum.all) / share.times;
  if (found < kMostOfIt * expected) return std::nullopt;
  const double unrolled = std::max(1.0, std::floor(found / expected));
  share.times *= unrolled;
  share.each = std::min(expected, found / unrolled);
  return share;
}

std::string instead_text(const Share& share, bool in_double) {
  const auto written = [](const Call& call) { return call.name; };
  const auto instead = [](const Call& call) { return std::string(call.function->instead); };
  const std::string names = joined(share.calls.list, written);
  const std::string others = joined(share.calls.list, instead);
  switch (share.calls.power) {
    case 2: return fmt::format("multiply in place of {}: x * x", names);
    case 3: return fmt::format("multiply in place of {}: x * x * x", names);
    case 4: return fmt::format("multiply in place of {}: square x, and square that", names);
  }
  if (in_double)
    return fmt::format("call {} in place of {}: what goes in and what comes out are floats", others,
                       names);
  return fmt::format(
      "call {} where its larger error does not matter, or compile all of the program so with "
      "-use_fast_math",
      others);
}

void add_functions(const Line& line, const Arithmetic& sum, const Share& share,
                   std::vector<Advice>& out) {
  const bool in_double = sum.fp64 > 0;
  // Doubles that came from floats need no more than a float's precision.
  if (in_double && !sum.to_float) return;
  double then = 0;
  for (const Call& call : share.calls.list) then += call.function->then;
  if (share.calls.power) then = share.calls.power == 2 ? 1 : 2;
  Advice advice = advice_of(line, Kind::functions);
  advice.counter = "warp instructions";
  advice.now = sum.all;
  advice.then =
      sum.all - std::min(sum.all, scaled(1, share.times * std::max(0.0, share.each - then)));
  advice.part = in_double ? Part::fp64 : Part::issue;
  const std::string inside =
      fmt::format("{:.0f} % of its instructions are inside {}", 100 * share.of_line(sum),
                  joined(share.calls.list, [](const Call& call) { return call.name; }));
  advice.brief = fmt::format("calls functions: {}", inside);
  advice.reason = fmt::format("{}: about {:.0f} per call{}", inside,
                              share.each / double(share.calls.list.size()),
                              in_double ? ", in double precision" : "");
  advice.fix = instead_text(share, in_double);
  advice.less = part_of(sum, double(advice.now - advice.then) / double(advice.now));
  if (in_double) {
    advice.less[Part::fp64] = sum.work[Part::fp64];
    advice.less[Part::special] = sum.work[Part::special];
    advice.less[Part::fp32] = -share.times * then / 4;  // a pipe of 128 lanes
  }
  out.push_back(std::move(advice));
}

void add_doubles(const Case& of, const Line& line, const Arithmetic& sum,
                 std::vector<Advice>& out) {
  // Values that come from floats and go back to floats.
  if (!sum.fp64 || !sum.from_float || !sum.to_float) return;
  Advice advice = advice_of(line, Kind::doubles);
  advice.counter = "fp64 instructions";
  advice.now = sum.fp64;
  advice.then = 0;
  advice.part = sum.work[Part::special] > sum.work[Part::fp64] ? Part::special : Part::fp64;
  advice.brief = fmt::format(
      "computes in double precision with floats: {} fp64 instructions and {} "
      "conversions",
      thousands(sum.fp64), thousands(sum.from_float + sum.to_float));
  advice.reason = fmt::format(
      "floats become doubles ({} conversions), {} instructions run in double precision, and the "
      "results become floats again",
      thousands(sum.from_float + sum.to_float), thousands(sum.fp64));
  advice.fix =
      "write the constants as floats (0.5f in place of 0.5), and call functions for floats (sqrtf, "
      "fabsf)";
  advice.less[Part::fp64] = sum.work[Part::fp64];
  advice.less[Part::special] = sum.work[Part::special];
  const double gone = double(sum.from_float + sum.to_float);
  advice.less[Part::issue] = gone / 4;
  advice.less[Part::latency] = sum.work[Part::latency] * gone / std::max(1.0, double(sum.all));
  advice.less[Part::fp32] = -double(sum.fp64) * 32 / of.gpu.fp32_lanes_per_sm;
  out.push_back(std::move(advice));
}

}  // namespace

void advise_arithmetic(const Case& of, std::vector<Advice>& out) {
  for (const Line& line : of.kernel.lines) {
    if (line.file.empty()) continue;
    const Arithmetic sum = arithmetic_of(of, line);
    if (const auto share = share_of(line, sum)) add_functions(line, sum, *share, out);
    else add_doubles(of, line, sum, out);
  }
}

std::string functions_on(const Case& of, const Line& line) {
  if (line.file.empty()) return "";
  const Arithmetic sum = arithmetic_of(of, line);
  const auto share = share_of(line, sum);
  if (!share) return "";
  return fmt::format("{:.0f} % of its instructions are inside {}", 100 * share->of_line(sum),
                     joined(share->calls.list, [](const Call& call) { return call.name; }));
}

}  // namespace ridge::tools::profile
