#include "operator/json.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/text.h"

namespace ridge {
namespace {

constexpr const char* kRoles[] = {"in", "out", "inout"};
constexpr const char* kLayouts[] = {"any", "contiguous", "dense", "rows", "unit_last", "matrix"};
constexpr const char* kTypes[] = {"number", "integer", "flag", "choice"};

// The shortest text that reads back as the same number; JSON has none for infinities and NaN.
std::string written(double x) {
  if (!std::isfinite(x)) return "null";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

// Members or elements, with commas between.
class List {
 public:
  explicit List(const char* brackets) : text_(1, brackets[0]), end_(brackets[1]) {}
  void add(const std::string& value) { text_ += (text_.size() > 1 ? "," : "") + value; }
  void add(const char* name, const std::string& value) { add(in_quotes(name) + ":" + value); }
  void add_text(const char* name, std::string_view value) {
    if (!value.empty()) add(name, in_quotes(value));
  }
  void add_flag(const char* name, bool value) {
    if (value) add(name, "true");
  }
  std::string text() const { return text_ + end_; }

 private:
  std::string text_;
  char end_;
};

template <class All, class F>
std::string list_of(const All& all, F text) {
  List list("[]");
  for (const auto& one : all) list.add(text(one));
  return list.text();
}
std::string names(const Formats& formats) {
  return list_of(formats, [](Dtype d) { return in_quotes(name_of(d)); });
}
std::string names(const std::vector<std::string>& texts) { return list_of(texts, in_quotes); }

std::string json_of(const DimensionDef& d) {
  List out("{}");
  out.add("name", in_quotes(d.name));
  out.add("meaning", in_quotes(d.meaning));
  out.add_flag("optional", d.has_default());
  return out.text();
}

std::string json_of(const OperatorDef& op, const TensorDef& t) {
  List out("{}");
  out.add("name", in_quotes(t.name));
  out.add("role", in_quotes(kRoles[size_t(t.role)]));
  out.add("shape", in_quotes(t.shape));
  out.add("layout", in_quotes(kLayouts[size_t(t.layout)]));
  if (t.row_dims != 1) out.add("row_dims", std::to_string(t.row_dims));
  if (!t.formats.empty()) out.add("formats", names(t.formats));
  out.add_text("like", t.like);
  if (t.derived) {
    out.add("derived", in_quotes(t.derived_name));
    List formats("{}");
    for (const Dtype of : op.tensors[size_t(t.like_index)].formats)
      formats.add(name_of(of), in_quotes(name_of(t.derived(of))));
    out.add("derived_formats", formats.text());
  }
  out.add_text("usually_like", t.usually_like);
  out.add_text("strides_of", t.strides_of);
  out.add_flag("optional", t.optional);
  out.add_flag("on_request", t.on_request);
  if (!t.may_be.empty()) out.add("may_be", names(t.may_be));
  out.add_flag("scaled", t.scaled);
  out.add_flag("on_host", t.on_host);
  out.add_text("meaning", t.meaning);
  return out.text();
}

std::string json_of(const ParameterDef& p) {
  List out("{}");
  out.add("name", in_quotes(p.name));
  out.add("type", in_quotes(kTypes[size_t(p.type)]));
  out.add("default", written(p.otherwise));
  out.add_flag("required", p.required);
  if (std::isfinite(p.least)) out.add("least", written(p.least));
  if (std::isfinite(p.most)) out.add("most", written(p.most));
  out.add_flag("above_least", p.above_least);
  out.add_flag("under_most", p.under_most);
  if (!p.choices.empty()) out.add("choices", names(p.choices));
  out.add_text("meaning", p.meaning);
  return out.text();
}

}  // namespace

std::string json_of(const OperatorDef& op) {
  List out("{}");
  out.add("name", in_quotes(op.name));
  out.add("family", in_quotes(op.family));
  out.add("formula", in_quotes(op.formula));
  out.add("formats", names(main_formats(op)));
  out.add("dimensions", list_of(op.dimensions, [](const DimensionDef& d) { return json_of(d); }));
  out.add("tensors", list_of(op.tensors, [&](const TensorDef& t) { return json_of(op, t); }));
  out.add("parameters", list_of(op.parameters, [](const ParameterDef& p) { return json_of(p); }));
  out.add_text("backward", op.backward);
  if (!op.aliases.empty()) out.add("aliases", names(op.aliases));
  out.add_text("header", op.header);
  if (!op.distributions.empty()) out.add("distributions", names(op.distributions));
  out.add_text("notes", op.notes);
  return out.text();
}

}  // namespace ridge
