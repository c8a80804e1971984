// ridge formats: the number formats, how a number rounds in each, and what a bit pattern means.
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/number.h"
#include "core/number_line.h"
#include "flags.h"
#include "formats_question.h"
#include "record.h"
#include "ridge/block_scaled.h"
#include "suggest.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using nlohmann::json;

// Numbers as text, as exact as the format: integers from their bits, because f64 ends at 2^53.
std::string text_of(double x) {
  if (std::isnan(x)) return "nan";
  return fmt::format("{:.9g}", x);
}
std::string text_of(Dtype dtype, uint64_t bits) {
  const NumberFormat& f = format_of(dtype);
  if (f.kind == NumberKind::integer && f.bits == 64) return std::to_string(int64_t(bits));
  const double x = decode(dtype, bits);
  if (f.kind == NumberKind::integer) return fmt::format("{:.0f}", x);
  return dtype == Dtype::f64 && std::isfinite(x) ? fmt::format("{}", x) : text_of(x);
}
std::string text_of(Dtype dtype, std::optional<uint64_t> bits) {
  return bits ? text_of(dtype, *bits) : "-";
}
std::string hex_of(Dtype dtype, uint64_t bits) {
  return fmt::format("0x{:0{}x}", bits, (bits_of(dtype) + 3) / 4);
}
// 0|01111|1000000000: sign, exponent and mantissa.
std::string split_bits(Dtype dtype, uint64_t bits) {
  const Fields f = fields_of(dtype, bits);
  std::string text;
  const auto add = [&](uint64_t field, int width) {
    if (width == 0) return;
    if (!text.empty()) text += "|";
    text += fmt::format("{:0{}b}", field, width);
  };
  add(f.sign, f.sign_bits);
  add(f.exponent, f.exponent_bits);
  add(f.mantissa, f.mantissa_bits);
  return text;
}

json to_json(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}
json to_json(Dtype dtype, std::optional<uint64_t> bits) {
  if (!bits) return nullptr;
  return to_json(decode(dtype, *bits));
}

// The formats, without a question.

std::string fields_text(const NumberFormat& f) {
  if (f.kind == NumberKind::table) return "16 values";
  if (f.kind == NumberKind::integer) return f.is_signed ? "two's complement" : "unsigned";
  return fmt::format("{}|{}|{}", f.is_signed ? 1 : 0, f.exponent_bits, f.mantissa_bits);
}
uint64_t nan_count(const NumberFormat& f) {
  if (f.specials == Specials::none) return 0;
  const uint64_t magnitudes = f.specials == Specials::nan ? 1 : (1ull << f.mantissa_bits) - 1;
  return magnitudes * (f.is_signed ? 2 : 1);
}
std::string nans_text(const NumberFormat& f) {
  const uint64_t count = nan_count(f);
  if (count == 0) return "-";
  if (f.specials == Specials::nan) return f.is_signed ? "2: S.1111.111" : "1: all ones";
  return count < 10000 ? thousands(count) : fmt::format("2^{}", f.mantissa_bits + 1) + " - 2";
}
std::string or_dash(double x) { return x == 0 ? "-" : fmt::format("{:.5g}", x); }

void print_formats(const std::vector<Dtype>& formats) {
  Rows rows = {{"format", "bits", "s|e|m", "bias", "largest", "smallest normal", "smallest",
                "unit roundoff", "infinities", "NaNs"}};
  for (const Dtype dtype : formats) {
    const NumberFormat& f = format_of(dtype);
    const bool floating = f.kind == NumberKind::floating;
    const std::string most = f.kind == NumberKind::integer && f.bits > 8
                                 ? fmt::format("2^{} - 1", f.is_signed ? f.bits - 1 : f.bits)
                                 : or_dash(largest(dtype));
    rows.push_back({bold(f.name), std::to_string(f.bits), fields_text(f),
                    floating ? std::to_string(f.bias) : "-", most, or_dash(smallest_normal(dtype)),
                    or_dash(smallest(dtype)), or_dash(unit_roundoff(dtype)),
                    f.specials == Specials::ieee ? "yes" : "-", nans_text(f)});
  }
  fmt::print("{}",
             table(rows, {Align::left, Align::right, Align::left, Align::right, Align::right,
                          Align::right, Align::right, Align::right, Align::left, Align::left}));
}

double bits_per_element(const BlockFormatInfo& b) {
  if (b.block_cols == 0) return bits_of(b.element);
  const double second = b.second_block > 0 ? 32.0 / b.second_block : 0;
  return bits_of(b.element) + (bits_of(b.scale) + second) / (b.block_rows * b.block_cols);
}
std::string block_text(const BlockFormatInfo& b) {
  return b.block_cols == 0 ? "1 row" : fmt::format("{} x {}", b.block_rows, b.block_cols);
}
std::string second_text(const BlockFormatInfo& b) {
  if (b.second_block < 0) return "-";
  return b.second_block == 0 ? "one f32 for the tensor"
                             : fmt::format("one f32 per {} scales, and their mean", b.second_block);
}

void print_block_formats() {
  Rows rows = {
      {"block format", "element", "scale", "a scale for", "scales of scales", "bits per element"}};
  for (const BlockFormatInfo& b : kBlockFormats)
    rows.push_back({bold(b.name), name_of(b.element), name_of(b.scale), block_text(b),
                    second_text(b), fmt::format("{:.4g}", bits_per_element(b))});
  fmt::print("\n{}", table(rows, {Align::left, Align::left, Align::left, Align::left, Align::left,
                                  Align::right}));
}

// Every number of a format small enough to be listed.
void print_values(Dtype dtype) {
  if (bits_of(dtype) > 6) return;
  fmt::print("\n");
  Rows rows = {{"bits", "value", "", "bits", "value"}};
  const uint64_t half = 1ull << (bits_of(dtype) - 1);
  for (uint64_t i = 0; i < half; ++i)
    rows.push_back({split_bits(dtype, i), text_of(dtype, i), "", split_bits(dtype, i + half),
                    text_of(dtype, i + half)});
  fmt::print("{}",
             table(rows, {Align::left, Align::right, Align::left, Align::left, Align::right}));
}

json format_record(Dtype dtype) {
  const NumberFormat& f = format_of(dtype);
  return {{"name", f.name},
          {"bits", f.bits},
          {"sign_bits", f.is_signed ? 1 : 0},
          {"exponent_bits", f.exponent_bits},
          {"mantissa_bits", f.mantissa_bits},
          {"bias", f.bias},
          {"largest", largest(dtype)},
          {"smallest_normal", smallest_normal(dtype)},
          {"smallest", smallest(dtype)},
          {"unit_roundoff", unit_roundoff(dtype)},
          {"infinities", f.specials == Specials::ieee},
          {"nans", nan_count(f)},
          {"saturates", f.is_quantised}};
}

// A number in a format.

struct Rounded {
  Dtype dtype;
  bool fits;  // false: an integer format that has nothing like it
  uint64_t bits;
  double value, error;
  const char* what;
};
Rounded round_in(Dtype dtype, double x) {
  const NumberFormat& f = format_of(dtype);
  Rounded r = {.dtype = dtype,
               .fits = true,
               .bits = encode(dtype, x),
               .value = 0,
               .error = 0,
               .what = "exact"};
  r.value = decode(dtype, r.bits);
  r.error = r.value == x ? 0 : r.value - x;
  const bool plain_integer = f.kind == NumberKind::integer && !f.is_quantised;
  if (plain_integer && !(std::fabs(r.value - x) < 1)) r.fits = false, r.what = "does not fit";
  else if (std::isnan(x)) r.what = std::isnan(r.value) ? "NaN" : "there is no NaN";
  else if (r.error == 0) r.what = "exact";
  else if (std::isinf(r.value)) r.what = "overflow";
  else if (is_floating(dtype) && !f.is_signed && x < 0) r.what = "no sign";
  else if (std::fabs(x) > std::fabs(r.value) && std::fabs(r.value) == largest(dtype))
    r.what = "saturated";
  else if (f.kind == NumberKind::integer && !next_below(dtype, r.bits) && x < r.value)
    r.what = "saturated";
  else if (r.value == 0) r.what = "underflow";
  else r.what = plain_integer ? "cut off" : "rounded";
  return r;
}

void print_number(double x, const std::vector<Dtype>& formats) {
  Rows rows = {{"format", "becomes", "how", "error", "relative", "below", "above", "hex", "bits"}};
  for (const Dtype dtype : formats) {
    const Rounded r = round_in(dtype, x);
    if (!r.fits) {
      rows.push_back({bold(name_of(dtype)), "-", dim(r.what), "", "", "", "", "", ""});
      continue;
    }
    const bool sized = r.error != 0 && std::isfinite(r.error);
    const std::string what = r.what;
    rows.push_back({bold(name_of(dtype)), text_of(dtype, r.bits),
                    what == "exact"                          ? green(what)
                    : what == "rounded" || what == "cut off" ? dim(what)
                                                             : red(what),
                    sized ? fmt::format("{:+.3g}", r.error) : "",
                    sized && x != 0 ? fmt::format("{:.2g}", std::fabs(r.error / x)) : "",
                    text_of(dtype, next_below(dtype, r.bits)),
                    text_of(dtype, next_above(dtype, r.bits)), hex_of(dtype, r.bits),
                    split_bits(dtype, r.bits)});
  }
  fmt::print("{}", table(rows, {Align::left, Align::right, Align::left, Align::right, Align::right,
                                Align::right, Align::right, Align::left, Align::left}));
}

json number_record(Dtype dtype, double x) {
  const Rounded r = round_in(dtype, x);
  json entry = {{"name", name_of(dtype)}, {"result", r.what}};
  if (!r.fits) return entry;
  entry["bits"] = hex_of(dtype, r.bits);
  entry["fields"] = split_bits(dtype, r.bits);
  entry["value"] = to_json(r.value);
  entry["error"] = to_json(r.error);
  entry["below"] = to_json(dtype, next_below(dtype, r.bits));
  entry["above"] = to_json(dtype, next_above(dtype, r.bits));
  return entry;
}

// A pattern in a format.

// 1.5 x 2^3, as the fields say it.
std::string product_text(Dtype dtype, uint64_t bits) {
  const NumberFormat& f = format_of(dtype);
  const NumberClass c = class_of(dtype, bits);
  if (f.kind != NumberKind::floating || (c != NumberClass::normal && c != NumberClass::subnormal))
    return "";
  const Fields fields = fields_of(dtype, bits);
  const double fraction = std::ldexp(double(fields.mantissa), -f.mantissa_bits);
  const bool normal = c == NumberClass::normal;
  return fmt::format("{}{:.9g} x 2^{}", fields.sign ? "-" : "", normal ? 1 + fraction : fraction,
                     normal ? int(fields.exponent) - f.bias : 1 - f.bias);
}

void print_bits(uint64_t bits, const std::vector<Dtype>& formats) {
  Rows rows = {{"format", "value", "class", "sign", "exponent", "mantissa", "that is", "below",
                "above", "bits"}};
  for (const Dtype dtype : formats) {
    const Fields f = fields_of(dtype, bits);
    const auto field = [](uint64_t value, int width) {
      return width ? std::to_string(value) : std::string("-");
    };
    const bool floating = is_floating(dtype);
    rows.push_back({bold(name_of(dtype)), text_of(dtype, bits), to_string(class_of(dtype, bits)),
                    field(f.sign, f.sign_bits), field(f.exponent, f.exponent_bits),
                    floating ? field(f.mantissa, f.mantissa_bits) : "-", product_text(dtype, bits),
                    text_of(dtype, next_below(dtype, bits)),
                    text_of(dtype, next_above(dtype, bits)), split_bits(dtype, bits)});
  }
  fmt::print("{}",
             table(rows, {Align::left, Align::right, Align::left, Align::right, Align::right,
                          Align::right, Align::left, Align::right, Align::right, Align::left}));
}

json bits_record(Dtype dtype, uint64_t bits) {
  const Fields f = fields_of(dtype, bits);
  json entry = {{"name", name_of(dtype)},
                {"class", to_string(class_of(dtype, bits))},
                {"value", to_json(decode(dtype, bits))},
                {"bits", hex_of(dtype, bits)},
                {"fields", split_bits(dtype, bits)},
                {"below", to_json(dtype, next_below(dtype, bits))},
                {"above", to_json(dtype, next_above(dtype, bits))}};
  if (is_floating(dtype)) {
    entry["sign"] = f.sign;
    entry["exponent"] = f.exponent;
    entry["mantissa"] = f.mantissa;
  }
  return entry;
}

json record_of(const Question& q, const std::vector<Dtype>& formats) {
  json record = {{"schema", 1}, {"ridge", RIDGE_VERSION}, {"formats", json::array()}};
  if (q.number) record["number"] = to_json(*q.number);
  for (const Dtype dtype : formats)
    record["formats"].push_back(q.number ? number_record(dtype, *q.number)
                                : q.bits ? bits_record(dtype, *q.bits)
                                         : format_record(dtype));
  if (q.number || q.bits) return record;
  for (const BlockFormatInfo& b : kBlockFormats)
    record["block_formats"].push_back({{"name", b.name},
                                       {"element", name_of(b.element)},
                                       {"scale", name_of(b.scale)},
                                       {"block_rows", b.block_rows},
                                       {"block_cols", b.block_cols},
                                       {"bits_per_element", bits_per_element(b)}});
  return record;
}

// -inf and -0 would be taken for flags.
std::string take_negative_number(Arguments& arguments) {
  for (auto at = arguments.begin(); at != arguments.end(); ++at)
    if (at->starts_with("-") && read_number(*at)) {
      std::string number = *at;
      arguments.erase(at);
      return number;
    }
  return {};
}

int formats_main(const Arguments& given) {
  Arguments arguments = given;
  std::string asked = take_negative_number(arguments), dtype_name, json_file;
  CommandLine line(
      "formats", "Shows the number formats; how a number rounds in each; what bits mean in each.");
  std::string positional;
  line.add_argument(
      "VALUE|BITS", positional,
      "a number (3.14, 1e-7, -inf) or bits (0x3c00, 0b0111_1110); without one: all formats");
  line.add_option("--dtype", dtype_name, "NAME", "show this format only");
  line.add_json(json_file);
  line.add_footer(
      "Bits are read by the formats of the same width: 0x3c00 has 16 bits, 0b011111 has 6.\n"
      "Quantised formats saturate at their largest number. docs/formats.md describes all of them.");
  if (const auto done = line.parse(arguments)) return *done;
  const auto wrong = [](const std::string& message) {
    complain(message);
    return int(kUsage);
  };
  if (!positional.empty() && !asked.empty())
    return wrong(fmt::format("one number at a time: '{}' or '{}'", asked, positional));
  if (asked.empty()) asked = positional;

  const auto dtype = parse_dtype(dtype_name);
  if (!dtype_name.empty() && !dtype) {
    std::vector<std::string> names;
    for (const NumberFormat& f : kNumberFormats) names.emplace_back(f.name);
    return wrong(fmt::format("there is no format '{}'{} `ridge formats` lists them.", dtype_name,
                             did_you_mean(dtype_name, names)));
  }
  Question question;
  if (!asked.empty()) {
    const auto read = read_question(asked, dtype);
    if (!read) return wrong(read.error().message);
    question = *read;
  }
  std::vector<Dtype> formats;
  for (const NumberFormat& f : kNumberFormats)
    if (dtype ? f.dtype == *dtype : !question.bits || f.bits == question.width)
      formats.push_back(f.dtype);

  if (!json_file.empty()) {
    if (const Status written = write_record(record_of(question, formats), json_file); !written) {
      complain(written.message());
      return written.code();
    }
    if (json_file == "-") return kFine;
  }
  if (question.number) {
    print_number(*question.number, formats);
  } else if (question.bits) {
    print_bits(*question.bits, formats);
  } else {
    print_formats(formats);
    if (dtype) print_values(*dtype);
    else print_block_formats();
  }
  return kFine;
}

}  // namespace

extern const Verb formats_verb = {
    .position = 85,
    .name = "formats",
    .summary = "show number formats, how a number rounds, what bits mean",
    .main = formats_main,
};

}  // namespace ridge::tools
