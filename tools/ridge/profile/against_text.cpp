// A comparison of two profiles for a terminal.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "profile/against.h"
#include "profile/model.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

using nlohmann::json;

struct Change {
  double before = 0, after = 0;

  explicit Change(const json& pair) : before(pair[0].get<double>()), after(pair[1].get<double>()) {}
  bool same() const { return before == after; }
};

// "−39 %", "new", "gone", "=".
std::string change_text(const Change& change) {
  if (change.same()) return "=";
  if (change.before == 0) return "new";
  if (change.after == 0) return "gone";
  const double by = change.after / change.before - 1;
  if (change.after >= 10 * change.before)
    return fmt::format("× {:.0f}", change.after / change.before);
  return std::abs(by) < 0.001 ? "≈"
                              : fmt::format("{}{:.{}f} %", by < 0 ? "−" : "+", 100 * std::abs(by),
                                            std::abs(by) < 0.1 ? 1 : 0);
}

// Less is better of everything that is counted here.
std::string coloured(const Change& change) {
  const std::string text = change_text(change);
  return change.same() ? dim(text) : change.after < change.before ? green(text) : red(text);
}

std::string whole(double value) { return thousands(uint64_t(std::llround(value))); }

// What the two records counted, where they have it and a terminal shows it.
std::vector<std::pair<const char*, Change>> changes_of(const json& counters) {
  std::vector<std::pair<const char*, Change>> changes;
  for (const Counter& counter : kCounters)
    if (counter.shown == Counter::Shown::everywhere && counters.contains(counter.name))
      changes.emplace_back(counter.label, Change(counters[counter.name]));
  return changes;
}

std::string size_text(const json& size) {
  if (!size.is_array() || size.size() != 3) return "";
  const auto at = [&](size_t i) { return size[i].get<uint64_t>(); };
  if (at(2) > 1) return fmt::format("{}×{}×{}", at(0), at(1), at(2));
  return at(1) > 1 ? fmt::format("{}×{}", at(0), at(1)) : fmt::format("{}", at(0));
}

std::string title(const json& kernel) {
  const auto name = kernel["name"].get<std::string>();
  const auto before = kernel["name_before"].get<std::string>();
  std::string text = before == name ? bold(name) : fmt::format("{} → {}", before, bold(name));
  for (const char* key : {"grid", "block"}) {
    const std::string left = size_text(kernel[key][0]), right = size_text(kernel[key][1]);
    text +=
        fmt::format("  {} {}", key, left == right ? right : fmt::format("{} → {}", left, right));
  }
  return text;
}

std::string line_text(const json& line, size_t width) {
  const bool was = line.contains("line_before"), is = line.contains("line");
  const std::string number =
      was && is ? line["line_before"] == line["line"]
                      ? fmt::format("line {}", line["line"].get<uint64_t>())
                      : fmt::format("line {} → {}", line["line_before"].get<uint64_t>(),
                                    line["line"].get<uint64_t>())
      : is ? fmt::format("line {}, new", line["line"].get<uint64_t>())
                : fmt::format("line {}, gone", line["line_before"].get<uint64_t>());
  const auto source = [&](const char* key) {
    const auto text = line[key].get<std::string>();
    if (text.size() <= width) return text;
    size_t end = width - 1;
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
    return text.substr(0, end) + "…";
  };
  std::string text = fmt::format("\n  {}\n", bold(number));
  if (was && (!is || line["text_before"] != line["text"]))
    text += fmt::format("    {} {}\n", red("-"), source("text_before"));
  if (is)
    text +=
        fmt::format("    {} {}\n", was && line["text_before"] == line["text"] ? " " : green("+"),
                    source("text"));
  std::vector<std::string> parts;
  for (const auto& [name, change] : changes_of(line["counters"])) {
    if (change.same()) continue;
    parts.push_back(fmt::format("{} {} → {} ({})", name, whole(change.before), whole(change.after),
                                coloured(change)));
  }
  if (parts.empty()) parts.push_back("the same counts");
  return text + fmt::format("      {}\n", fmt::join(parts, ", "));
}

std::string kernel_text(const json& kernel, size_t top) {
  constexpr size_t kSourceWidth = 90;
  std::string text = '\n' + title(kernel) + '\n';
  std::vector<std::vector<std::string>> rows = {{"", "before", "after", "change"}};
  const auto add = [&](const std::string& name, const Change& change) {
    if (change.before == 0 && change.after == 0) return;
    rows.push_back({name, whole(change.before), whole(change.after), coloured(change)});
  };
  if (const Change us(kernel["modelled_us"]); us.before > 0 && us.after > 0)
    rows.push_back({"µs of one launch, modelled", fmt::format("{:.1f}", us.before),
                    fmt::format("{:.1f}", us.after), coloured(us)});
  add("cycles, by the plain model", Change(kernel["time_cycles"]));
  for (const auto& [name, change] : changes_of(kernel["counters"])) add(name, change);
  add("registers", Change(kernel["resources"]["registers"]));
  add("bytes of shared memory", Change(kernel["resources"]["static_shared"]));
  add("bytes of local memory", Change(kernel["resources"]["local_bytes"]));
  text += table(rows, {Align::left, Align::right, Align::right, Align::right}, "  ");
  // The lines that moved most, by what they cost.
  std::vector<const json*> lines;
  for (const json& line : kernel["lines"]) {
    const bool edited = line.value("text", "") != line.value("text_before", "");
    const bool moved = std::ranges::any_of(
        changes_of(line["counters"]), [](const auto& change) { return !change.second.same(); });
    if (edited || moved) lines.push_back(&line);
  }
  std::ranges::stable_sort(lines, std::greater<>{}, [](const json* line) {
    const Change cost((*line)["cost"]);
    return std::abs(cost.after - cost.before);
  });
  for (size_t i = 0; i < std::min(top, lines.size()); ++i)
    text += line_text(*lines[i], kSourceWidth);
  if (lines.size() > top)
    text += dim(fmt::format("\n  {} more lines changed (--top shows more)\n", lines.size() - top));
  if (lines.empty()) text += dim("  no line changed\n");
  return text;
}

}  // namespace

std::string to_text(const json& comparison, const std::string& file, size_t top) {
  std::string text = fmt::format("against {}\n", file);
  for (const json& kernel : comparison["kernels"]) text += kernel_text(kernel, top);
  const auto names = [&](const char* key, const char* what) {
    for (const json& name : comparison[key])
      text += fmt::format("\n{}  {}\n", bold(name.get<std::string>()), what);
  };
  names("only_after", "is new");
  names("only_before", "is gone");
  return text;
}

}  // namespace ridge::tools::profile
