#include "vm/parse/types.h"

#include <algorithm>
#include <iterator>

namespace ridge::vm {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int size;
};

constexpr TypeRow kTypes[] = {
    // in the order of Type
    {Type::none, "none", 0},       {Type::pred, "pred", 0},     {Type::b8, "b8", 1},
    {Type::b16, "b16", 2},         {Type::b32, "b32", 4},       {Type::b64, "b64", 8},
    {Type::b128, "b128", 16},      {Type::u8, "u8", 1},         {Type::u16, "u16", 2},
    {Type::u32, "u32", 4},         {Type::u64, "u64", 8},       {Type::s8, "s8", 1},
    {Type::s16, "s16", 2},         {Type::s32, "s32", 4},       {Type::s64, "s64", 8},
    {Type::f16, "f16", 2},         {Type::f32, "f32", 4},       {Type::f64, "f64", 8},
    {Type::bf16, "bf16", 2},       {Type::tf32, "tf32", 4},     {Type::u16x2, "u16x2", 4},
    {Type::s16x2, "s16x2", 4},     {Type::f16x2, "f16x2", 4},   {Type::bf16x2, "bf16x2", 4},
    {Type::e4m3, "e4m3", 1},       {Type::e5m2, "e5m2", 1},     {Type::e4m3x2, "e4m3x2", 2},
    {Type::e5m2x2, "e5m2x2", 2},   {Type::texref, "texref", 0}, {Type::samplerref, "samplerref", 0},
    {Type::surfref, "surfref", 0},
};

constexpr bool rows_in_order() {
  for (size_t i = 0; i < std::size(kTypes); i++)
    if (size_t(kTypes[i].type) != i) return false;
  return std::size(kTypes) == size_t(Type::surfref) + 1;
}
static_assert(rows_in_order(), "kTypes is indexed by Type");

constexpr std::string_view kSpaces[] = {  // in the order of Space
    "generic", "reg", "global", "const", "shared", "local", "param"};
static_assert(std::size(kSpaces) == size_t(Space::param) + 1);

}  // namespace

int size_of(Type type) { return kTypes[size_t(type)].size; }
std::string_view name_of(Type type) { return kTypes[size_t(type)].name; }
std::string_view name_of(Space space) { return kSpaces[size_t(space)]; }

std::optional<Type> type_from_name(std::string_view name) {
  const auto row = std::find_if(std::begin(kTypes) + 1, std::end(kTypes),  // "none" is no PTX type
                                [&](const TypeRow& r) { return r.name == name; });
  if (row == std::end(kTypes)) return std::nullopt;
  return row->type;
}

}  // namespace ridge::vm
