#include "profile/page.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "profile/page_template.h"

namespace ridge::tools::profile {
namespace {

using nlohmann::json;

// Inside a script element nothing may look like its end.
std::string inside_script(std::string text) {
  for (size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
    text.replace(at, 2, "<\\/");
  return text;
}

void put(std::string& page, std::string_view mark, std::string_view text) {
  const size_t at = page.find(mark);
  if (at != std::string::npos) page.replace(at, mark.size(), text);
}

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
  std::string page = kPageHtml;
  put(page, "/*style*/", kPageCss);
  put(page, "/*script*/", kPageJs);
  // A file that is no UTF-8 is shown with marks in its place.
  put(page, "/*record*/",
      inside_script(record.dump(-1, ' ', false, json::error_handler_t::replace)));
  return page;
}

}  // namespace ridge::tools::profile
