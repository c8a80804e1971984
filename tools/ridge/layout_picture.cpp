#include "layout_picture.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/layout_text.h"
#include "terminal.h"

namespace ridge::tools {
namespace {

constexpr int kBanks = 32, kBytesPerBank = 4, kLanes = 32;

// One colour for each bank, around the colour circle, from the 256 of terminals.
constexpr std::array<int, kBanks> kTerminalColors = {
    203, 209, 215, 221, 227, 191, 155, 119, 83,  84,  85,  86,  87,  81,  75,  69,
    63,  99,  135, 171, 207, 206, 205, 204, 217, 223, 229, 193, 157, 158, 159, 153};

}  // namespace

Expected<LayoutPicture> LayoutPicture::make(const layouts::Layout& layout,
                                            const std::optional<layouts::Swizzle>& swizzle,
                                            int64_t element_bytes) {
  if (layout.size() > kMostCells)
    return Error{2, fmt::format("the layout has {} elements; {} can be drawn. Draw one tile of it.",
                                layout.size(), kMostCells)};
  if (swizzle && (int64_t(1) << swizzle->base) < element_bytes)
    return Error{2, fmt::format("the swizzle moves pieces of {} bytes, but an element has {}; its "
                                "second number is the logarithm of the bytes that stay together",
                                1 << swizzle->base, element_bytes)};
  return LayoutPicture(layout, swizzle, element_bytes);
}

int64_t LayoutPicture::offset(int64_t row, int64_t col) const {
  const int64_t plain = layout_(row + col * rows());
  return swizzle_ ? (*swizzle_)(plain * element_bytes_) / element_bytes_ : plain;
}
int LayoutPicture::bank(int64_t row, int64_t col) const {
  return int(offset(row, col) * element_bytes_ / kBytesPerBank % kBanks);
}

// An access of 32 lanes takes as many wavefronts as the bank with the most different words has, and
// at least one for every 128 bytes.
template <class Offset>
int LayoutPicture::worst(int64_t lines, int64_t length, Offset offset) const {
  size_t most = 1;
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t first = 0; first < length; first += kLanes) {
      std::array<std::set<int64_t>, kBanks> words;
      for (int64_t at = first; at < std::min(first + kLanes, length); ++at) {
        const int64_t byte = offset(line, at) * element_bytes_;
        for (int64_t word = byte / kBytesPerBank;
             word <= (byte + element_bytes_ - 1) / kBytesPerBank; ++word)
          words[size_t(word % kBanks)].insert(word);
      }
      for (const auto& of_bank : words) most = std::max(most, of_bank.size());
    }
  return int(most);
}
int LayoutPicture::wavefronts_along_rows() const {
  return worst(rows(), cols(), [&](int64_t row, int64_t col) { return offset(row, col); });
}
int LayoutPicture::wavefronts_along_columns() const {
  return worst(cols(), rows(), [&](int64_t col, int64_t row) { return offset(row, col); });
}

std::string LayoutPicture::summary() const {
  std::string text = layouts::text_of(layout_);
  if (swizzle_)
    text +=
        fmt::format(", swizzle {},{},{} on bytes", swizzle_->bits, swizzle_->base, swizzle_->shift);
  return text + fmt::format(": {} x {} elements of {} {}, over {} of them", rows(), cols(),
                            element_bytes_, element_bytes_ == 1 ? "byte" : "bytes",
                            layout_.cosize());
}

std::string LayoutPicture::text() const {
  const size_t width = std::to_string(std::max<int64_t>(layout_.cosize() * 2, kBanks)).size();
  const auto grid = [&](const char* title, auto cell) {
    std::string text = fmt::format("\n{}\n{:>5} ", bold(title), "");
    for (int64_t col = 0; col < cols(); ++col) text += dim(fmt::format(" {:>{}}", col, width));
    text += "\n";
    for (int64_t row = 0; row < rows(); ++row) {
      text += dim(fmt::format("{:>5} ", row));
      for (int64_t col = 0; col < cols(); ++col)
        text += on_color(kTerminalColors[size_t(bank(row, col))],
                         fmt::format(" {:>{}}", cell(row, col), width));
      text += "\n";
    }
    return text;
  };
  const auto verdict = [](int wavefronts) {
    return wavefronts == 1 ? "1 wavefront, no bank conflict"
                           : fmt::format("{} wavefronts", wavefronts);
  };
  return summary() + "\n" +
         grid("offsets, in elements", [&](int64_t r, int64_t c) { return offset(r, c); }) +
         grid("banks", [&](int64_t r, int64_t c) { return bank(r, c); }) +
         fmt::format("\na warp that reads along a row: {}; along a column: {}\n",
                     verdict(wavefronts_along_rows()), verdict(wavefronts_along_columns()));
}

std::string LayoutPicture::svg() const {
  constexpr int kWidth = 36, kHeight = 24, kMargin = 36, kTop = 56;
  const int64_t width = kMargin + cols() * kWidth + 12, height = kTop + rows() * kHeight + 12;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"8\" y=\"20\" font-size=\"13\">{2}</text>\n",
      std::max<int64_t>(width, 480), height, summary());
  const auto label = [&](int64_t x, int64_t y, int64_t number, const char* color) {
    text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n", x,
                        y, color, number);
  };
  for (int64_t col = 0; col < cols(); ++col)
    label(kMargin + col * kWidth + kWidth / 2, kTop - 6, col, "#888");
  for (int64_t row = 0; row < rows(); ++row) {
    const int64_t y = kTop + row * kHeight;
    label(kMargin / 2, y + 16, row, "#888");
    for (int64_t col = 0; col < cols(); ++col) {
      const int64_t x = kMargin + col * kWidth;
      const int of = bank(row, col);
      text += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"hsl({:g},75%,{}%)\" "
          "stroke=\"white\"><title>({}, {}): offset {}, bank {}</title></rect>\n",
          x, y, kWidth, kHeight, of * 360.0 / kBanks, of % 2 == 0 ? 80 : 70, row, col,
          offset(row, col), of);
      label(x + kWidth / 2, y + 16, offset(row, col), "black");
    }
  }
  return text + "</svg>\n";
}

nlohmann::json LayoutPicture::json() const {
  nlohmann::json offsets = nlohmann::json::array(), banks = nlohmann::json::array();
  for (int64_t row = 0; row < rows(); ++row) {
    nlohmann::json of_offsets = nlohmann::json::array(), of_banks = nlohmann::json::array();
    for (int64_t col = 0; col < cols(); ++col) {
      of_offsets.push_back(offset(row, col));
      of_banks.push_back(bank(row, col));
    }
    offsets.push_back(std::move(of_offsets));
    banks.push_back(std::move(of_banks));
  }
  return {{"layout", layouts::text_of(layout_)},
          {"size", layout_.size()},
          {"cosize", layout_.cosize()},
          {"element_bytes", element_bytes_},
          {"offsets", std::move(offsets)},
          {"banks", std::move(banks)},
          {"wavefronts_along_rows", wavefronts_along_rows()},
          {"wavefronts_along_columns", wavefronts_along_columns()}};
}

}  // namespace ridge::tools
