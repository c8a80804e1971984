#include "profile/page.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "page.h"
#include "page_parts.h"

namespace ridge::tools::profile {
namespace {

using nlohmann::json;

// The part of the PTX that has lines of its own: where there is no line information.
void add_ptx(json& kernel, const std::vector<std::string>& ptx) {
  constexpr size_t kAround = 6;
  size_t first = ptx.size() + 1, last = 0;
  for (const json& line : kernel["lines"])
    if (!line.contains("file")) {
      first = std::min(first, line["line"].get<size_t>());
      last = std::max(last, line["line"].get<size_t>());
    }
  if (first == 0 || first > last || last > ptx.size()) return;
  first -= std::min(first - 1, kAround);
  last = std::min(ptx.size(), last + kAround);
  kernel["ptx"] = {{"first", first},
                   {"lines", std::vector(ptx.begin() + long(first) - 1, ptx.begin() + long(last))}};
}

}  // namespace

std::string to_page(json record, const Profile& profile) {
  for (const Counter& counter : kCounters)
    if (counter.shown != Counter::Shown::nowhere)
      record["counters"].push_back(
          {{"name", counter.name}, {"label", counter.label}, {"meaning", counter.meaning}});
  for (const auto& [file, lines] : profile.sources) record["sources"][file] = lines;
  for (json& kernel : record["kernels"])
    if (const auto ptx = profile.ptx.find(kernel["mangled"]); ptx != profile.ptx.end())
      add_ptx(kernel, ptx->second);
  return page_of(kProfilePage, record);
}

}  // namespace ridge::tools::profile
