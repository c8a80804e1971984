// Layouts as people write them.
#pragma once

#include <string>
#include <string_view>

#include "core/layout.h"
#include "core/status.h"

namespace ridge::layouts {

// "((4,2),8):((1,32),4)". Without strides, "(4,8)", the first mode is fastest and nothing is left
// out. The message of an error says where it is.
Expected<Layout> parse_layout(std::string_view text);
std::string text_of(const Layout& layout);

Expected<Swizzle> parse_swizzle(std::string_view text);  // "3,4,3"

}  // namespace ridge::layouts
