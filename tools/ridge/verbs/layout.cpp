// ridge layout: draws a layout, with the banks of shared memory.
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/layout_text.h"
#include "core/number.h"
#include "flags.h"
#include "layout_picture.h"
#include "record.h"
#include "suggest.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

Expected<int64_t> bytes_of_format(const std::string& name) {
  const auto dtype = parse_dtype(name);
  if (!dtype) {
    std::vector<std::string> names;
    for (const NumberFormat& f : kNumberFormats) names.emplace_back(f.name);
    return Error{kUsage, fmt::format("there is no format '{}'{} `ridge formats` lists them.", name,
                                     did_you_mean(name, names))};
  }
  const auto bytes = int64_t(size_of(*dtype));
  if (bytes == 0)
    return Error{kUsage, fmt::format("{} is packed, several elements per byte; draw u8", name)};
  return bytes;
}

Expected<LayoutPicture> picture_of(const std::string& text, const std::string& swizzle_text,
                                   const std::string& dtype) {
  const auto layout = layouts::parse_layout(text);
  if (!layout) return layout.error();
  std::optional<layouts::Swizzle> swizzle;
  if (!swizzle_text.empty()) {
    const auto read = layouts::parse_swizzle(swizzle_text);
    if (!read) return read.error();
    swizzle = *read;
  }
  const auto bytes = bytes_of_format(dtype);
  if (!bytes) return bytes.error();
  return LayoutPicture::make(*layout, swizzle, *bytes);
}

int layout_main(const Arguments& arguments) {
  std::string text, swizzle, dtype = "f32", svg_file, json_file;
  CommandLine line("layout",
                   "Draws where the elements of a layout lie, with the banks of shared memory.");
  line.add_argument("LAYOUT", text,
                    "SHAPE:STRIDE, such as (8,64):(64,1) or ((4,2),8):((1,32),4); the first mode "
                    "is drawn as rows, the others as columns");
  line.add_option("--swizzle", swizzle, "B,M,S",
                  "exclusive-or B bits of the byte offset, S further up, into those from bit M "
                  "on; 3,4,3 is the 128-byte swizzle");
  line.add_option("--dtype", dtype, "NAME", "the format of the elements (default: f32)");
  line.add_option("--svg", svg_file, "FILE", "draw it as SVG, too");
  line.add_json(json_file);
  line.add_footer("docs/layouts.md explains layouts, and how to compute with them.");
  if (const auto done = line.parse(arguments)) return *done;
  if (text.empty()) {
    complain("which layout? For example: ridge layout \"((4,2),8):((1,32),4)\"");
    return kUsage;
  }
  const auto picture = picture_of(text, swizzle, dtype);
  if (!picture) {
    complain(picture.error().message);
    return kUsage;
  }
  if (!svg_file.empty()) {
    std::ofstream out(svg_file);
    if (!(out << picture->svg()) || !out.flush()) {
      complain(fmt::format("cannot write {}", svg_file));
      return kMissing;
    }
  }
  if (!json_file.empty()) {
    if (const Status written = write_record(picture->json(), json_file); !written)
      return failed(written);
    if (json_file == "-") return kFine;
  }
  fmt::print("{}", picture->text());
  return kFine;
}

}  // namespace

extern const Verb layout_verb = {
    .position = 86,
    .name = "layout",
    .summary = "draw a layout of a tile, and its banks",
    .main = layout_main,
};

}  // namespace ridge::tools
