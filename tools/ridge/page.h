// Pages that need nothing but a browser: no network, no second file. The parts are files beside the
// code that makes the record; page.css and page.js are for all pages.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace ridge::tools {

struct PageParts {
  const char *html, *css, *js;
};

// The page with the record in it, which its script draws.
std::string page_of(const PageParts& parts, const nlohmann::json& record);

}  // namespace ridge::tools
