#include "page.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "page_parts.h"

namespace ridge::tools {
namespace {

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

std::string page_of(const PageParts& parts, const nlohmann::json& record) {
  std::string page = parts.html;
  put(page, "/*style*/", std::string(kEveryPage.css) + parts.css);
  put(page, "/*script*/", std::string(kEveryPage.js) + parts.js);
  // A file that is no UTF-8 is shown with marks in its place.
  using nlohmann::json;
  put(page, "/*record*/",
      inside_script(record.dump(-1, ' ', false, json::error_handler_t::replace)));
  return page;
}

}  // namespace ridge::tools
