#include "python.h"

#include <set>
#include <vector>

#include "ladder/registry.h"
#include "operator/json.h"
#include "text.h"

namespace ridge::generate {
namespace {

// `in` is a word of the language.
std::string python_name(const std::string& name) { return name == "in" ? "input" : name; }

// What an operator's function looks like, apart from its text.
class Function {
 public:
  explicit Function(const OperatorDef& op) : op_(op) {
    learn();
    for (const TensorDef& t : op.tensors) {
      if (t.role == Role::out) outputs_.push_back(&t);
      else given_.push_back(&t);
    }
    follow();
    for (const TensorDef& t : op.tensors)
      if (t.role == Role::out || is_made(t)) ask_sizes_of(t);
  }

  std::string text(size_t index) const { return head() + docstring() + body(index); }

 private:
  bool is_known(int dimension) const { return known_.count(dimension) > 0; }

  // The sizes that the arrays which a caller has to give say.
  void learn() {
    for (const TensorDef& t : op_.tensors)
      if (t.role == Role::in && !t.optional) learn_from(t);
    for (const TensorDef& t : op_.tensors)
      if (t.role == Role::inout && !t.optional && !has_one_format(t)) learn_from(t);
  }
  void learn_from(const TensorDef& t) {
    for (const Extent& e : t.pattern) known_.insert(e.dimension);
  }
  // Sizes that follow from those before them, as the library makes them (ops/outputs.h).
  void follow() {
    for (size_t d = 0; d < op_.dimensions.size(); ++d) {
      if (is_known(int(d))) continue;
      if (!op_.dimensions[d].has_default()) return;
      known_.insert(int(d));
    }
  }
  static bool has_one_format(const TensorDef& t) {
    return !t.like.empty() || t.formats.size() == 1;
  }

  // An array that is read and written may be left out if it can be made of zeros.
  bool is_made(const TensorDef& t) const {
    if (t.role != Role::inout || t.optional || !has_one_format(t)) return false;
    if (!t.like.empty() && op_.tensors[size_t(t.like_index)].role != Role::in) return false;
    for (const Extent& e : t.pattern)
      if (e.pack && !is_known(e.dimension)) return false;
    return true;
  }

  // Sizes that no input says are arguments of their own.
  void ask_sizes_of(const TensorDef& t) {
    if (t.role == Role::out && t.optional) return;  // those follow from optional inputs
    for (const Extent& e : t.pattern)
      if (e.dimension >= 0 && !is_known(e.dimension)) {
        sizes_.push_back(e.dimension);
        known_.insert(e.dimension);
      }
  }

  static std::string type_of(const ParameterDef& p) {
    switch (p.type) {
      case ParameterType::number: return "float";
      case ParameterType::integer: return "int";
      case ParameterType::flag: return "bool";
      case ParameterType::choice: break;
    }
    std::string words;
    for (const std::string& choice : p.choices)
      words += (words.empty() ? "\"" : ", \"") + choice + "\"";
    return "Literal[" + words + "]";
  }
  static std::string default_of(const ParameterDef& p) {
    switch (p.type) {
      case ParameterType::flag: return p.otherwise != 0 ? "True" : "False";
      case ParameterType::choice: return "\"" + p.choices[size_t(p.otherwise)] + "\"";
      case ParameterType::integer: return std::to_string(int64_t(p.otherwise));
      case ParameterType::number: break;
    }
    const std::string text = literal(p.otherwise);
    if (text.ends_with("INFINITY")) return text[0] == '-' ? "-_inf" : "_inf";
    return text.find_first_of(".en") == text.npos ? text + ".0" : text;
  }

  // The array whose type the results have.
  std::string array_type() const {
    for (const TensorDef* t : given_)
      if (!t->optional && !is_made(*t)) return "_A";
    return "Any";
  }

  std::string result_type() const {
    size_t needed = 0, possible = 0;
    for (const TensorDef& t : op_.tensors)
      if (t.role != Role::in) {
        ++possible;
        needed += !t.optional;
      }
    const std::string a = array_type();
    if (possible == 1) return a;
    std::string all;
    for (size_t i = 0; i < needed; ++i) all += (i ? ", " : "") + a;
    if (needed == possible) return "tuple[" + all + "]";
    return needed == 1 ? a + " | tuple[" + a + ", ...]" : "tuple[" + a + ", ...]";
  }

  std::string head() const {
    const std::string a = array_type();
    std::vector<std::string> arguments;
    // Behind one that may be left out, one that is needed has a default, too, because the language
    // wants that; the library says that it is missing.
    bool has_default = false;
    for (const TensorDef* t : given_) {
      has_default |= t->optional || is_made(*t);
      arguments.push_back(python_name(t->name) + ": " + a + (has_default ? " | None = None" : ""));
    }
    arguments.push_back("*");
    for (const ParameterDef& p : op_.parameters)
      arguments.push_back(python_name(p.name) + ": " + type_of(p) +
                          (p.required ? "" : " = " + default_of(p)));
    for (const int d : sizes_)
      arguments.push_back(op_.dimensions[size_t(d)].name + ": int | None = None");
    for (const TensorDef* t : outputs_)
      arguments.push_back(t->name + ": " + a + (t->optional ? " | bool" : "") + " | None = None");
    if (arguments.back() == "*") arguments.pop_back();
    return signature("def " + op_.name + "(", arguments, ") -> " + result_type() + ":");
  }

  std::string docstring() const {
    std::string text = wrapped("    \"\"\"", "    ", op_.formula);
    if (!op_.notes.empty()) text += "\n" + wrapped("    ", "    ", op_.notes);
    text += "\n    Args:\n";
    const auto add = [&](const std::string& name, const std::string& what) {
      text += wrapped("        " + name + ":", "            ", " " + what);
    };
    for (const TensorDef* t : given_) {
      std::string what = about(*t);
      if (is_made(*t))
        what += (t->meaning.empty() ? ": " : "; ") + std::string("zeros if it is left out");
      add(python_name(t->name), what);
    }
    for (const ParameterDef& p : op_.parameters) add(python_name(p.name), about_python(p));
    for (const int d : sizes_) {
      const DimensionDef& size = op_.dimensions[size_t(d)];
      add(size.name, "size" + (size.meaning.empty() ? "" : ": " + size.meaning) +
                         (size.has_default() ? "; follows from the other sizes if it is left out"
                                             : "; needed unless the array that has it is given"));
    }
    for (const TensorDef* t : outputs_)
      add(t->name, about(*t) + (t->meaning.empty() ? ": " : "; ") +
                       (t->optional ? "True makes it" : "made if it is left out"));
    std::string results;
    for (const TensorDef& t : op_.tensors)
      if (t.role != Role::in)
        results += (results.empty() ? "" : ", ") + python_name(t.name) +
                   (t.optional ? " (if asked for)" : "");
    return text + "\n    Returns:\n" + wrapped("        ", "        ", results) + "    \"\"\"\n";
  }
  static std::string about_python(const ParameterDef& p) {
    ParameterDef shown = p;
    shown.required = true;  // the default stands in the signature
    if (p.type != ParameterType::choice && p.type != ParameterType::flag) return about(shown);
    return p.meaning.empty()
               ? p.type == ParameterType::flag ? "true or false" : "one of these words"
               : p.meaning;
  }

  std::string body(size_t index) const {
    std::string tensors, parameters, sizes;
    for (const TensorDef& t : op_.tensors) tensors += python_name(t.name) + ", ";
    for (const ParameterDef& p : op_.parameters) {
      const std::string name = python_name(p.name);
      if (p.type == ParameterType::choice)
        parameters +=
            "_choice(\"" + op_.name + "\", \"" + name + "\", " + name + ", " + words_of(p) + "), ";
      else parameters += name + ", ";
    }
    for (size_t d = 0; d < op_.dimensions.size() && !sizes_.empty(); ++d) {
      bool asked = false;
      for (const int size : sizes_) asked |= size == int(d);
      sizes += asked ? op_.dimensions[d].name + ", " : "None, ";
    }
    // The comma behind the last item stays: a tuple of one item needs it.
    const auto tuple = [](const std::string& items) {
      return items.empty() ? std::string("()") : "(" + items.substr(0, items.size() - 1) + ")";
    };
    const std::string last = sizes_.empty() ? "None" : tuple(sizes);
    return signature("    return _call(",
                     {std::to_string(index), tuple(tensors), tuple(parameters), last}, ")");
  }
  static std::string words_of(const ParameterDef& p) {
    std::string words;
    for (const std::string& choice : p.choices) words += "\"" + choice + "\", ";
    return "(" + words.substr(0, words.size() - 1) + ")";
  }

  const OperatorDef& op_;
  std::set<int> known_ = {-1};
  std::vector<const TensorDef*> given_, outputs_;
  std::vector<int> sizes_;
};

}  // namespace

std::string python_source() {
  std::string text =
      "\"\"\"The operators of Ridge.\n\nMade from their descriptions; see tools/generate.\n\"\"\"\n"
      "from __future__ import annotations\n\n"
      "from math import inf as _inf\n"
      "from typing import Any, Literal, TypeVar\n\n"
      "from ridge._call import call as _call, choice as _choice\n\n"
      "_A = TypeVar(\"_A\")  # arrays: of NumPy, of PyTorch, or anything with __dlpack__ or a "
      "buffer\n\n";
  std::string names;
  size_t index = 0;
  for (const OperatorDef* op : all_operators()) {
    text += "\n" + Function(*op).text(index++) + "\n";
    names += "    \"" + op->name + "\",\n";
  }
  return text + "\n__all__ = [\n" + names + "]\n";
}

std::string descriptions() {
  std::string text;
  for (const OperatorDef* op : all_operators()) text += (text.empty() ? "[" : ",\n") + json_of(*op);
  return text + "]\n";
}

}  // namespace ridge::generate
