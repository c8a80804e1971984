#include "climb_numbers.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "harness/statistics.h"
#include "model/roofs.h"

namespace ridge::tools {

Reading reading_of(const Step& step, Origin origin) {
  if (origin == Origin::modelled) {
    if (!step.modelled_us) return {};
    const double us = *step.modelled_us;
    return {us, step.modelled_low_us.value_or(us), step.modelled_high_us.value_or(us)};
  }
  if (step.us.empty()) return {};
  const harness::Summary s = harness::summarize(step.us);
  return {s.median, s.q1, s.q3};
}

bool has_any(const Climb& climb, Origin origin) {
  return std::ranges::any_of(climb.steps,
                             [&](const Step& step) { return reading_of(step, origin).us > 0; });
}

double rate_of(const Climb& climb, double us) {
  if (climb.unit == "TFLOP/s") return climb.flops / us / 1e6;
  if (climb.unit == "GOP/s" || climb.unit == "GFLOP/s") return climb.flops / us / 1e3;
  return (climb.read + climb.written) / us / 1e3;
}

double peak_for(const Climb& climb, const ladders::RoofsAnswer& roofs) {
  const std::string kind(climb.arithmetic.empty() ? name_of(Arithmetic::f32) : climb.arithmetic);
  const auto known = roofs.operations.find(kind);
  return known == roofs.operations.end() ? 0 : known->second;
}

std::vector<Numbers> numbers_of(const Climb& climb, Origin origin,
                                const ladders::RoofsAnswer& roofs) {
  const double floor = floor_for(climb, roofs).us;
  std::vector<Numbers> all;
  double before = 0;
  for (const Step& step : climb.steps) {
    Numbers& n = all.emplace_back();
    n.time = reading_of(step, origin);
    if (n.time.us <= 0) continue;
    n.rate = rate_of(climb, n.time.us);
    n.of_roof = floor / n.time.us;
    if (step.rival) continue;
    n.before = before / n.time.us;
    before = n.time.us;
  }
  return all;
}

const Step* fastest_rung(const Climb& climb, Origin origin) {
  const Step* fastest = nullptr;
  double least = 0;
  for (const Step& step : climb.steps) {
    const double us = step.rival ? 0 : reading_of(step, origin).us;
    if (us > 0 && (!fastest || us < least)) fastest = &step, least = us;
  }
  return fastest;
}

const Step* best_rival(const Climb& climb) {
  const Step* fastest = fastest_rung(climb, Origin::measured);
  const Step* best = nullptr;
  for (const Step& step : climb.steps)
    if (fastest && step.rival && !step.us.empty() &&
        (!best || times_faster(climb, *fastest, step) < times_faster(climb, *fastest, *best)))
      best = &step;
  return best;
}

std::string band_text(const Climb& climb) {
  double least = 0, most = 0;
  for (const Step& step : climb.steps) {
    const Reading time = reading_of(step, Origin::modelled);
    if (time.us <= 0) continue;
    const double width = std::round(100 * time.half_width());
    least = most == 0 ? width : std::min(least, width);
    most = std::max(most, width);
  }
  if (least == most) return fmt::format("± {:.0f} %", most);
  return fmt::format("± {:.0f} – {:.0f} %", least, most);
}

}  // namespace ridge::tools
