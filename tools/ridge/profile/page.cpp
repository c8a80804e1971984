#include "profile/page.h"

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

}  // namespace

std::string to_page(json record, const Profile& profile) {
  for (const auto& [file, lines] : profile.sources) record["sources"][file] = lines;
  for (json& kernel : record["kernels"]) {
    const auto ptx = profile.ptx.find(kernel["mangled"].get<std::string>());
    const bool by_ptx = kernel["lines"].empty() || !kernel["lines"][0].contains("file");
    if (by_ptx && ptx != profile.ptx.end()) record["sources"][""] = ptx->second;
  }
  std::string page = kPageHtml;
  put(page, "/*style*/", kPageCss);
  put(page, "/*script*/", kPageJs);
  // A file that is no UTF-8 is shown with marks in its place.
  put(page, "/*record*/",
      inside_script(record.dump(-1, ' ', false, json::error_handler_t::replace)));
  return page;
}

}  // namespace ridge::tools::profile
