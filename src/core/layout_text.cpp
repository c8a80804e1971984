#include "core/layout_text.h"

#include <charconv>
#include <optional>
#include <vector>

namespace ridge::layouts {
namespace {

// A number, or a list of trees in parentheses.
struct Tree {
  int64_t number = 0;
  std::vector<Tree> list = {};
  bool is_list = false;

  static bool same_form(const Tree& a, const Tree& b) {
    if (a.is_list != b.is_list || a.list.size() != b.list.size()) return false;
    for (size_t i = 0; i < a.list.size(); ++i)
      if (!same_form(a.list[i], b.list[i])) return false;
    return true;
  }
};

// tree = number | "(" tree {"," tree} ")"
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Tree> tree() {
    if (accepts('(')) {
      Tree list = {.is_list = true};
      do {
        const auto item = tree();
        if (!item) return std::nullopt;
        list.list.push_back(*item);
      } while (accepts(','));
      if (!accepts(')')) return wrong("a ',' or a ')' is missing");
      return list;
    }
    skip_spaces();
    Tree leaf;
    const char* const from = text_.data() + at_;
    const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), leaf.number);
    if (error == std::errc::result_out_of_range) return wrong("this number is too large");
    if (error != std::errc()) return wrong("a number or a '(' is missing");
    at_ += size_t(end - from);
    return leaf;
  }
  bool accepts(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool is_done() {
    skip_spaces();
    return at_ == text_.size();
  }
  std::nullopt_t wrong(const char* what) {
    if (message_.empty())
      message_ = std::string(what) + ", at character " + std::to_string(at_ + 1) + " of '" +
                 std::string(text_) + "'";
    return std::nullopt;
  }
  const std::string& message() const { return message_; }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
  std::string message_;
};

using Numbers = std::vector<int64_t>;
void flatten(const Tree& tree, Numbers& to) {
  if (!tree.is_list) to.push_back(tree.number);
  for (const Tree& item : tree.list) flatten(item, to);
}

constexpr int64_t kMostElements = int64_t(1) << 40;

Expected<Layout> layout_of(const Tree& shape, const std::optional<Tree>& strides) {
  const Tree one_mode = {.list = {shape}, .is_list = true};
  const Tree& modes = shape.is_list ? shape : one_mode;
  Numbers sizes, given;
  flatten(shape, sizes);
  if (strides) flatten(*strides, given);
  if (sizes.size() > size_t(Layout::kMostParts))
    return Error{2, "a layout has at most " + std::to_string(Layout::kMostParts) + " numbers"};
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (size < 1)
      return Error{2, "a size is " + std::to_string(size) + "; it has to be at least 1"};
    if (size > kMostElements / elements) return Error{2, "the layout has more than 2^40 elements"};
    elements *= size;
  }
  for (const int64_t stride : given)
    if (stride < 0 || stride > kMostElements)
      return Error{2, "a stride is " + std::to_string(stride) + "; it has to be from 0 to 2^40"};
  Layout layout;
  size_t at = 0;
  int64_t compact = 1;
  for (const Tree& mode : modes.list) {
    Numbers parts;
    flatten(mode, parts);
    layout.begin_mode();
    for (const int64_t size : parts) {
      layout.add({size, strides ? given[at] : compact});
      compact *= size;
      ++at;
    }
  }
  return layout;
}

}  // namespace

Expected<Layout> parse_layout(std::string_view text) {
  Reader reader(text);
  const auto shape = reader.tree();
  std::optional<Tree> strides;
  if (shape && reader.accepts(':')) {
    strides = reader.tree();
    if (strides && !Tree::same_form(*shape, *strides))
      return Error{2,
                   "shape and strides of '" + std::string(text) + "' have different parentheses"};
  }
  if (reader.message().empty() && !reader.is_done())
    (void)reader.wrong("there is more than a layout");
  if (!reader.message().empty()) return Error{2, reader.message()};
  return layout_of(*shape, strides);
}

std::string text_of(const Layout& layout) {
  const auto side = [&](auto number) {
    std::string text;
    for (int m = 0; m < layout.rank(); ++m) {
      std::string mode;
      for (int p = layout.begin(m); p < layout.end(m); ++p)
        mode += (p > layout.begin(m) ? "," : "") + std::to_string(number(layout.part(p)));
      if (layout.end(m) - layout.begin(m) != 1) mode = "(" + mode + ")";
      text += (m > 0 ? "," : "") + mode;
    }
    return layout.rank() == 1 && layout.parts() == 1 ? text : "(" + text + ")";
  };
  return side([](const Part& p) { return p.size; }) + ":" +
         side([](const Part& p) { return p.stride; });
}

Expected<Swizzle> parse_swizzle(std::string_view text) {
  const Error wrong = {
      2, "a swizzle is written BITS,BASE,SHIFT, such as 3,4,3; not '" + std::string(text) + "'"};
  Reader reader(text);
  Numbers numbers;
  do {
    const auto number = reader.tree();
    if (!number || number->is_list) return wrong;
    numbers.push_back(number->number);
  } while (reader.accepts(','));
  if (!reader.is_done() || numbers.size() != 3) return wrong;
  for (const int64_t n : numbers)
    if (n < 0 || n > 20) return Error{2, "the numbers of a swizzle go from 0 to 20"};
  if (numbers[2] < numbers[0])
    return Error{2,
                 "the shift of a swizzle is at least as large as its number of bits; otherwise "
                 "it would change the bits that it reads"};
  return Swizzle{int(numbers[0]), int(numbers[1]), int(numbers[2])};
}

}  // namespace ridge::layouts
