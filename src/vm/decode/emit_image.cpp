// Texture and surface instructions: the operands in brackets and behind them to an ImageSite.
#include "vm/decode/decoder.h"
#include "vm/isa/image.h"

namespace ridge::vm {
namespace {

using Kind = Operand::Kind;

// {a, b} or a: the elements.
std::vector<const Operand*> elements_of(const Operand& op) {
  if (op.kind != Kind::vec) return {&op};
  std::vector<const Operand*> all;
  for (const Operand& e : op.elems) all.push_back(&e);
  return all;
}

}  // namespace

void Decoder::emit_image(const Item& item) {
  const Match& match = *item.match;
  const Form& form = match.form;
  const auto& specs = operand_specs(*match.row);
  const auto& operands = item.source->operands;
  const Geometry geometry = geometry_of(form);
  const AccessKind access = match.facts().access;
  const bool is_query = access == AccessKind::query_image;
  const bool is_surface = !is_query && access != AccessKind::sample;
  const Type coordinate = access == AccessKind::sample ? form.types[1] : Type::s32;
  ImageSite site;
  site.flags = match.handlers.flags;

  const auto put = [&](std::array<uint32_t, 3>& fields, const Operand& op, Type type,
                       const char* what) {
    const auto parts = elements_of(op);
    const int wanted = geometry.dimensions;
    if (int(parts.size()) < wanted)
      fail(std::string(what) + " of this lookup has " + std::to_string(wanted) + " elements",
           op.column);
    for (size_t a = 0; a < size_t(wanted); ++a) fields[a] = source(*parts[a], type);
  };
  const auto read_address = [&](const Operand& op) {
    if (op.kind != Kind::address) fail("an object in brackets was expected", op.column);
    if (op.variable)
      fail(
          "texture and surface references (.texref, .surfref) left CUDA with version 12 and are "
          "not supported: use texture and surface objects",
          op.column);
    if (op.reg < 0) fail("the object must be in a register", op.column);
    Operand base;
    base.kind = Kind::reg;
    base.reg = op.reg;
    base.column = op.column;
    site.handle = source(base, Type::u64);
    if (is_query) return;
    for (const Operand& e : op.elems)
      if (e.kind == Kind::vec || e.kind == Kind::symbol)
        fail("separate samplers (.samplerref) are not supported: a texture object has its own",
             e.column);
    if (int(op.elems.size()) != geometry.elements)
      fail("this geometry has " + std::to_string(geometry.elements) + " coordinates", op.column);
    size_t next = 0;
    if (geometry.layered) site.layer = source(op.elems[next++], Type::u32);
    for (size_t a = 0; a < size_t(geometry.dimensions); ++a)
      site.at[a] = source(op.elems[next++], coordinate);
  };

  size_t behind = 0;  // operands behind the address of a lookup or query, so far
  for (size_t k = 0; k < operands.size(); ++k) {
    const Operand& op = operands[k];
    if (specs[k].address) {
      read_address(op);
    } else if (specs[k].dest || specs[k].vector || is_surface) {
      const auto parts = elements_of(op);
      const size_t wanted = specs[k].vector ? size_t(form.vector) : 1;
      if (parts.size() != wanted) fail("the vector has the wrong number of elements", op.column);
      for (size_t e = 0; e < wanted; ++e)
        site.data[e] =
            specs[k].dest ? destination(*parts[e], form.type()) : source(*parts[e], form.type());
      if (specs[k].second) site.resident = second_destination(op);
    } else {
      ++behind;
      if (form.by_level && behind == 1) site.level = source(op, coordinate);
      else if (form.by_gradient && behind == 1) put(site.dx, op, Type::f32, "the gradient");
      else if (form.by_gradient && behind == 2) put(site.dy, op, Type::f32, "the gradient");
      else if (op.kind == Kind::vec || (op.kind == Kind::imm && !op.is_float))
        put(site.offset, op, Type::s32, "the offset");
      else
        fail("depth comparison is not supported: the CUDA runtime has no depth textures",
             op.column);
    }
  }
  code_.images.push_back(site);
  push(match.handlers, 0, uint32_t(code_.images.size()) - 1);
}

}  // namespace ridge::vm
