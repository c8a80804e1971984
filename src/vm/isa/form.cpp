#include "vm/isa/form.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "vm/isa/operands.h"
#include "vm/isa/reserved.h"

namespace ridge::vm {
namespace {

struct NamedSet {
  std::string_view name;
  std::string_view members;
};
// Shapes of wgmma: 64 rows, every multiple of 8 columns up to 256; those of integers.
#define RIDGE_SHAPES(k)                                                                         \
  "m64n8" k "|m64n16" k "|m64n24" k "|m64n32" k "|m64n40" k "|m64n48" k "|m64n56" k "|m64n64" k \
  "|m64n72" k "|m64n80" k "|m64n88" k "|m64n96" k "|m64n104" k "|m64n112" k "|m64n120" k        \
  "|m64n128" k "|m64n136" k "|m64n144" k "|m64n152" k "|m64n160" k "|m64n168" k "|m64n176" k    \
  "|m64n184" k "|m64n192" k "|m64n200" k "|m64n208" k "|m64n216" k "|m64n224" k "|m64n232" k    \
  "|m64n240" k "|m64n248" k "|m64n256" k
#define RIDGE_INTEGER_SHAPES(k)                                                                 \
  "m64n8" k "|m64n16" k "|m64n24" k "|m64n32" k "|m64n48" k "|m64n64" k "|m64n80" k "|m64n96" k \
  "|m64n112" k "|m64n128" k "|m64n144" k "|m64n160" k "|m64n176" k "|m64n192" k "|m64n208" k    \
  "|m64n224" k "|m64n240" k "|m64n256" k
constexpr NamedSet kTypeSets[] = {
    {"int", "u16|s16|u32|s32|u64|s64"},
    {"integer", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"int32", "u32|s32"},
    {"int32_64", "u32|s32|u64|s64"},
    {"int16_32", "u16|s16|u32|s32"},
    {"signed", "s16|s32|s64"},
    {"bits", "b16|b32|b64"},
    {"bits32_64", "b32|b64"},
    {"float", "f32|f64"},
    {"round", "rn|rz|rm|rp"},
    {"iround", "rni|rzi|rmi|rpi"},
    {"icmp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
    {"fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"bool", "and|or|xor"},
    {"any", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64|f16|bf16|f16x2|bf16x2"},
    {"move", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"},
    {"space",
     "global|shared|shared::cta|shared::cluster|local|const|param|param::entry|param::func"},
    {"scope", "cta|cluster|gpu|sys"},
    {"cache", "ca|cg|cs|lu|cv|wb|wt"},
    {"evict",
     "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"l2evict", "L2::evict_first|L2::evict_last|L2::evict_normal"},
    {"prefetch", "L2::64B|L2::128B|L2::256B"},
    {"hint", "L2::cache_hint"},
    {"m64k8", RIDGE_SHAPES("k8")},
    {"m64k16", RIDGE_SHAPES("k16")},
    {"m64k32", RIDGE_SHAPES("k32")},
    {"m64k64", RIDGE_SHAPES("k64")},
    {"m64k32i", RIDGE_INTEGER_SHAPES("k32")},
    {"m64k64i", RIDGE_INTEGER_SHAPES("k64")},
    {"m64k256i", RIDGE_INTEGER_SHAPES("k256")},
};
#undef RIDGE_SHAPES
#undef RIDGE_INTEGER_SHAPES

struct ModifierGroup {
  bool required = false;
  std::vector<std::string_view> names;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// "add{rn|rz}[%float]" -> root "add" and its groups.
struct Pattern {
  std::string_view root;
  std::vector<ModifierGroup> modifiers;
};
Pattern parse_pattern(std::string_view spelling) {
  Pattern p;
  p.root = spelling.substr(0, spelling.find_first_of("[{"));
  std::string_view rest = spelling.substr(p.root.size());
  while (!rest.empty()) {
    const bool required = rest.front() == '[';
    const size_t close = rest.find(required ? ']' : '}');
    ModifierGroup group{required, {}};
    for (std::string_view name : split(rest.substr(1, close - 1), '|')) {
      if (name.front() != '%') {
        group.names.push_back(name);
        continue;
      }
      for (const NamedSet& set : kTypeSets)
        if (set.name == name.substr(1))
          for (std::string_view member : split(set.members, '|')) group.names.push_back(member);
    }
    p.modifiers.push_back(std::move(group));
    rest.remove_prefix(close + 1);
  }
  return p;
}

struct IndexedRow {
  const InstrDef* row;
  Pattern pattern;
};
// Rows by root, patterns read once.
const std::unordered_map<std::string_view, std::vector<IndexedRow>>& index() {
  static const auto* built = [] {
    auto* map = new std::unordered_map<std::string_view, std::vector<IndexedRow>>;
    for (const Group& group : groups())
      for (const InstrDef& row : group.rows) {
        Pattern p = parse_pattern(row.spelling);
        (*map)[p.root].push_back({&row, std::move(p)});
      }
    return map;
  }();
  return *built;
}

bool match(const Pattern& pattern, const std::vector<std::string_view>& modifiers) {
  std::vector<bool> used(pattern.modifiers.size(), false);
  for (std::string_view modifier : modifiers) {
    bool found = false;
    for (size_t g = 0; g < used.size() && !found; ++g) {
      const auto& names = pattern.modifiers[g].names;
      if (used[g] || std::find(names.begin(), names.end(), modifier) == names.end()) continue;
      used[g] = found = true;
    }
    if (!found) return false;
  }
  for (size_t g = 0; g < used.size(); ++g)
    if (pattern.modifiers[g].required && !used[g]) return false;
  return true;
}

// What modifiers mean wherever they stand.
struct Meaning {
  std::string_view modifier;
  void (*note)(Form&);
};
template <auto Member, auto Value>
void set(Form& form) {
  form.*Member = Value;
}
constexpr Meaning kMeanings[] = {
    {"global", set<&Form::space, Space::global>},
    // Without cluster launches every block is a cluster of one.
    {"shared", set<&Form::space, Space::shared>},
    {"shared::cta", set<&Form::space, Space::shared>},
    {"shared::cluster", set<&Form::space, Space::shared>},
    {"local", set<&Form::space, Space::local>},
    {"const", set<&Form::space, Space::constant>},
    {"param", set<&Form::space, Space::param>},
    {"param::entry", set<&Form::space, Space::param>},
    {"param::func", set<&Form::space, Space::param>},
    {"relaxed", set<&Form::order, Order::relaxed>},
    {"acquire", set<&Form::order, Order::acquire>},
    {"release", set<&Form::order, Order::release>},
    {"acq_rel", set<&Form::order, Order::acq_rel>},
    {"sc", set<&Form::order, Order::sc>},
    {"volatile", set<&Form::order, Order::is_volatile>},
    {"mmio", set<&Form::order, Order::mmio>},
    {"cta", set<&Form::scope, MemoryScope::cta>},
    {"cluster", set<&Form::scope, MemoryScope::cluster>},
    {"gpu", set<&Form::scope, MemoryScope::gpu>},
    {"gl", set<&Form::scope, MemoryScope::gpu>},
    {"sys", set<&Form::scope, MemoryScope::sys>},
    {"add", set<&Form::operation, Operation::add>},
    {"inc", set<&Form::operation, Operation::inc>},
    {"dec", set<&Form::operation, Operation::dec>},
    {"min", set<&Form::operation, Operation::min>},
    {"max", set<&Form::operation, Operation::max>},
    {"and", set<&Form::operation, Operation::bit_and>},
    {"or", set<&Form::operation, Operation::bit_or>},
    {"xor", set<&Form::operation, Operation::bit_xor>},
    {"exch", set<&Form::operation, Operation::exch>},
    {"cas", set<&Form::operation, Operation::cas>},
    {"rn", set<&Form::rounding, Rounding::rn>},
    {"rz", set<&Form::rounding, Rounding::rz>},
    {"rm", set<&Form::rounding, Rounding::rm>},
    {"rp", set<&Form::rounding, Rounding::rp>},
    {"rna", set<&Form::rounding, Rounding::rna>},
    {"rni", set<&Form::rounding, Rounding::rni>},
    {"rzi", set<&Form::rounding, Rounding::rzi>},
    {"rmi", set<&Form::rounding, Rounding::rmi>},
    {"rpi", set<&Form::rounding, Rounding::rpi>},
    {"v2", set<&Form::vector, 2>},
    {"v4", set<&Form::vector, 4>},
    {"v8", set<&Form::vector, 8>},
    {"x2", set<&Form::matrices, 2>},
    {"x4", set<&Form::matrices, 4>},
    {"ftz", set<&Form::ftz, true>},
    {"sat", set<&Form::sat, true>},
    {"approx", set<&Form::approx, true>},
    {"lo", set<&Form::lo, true>},
    {"wide", set<&Form::wide, true>},
    {"nc", set<&Form::read_only, true>},
    {"cg", set<&Form::bypasses_l1, true>},
    {"aligned", set<&Form::aligned, true>},
    {"eq", set<&Form::comparison, Comparison::equal>},
    {"equ", set<&Form::comparison, Comparison::equal>},
    {"ne", set<&Form::comparison, Comparison::unequal>},
    {"neu", set<&Form::comparison, Comparison::unequal>},
    {"lt", set<&Form::comparison, Comparison::less>},
    {"le", set<&Form::comparison, Comparison::less>},
    {"ltu", set<&Form::comparison, Comparison::less>},
    {"leu", set<&Form::comparison, Comparison::less>},
    {"lo", set<&Form::comparison, Comparison::less>},
    {"ls", set<&Form::comparison, Comparison::less>},
    {"gt", set<&Form::comparison, Comparison::greater>},
    {"ge", set<&Form::comparison, Comparison::greater>},
    {"gtu", set<&Form::comparison, Comparison::greater>},
    {"geu", set<&Form::comparison, Comparison::greater>},
    {"hi", set<&Form::comparison, Comparison::greater>},
    {"hs", set<&Form::comparison, Comparison::greater>},
    {"level", set<&Form::by_level, true>},
    {"grad", set<&Form::by_gradient, true>},
    {"L2::cache_hint", set<&Form::has_policy, true>},
};

// Of several modifiers that set one field, the first counts: ld.mmio.relaxed,
// cp.async.shared.global.
Form read_form(std::vector<std::string_view> modifiers) {
  Form form;
  for (auto m = modifiers.rbegin(); m != modifiers.rend(); ++m)
    for (const Meaning& meaning : kMeanings)
      if (meaning.modifier == *m) meaning.note(form);
  for (const std::string_view m : modifiers)
    if (const auto type = type_from_name(m); type && form.type_count < int(form.types.size()))
      form.types[size_t(form.type_count++)] = *type;
  form.modifiers = std::move(modifiers);
  return form;
}

}  // namespace

bool Form::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

int Form::index_of(std::initializer_list<std::string_view> names, int otherwise) const {
  int i = 0;
  for (std::string_view name : names) {
    if (has(name)) return i;
    ++i;
  }
  return otherwise;
}

const Match* find_instruction(std::string_view mnemonic, std::string* error, int operands) {
  struct Entry {
    std::string spelling;  // what the match's Form points into
    Match match;
  };
  static std::mutex mutex;
  static auto* cache = new std::unordered_map<std::string, std::unique_ptr<Entry>>;
  const std::string cache_key = std::string(mnemonic) + ' ' + std::to_string(operands);
  const std::lock_guard lock(mutex);
  if (const auto hit = cache->find(cache_key); hit != cache->end()) return &hit->second->match;

  auto entry = std::make_unique<Entry>();
  entry->spelling = mnemonic;
  std::vector<std::string_view> parts = split(entry->spelling, '.');
  const std::string_view root = parts.front();
  parts.erase(parts.begin());
  const auto rows = index().find(root);
  std::string later;
  for (const Reserved& reserved : kReserved)
    if ((entry->spelling + '.').starts_with(std::string(reserved.prefix) + '.'))
      later = reserved.never ? ": " + std::string(reserved.what)
                             : " yet (" + std::string(reserved.what) + ")";
  if (rows == index().end()) {
    *error =
        "the instruction '" + std::string(root) + "' is not supported by the software GPU" + later;
    return nullptr;
  }
  const Form form = read_form(std::move(parts));
  bool wrong_count = false;
  for (const IndexedRow& candidate : rows->second) {
    if (!match(candidate.pattern, form.modifiers)) continue;
    const Handlers handlers = candidate.row->select(form);
    if (!handlers.masked) continue;
    if (operands >= 0 && operand_count(*candidate.row) != operands) {
      wrong_count = true;
      continue;
    }
    entry->match = {candidate.row, root, form, handlers};
    return &(cache->emplace(cache_key, std::move(entry)).first->second->match);
  }
  if (wrong_count) {
    *error =
        "'" + std::string(mnemonic) + "' does not take " + std::to_string(operands) + " operands";
    return nullptr;
  }
  *error = "this form of '" + std::string(root) + "' is not supported by the software GPU" + later +
           ": " + std::string(mnemonic);
  return nullptr;
}

std::vector<std::string> expand(const InstrDef& row) {
  const Pattern pattern = parse_pattern(row.spelling);
  std::vector<std::string> spellings = {std::string(pattern.root)};
  for (const ModifierGroup& group : pattern.modifiers) {
    std::vector<std::string> longer;
    for (const std::string& prefix : spellings) {
      if (!group.required) longer.push_back(prefix);
      for (std::string_view name : group.names) longer.push_back(prefix + "." + std::string(name));
    }
    spellings = std::move(longer);
  }
  // Only the combinations that exist.
  std::string ignored;
  std::erase_if(spellings, [&](const std::string& s) {
    const Match* m = find_instruction(s, &ignored);
    return !m || m->row != &row;
  });
  return spellings;
}

}  // namespace ridge::vm
