#include <algorithm>
#include <cstdio>

#include "vm/parse/printer.h"

namespace ridge::vm::parse {
namespace {

using Kind = Operand::Kind;

constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "%r" of "%r12"; nothing for a name that no range declares.
std::string_view range_prefix(std::string_view name, size_t number) {
  const std::string digits = std::to_string(number);
  if (!name.ends_with(digits) || name.size() == digits.size()) return {};
  name.remove_suffix(digits.size());
  return is_digit(name.back()) ? std::string_view() : name;
}

std::string immediate_text(const Operand& o) {
  char text[24];
  const auto bits = static_cast<unsigned long long>(o.bits);
  if (o.is_f64) std::snprintf(text, sizeof text, "0d%016llX", bits);
  else if (o.is_float) std::snprintf(text, sizeof text, "0f%08llX", bits);
  else std::snprintf(text, sizeof text, "%lld", static_cast<long long>(bits));
  return text;
}

std::string parameter_list(const std::vector<Variable>& parameters) {
  std::string out;
  for (const Variable& v : parameters) out += (out.empty() ? "" : ", ") + declaration_of(v, v.name);
  return "(" + out + ")";
}

}  // namespace

BodyPrinter::BodyPrinter(const Module& module, const Function& function)
    : module_(module), f_(function) {
  // What a body names from outside must not be hidden by what a block of it called the same.
  for (const Variable& v : module.variables) taken_.insert(v.name);
  for (const Function& f : module.functions) taken_.insert(f.name);
  for (const Instruction& i : f_.instructions)
    for (const Operand& o : i.operands) take_special_names(o);
  for (const auto* parameters : {&f_.results, &f_.params})
    for (const Variable& v : *parameters) {
      if (v.name == "_") continue;
      taken_.insert(v.name);
      if (v.space != Space::reg) continue;
      registers_.push_back(v.name);
      ++parameters_;
    }
  name_registers();
  name_variables();
  name_labels();
}

void BodyPrinter::take_special_names(const Operand& o) {
  if (o.kind == Kind::special) taken_.insert(o.text.substr(0, o.text.find('.')));
  for (const Operand& elem : o.elems) take_special_names(elem);
}

std::string BodyPrinter::unique(const std::string& name) {
  std::string candidate = name;
  for (int n = 2; !taken_.insert(candidate).second; ++n)
    candidate = name + "__" + std::to_string(n);
  return candidate;
}

void BodyPrinter::name_variables() {
  for (const Variable& v : f_.variables)
    if (const std::string name = unique(v.name); name != v.name) renamed_.emplace(&v, name);
}

// How many registers from here on are one vector.
int BodyPrinter::vector_width(size_t first) const {
  const std::string& name = f_.registers[first].name;
  if (!name.ends_with(kComponents[0])) return 1;
  const std::string base = name.substr(0, name.size() - 2);
  int width = 1;
  for (; width < 4 && first + size_t(width) < f_.registers.size(); ++width)
    if (f_.registers[first + size_t(width)].name != base + std::string(kComponents[width])) break;
  return width;
}

void BodyPrinter::name_registers() {
  while (registers_.size() < f_.registers.size()) {
    const size_t first = registers_.size();
    const std::string& name = f_.registers[first].name;
    const int width = vector_width(first);
    if (width == 1) {
      registers_.push_back(unique(name));
      continue;
    }
    const std::string base = unique(name.substr(0, name.size() - 2));
    for (int c = 0; c < width; ++c) registers_.push_back(base + std::string(kComponents[c]));
    vectors_.emplace(int32_t(first), Vector{base, int32_t(first), width});
  }
}

// The parser keeps where a label stands, not what it was called.
void BodyPrinter::name_labels() {
  for (const BranchTable& table : f_.tables) {
    tables_.push_back(unique(table.name));
    for (const uint32_t target : table.targets) want_label(target);
  }
  for (const Instruction& i : f_.instructions)
    for (const Operand& o : i.operands)
      if (o.kind == Kind::label) want_label(o.target);
  for (auto& [target, name] : labels_) name = unique("$L_" + std::to_string(target) + "_");
}

// Whether a name in use looks like one of the range `prefix<count>` that is not there.
bool BodyPrinter::reaches_beyond(const std::string& prefix, size_t count) const {
  return std::ranges::any_of(taken_, [&](const std::string& name) {
    const std::string_view digits =
        std::string_view(name).substr(std::min(prefix.size(), name.size()));
    return name.starts_with(prefix) && !digits.empty() && std::ranges::all_of(digits, is_digit) &&
           (digits.size() > 9 || size_t(std::stoul(std::string(digits))) >= count);
  });
}

// Of registers in a row called %r0, %r1, … a range is made: .reg .b32 %r<9>;
std::string BodyPrinter::declared_registers() const {
  std::string out;
  for (size_t i = parameters_; i < registers_.size();) {
    const Type type = f_.registers[i].type;
    out += ".reg ";
    if (const auto vector = vectors_.find(int32_t(i)); vector != vectors_.end()) {
      const Vector& v = vector->second;
      out += (v.width == 2 ? ".v2 ." : ".v4 .") + std::string(vm::name_of(type)) + " " + v.name +
             ";\n";
      i += size_t(v.width);
      continue;
    }
    out += "." + std::string(vm::name_of(type)) + " ";
    const std::string prefix(range_prefix(registers_[i], 0));
    size_t count = 0;
    while (!prefix.empty() && i + count < registers_.size() &&
           f_.registers[i + count].type == type &&
           registers_[i + count] == prefix + std::to_string(count))
      ++count;
    if (reaches_beyond(prefix, count)) count = 0;
    out += count > 0 ? prefix + "<" + std::to_string(count) + ">" : registers_[i];
    out += ";\n";
    i += std::max<size_t>(count, 1);
  }
  return out;
}

std::string BodyPrinter::table_text(size_t index) const {
  const BranchTable& table = f_.tables[index];
  std::string out;
  for (const uint32_t target : table.targets) out += (out.empty() ? "" : ", ") + labels_.at(target);
  for (const Function* f : table.functions) out += (out.empty() ? "" : ", ") + f->name;
  const std::string name = tables_[index] + ": ";
  if (!table.targets.empty()) return name + ".branchtargets " + out + ";\n";
  if (!table.functions.empty()) return name + ".calltargets " + out + ";\n";
  return name + ".callprototype " + parameter_list(table.results) + " _ " +
         parameter_list(table.params) + ";\n";
}

// A place that code was inlined at means the newest .loc of that place: each is said again, from
// the outermost in.
std::string BodyPrinter::loc_text(int32_t loc) const {
  std::vector<const SourceLoc*> chain;
  for (; loc >= 0; loc = chain.back()->inlined_at) chain.push_back(&f_.locs[size_t(loc)]);
  const auto place = [](const SourceLoc& l) {
    return std::to_string(l.file) + " " + std::to_string(l.line) + " " + std::to_string(l.column);
  };
  std::string out;
  for (size_t i = chain.size(); i-- > 0;) {
    out += ".loc " + place(*chain[i]);
    if (i + 1 < chain.size()) out += ", inlined_at " + place(*chain[i + 1]);
    out += "\n";
  }
  return out;
}

std::string BodyPrinter::instruction_text(const Instruction& i) const {
  std::string out;
  if (i.guard >= 0) out = (i.guard_negated ? "@!" : "@") + registers_[size_t(i.guard)] + " ";
  out += i.mnemonic;
  for (const Operand& o : i.operands) out += (&o == &i.operands[0] ? " " : ", ") + operand_text(o);
  return out + ";\n";
}

const std::string& BodyPrinter::name_of(const Variable& v) const {
  const auto found = renamed_.find(&v);
  return found == renamed_.end() ? v.name : found->second;
}

std::string BodyPrinter::elements_text(const std::vector<Operand>& elems) const {
  std::string out;
  for (const Operand& o : elems) out += (&o == &elems[0] ? "" : ", ") + operand_text(o);
  return out;
}

std::string BodyPrinter::register_text(const Operand& o) const {
  std::string out;
  if (o.negated) out = f_.registers[size_t(o.reg)].type == Type::pred ? "!" : "-";
  out += o.kind == Kind::sink ? "_" : registers_[size_t(o.reg)];
  if (!o.text.empty()) out += "." + o.text;
  if (o.second >= 0) out += "|" + registers_[size_t(o.second)];
  return out;
}

std::string BodyPrinter::address_text(const Operand& o) const {
  std::string out = "[";
  if (o.reg >= 0) out += registers_[size_t(o.reg)] + (o.text.empty() ? "" : "." + o.text);
  else if (o.variable) out += name_of(*o.variable);
  else if (o.function) out += o.function->name;
  else out += std::to_string(uint64_t(o.offset));
  if (o.reg >= 0 || o.variable || o.function) out += offset_text(o.offset);
  if (o.elems.empty()) return out + "]";
  // [t, {x, y}], where x and y are the elements; but [t, s, {x, y}].
  const bool listed = o.elems.size() > 1 && std::ranges::any_of(o.elems, [](const Operand& elem) {
                        return elem.kind == Kind::vec;
                      });
  return out + (listed ? ", " : ", {") + elements_text(o.elems) + (listed ? "]" : "}]");
}

std::string BodyPrinter::operand_text(const Operand& o) const {
  switch (o.kind) {
    case Kind::reg:
    case Kind::sink: return register_text(o);
    case Kind::imm: return immediate_text(o);
    case Kind::special: return o.text;
    case Kind::symbol:
      return (o.variable ? name_of(*o.variable) : o.function->name) + offset_text(o.offset);
    case Kind::address: return address_text(o);
    case Kind::label: return labels_.at(o.target);
    case Kind::table: return tables_[o.target];
    case Kind::list: return "(" + elements_text(o.elems) + ")";
    case Kind::vec: {
      // A whole vector register has a name, and inside another vector only the name will do.
      const auto found = vectors_.find(o.elems[0].reg);
      bool whole =
          found != vectors_.end() && found->second.width == int(o.elems.size()) && o.second < 0;
      for (size_t c = 0; whole && c < o.elems.size(); ++c)
        whole = o.elems[c].kind == Kind::reg && !o.elems[c].negated && o.elems[c].second < 0 &&
                o.elems[c].reg == found->second.first + int32_t(c);
      if (whole) return found->second.name;
      const std::string second = o.second < 0 ? "" : "|" + registers_[size_t(o.second)];
      return "{" + elements_text(o.elems) + "}" + second;
    }
  }
  return "";
}

std::string BodyPrinter::text() {
  std::string out = declared_registers();
  for (const Variable& v : f_.variables) {
    out += linkage_prefix(v.linkage);
    out += declaration_of(v, name_of(v)) + initializer_of(v, renamed_) + ";\n";
  }
  for (size_t i = 0; i < f_.tables.size(); ++i) out += table_text(i);
  int32_t loc = -1;
  for (size_t i = 0; i <= f_.instructions.size(); ++i) {
    if (const auto label = labels_.find(uint32_t(i)); label != labels_.end())
      out += label->second + ":\n";
    if (i == f_.instructions.size()) break;
    const Instruction& instruction = f_.instructions[i];
    if (instruction.loc != loc) out += loc_text(loc = instruction.loc);
    out += instruction_text(instruction);
  }
  return out;
}

}  // namespace ridge::vm::parse
