// Textures: tex, tld4, txq. A handle is an object's number; references (.texref) are CUDA 11's.
// Lookups are src/vm/texture's; here lanes become lookups and texels become registers.
#include <cmath>

#include "vm/isa/groups.h"
#include "vm/isa/half.h"
#include "vm/isa/image.h"
#include "vm/texture/sample.h"

namespace ridge::vm {
namespace {

using texture::Lookup;
using texture::Object;
using texture::Texel;

// A lane's results, kept until all lanes have read their operands: destinations may lie on them.
using Results = std::array<Texel, kWarpSize>;

double number(const Warp& w, uint32_t operand, int lane, bool whole) {
  return whole ? double(w.src<int32_t>(operand)[lane]) : double(w.src<float>(operand)[lane]);
}

Lookup lookup_of(const Warp& w, const ImageSite& site, const ImageFlags& flags, int lane) {
  Lookup at;
  at.dimensions = flags.geometry.dimensions;
  at.cube = flags.geometry.cube;
  at.whole = flags.whole;
  if (flags.geometry.layered) at.layer = w.src<uint32_t>(site.layer)[lane];
  for (int a = 0; a < at.dimensions; ++a) {
    const auto k = size_t(a);
    at.at[a] = number(w, site.at[k], lane, flags.whole);
    if (site.offset[k] != kNoOperand) at.offset[a] = w.src<int32_t>(site.offset[k])[lane];
  }
  if (site.level != kNoOperand) {
    at.has_level = true;
    at.level = number(w, site.level, lane, flags.whole);
  }
  return at;
}

void add_gradients(const Warp& w, const ImageSite& site, const Object& texture, int lane,
                   Lookup& at) {
  double dx[3] = {0, 0, 0}, dy[3] = {0, 0, 0};
  for (size_t a = 0; a < 3; ++a) {
    if (site.dx[a] != kNoOperand) dx[a] = w.src<float>(site.dx[a])[lane];
    if (site.dy[a] != kNoOperand) dy[a] = w.src<float>(site.dy[a])[lane];
  }
  at.has_level = true;
  at.level = level_of_gradients(texture, at, dx, dy);
}

// 32-bit results go to four registers as they are, halves to four narrow ones or in pairs to two.
void write(Warp& w, const ImageSite& site, const ImageFlags& flags, const Results& results) {
  const auto half = [](uint32_t bits) { return uint32_t(float_to_half(float_of(bits))); };
  for (size_t e = 0; e < flags.elements; ++e)
    each_active(w.mask, [&](int i) {
      const Texel& t = results[size_t(i)];
      if (flags.lane_bytes == 2) w.reg<uint16_t>(site.data[e])[i] = uint16_t(half(t[e]));
      else
        w.reg<uint32_t>(site.data[e])[i] =
            flags.elements == 2 ? half(t[2 * e]) | half(t[2 * e + 1]) << 16 : t[e];
    });
  // Nothing is sparse here: every texel is resident.
  if (site.resident != kNoOperand) w.set_pred(site.resident, kAllLanes);
}

template <class Find>
const Inst* each_texel(Warp& w, const Inst* inst, Find find) {
  const ImageSite& site = image_site(w, inst);
  const ImageFlags flags = ImageFlags::unpack(site.flags);
  const uint64_t* handles = w.src<uint64_t>(site.handle);
  Results results;
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Object* object = find_object(w, inst, i, handles[i], Object::Kind::texture);
    if (!object) return nullptr;
    if (flags.geometry.cube && !object->image.cube)
      return raise(w, inst, FaultKind::image, uint32_t(i), 0, 0,
                   "a cube lookup of a texture that is no cube map");
    results[size_t(i)] = find(*object, site, flags, i);
  }
  write(w, site, flags, results);
  return inst + 1;
}

const Inst* tex(Warp& w, const Inst* inst) {
  return each_texel(
      w, inst,
      [&](const Object& texture, const ImageSite& site, const ImageFlags& flags, int lane) {
        Lookup at = lookup_of(w, site, flags, lane);
        if (site.dx[0] != kNoOperand) add_gradients(w, site, texture, lane, at);
        return sample(texture, at);
      });
}

const Inst* tld4(Warp& w, const Inst* inst) {
  return each_texel(
      w, inst,
      [&](const Object& texture, const ImageSite& site, const ImageFlags& flags, int lane) {
        return gather(texture, lookup_of(w, site, flags, lane), flags.variant);
      });
}

const Inst* txq(Warp& w, const Inst* inst) {
  return each_texel(w, inst,
                    [&](const Object& texture, const ImageSite& site, const ImageFlags& flags,
                        int lane) -> Texel {
                      const uint32_t level =
                          site.level == kNoOperand ? 0 : w.src<uint32_t>(site.level)[lane];
                      return {query(texture, ImageQuery(flags.variant), level), 0, 0, 0};
                    });
}

Handlers select_tex(const Form& form) {
  ImageFlags flags;
  flags.geometry = geometry_of(form);
  flags.whole = form.types[1] == Type::s32;
  if (flags.geometry.cube && flags.whole) return {};
  const Type type = form.types[0];
  if (type == Type::f16) flags.lane_bytes = 2;
  if (type == Type::f16x2) flags.elements = 2;
  return {tex, tex, false, flags.pack()};
}
Handlers select_tld4(const Form& form) {
  ImageFlags flags;
  flags.geometry = geometry_of(form);
  flags.variant = uint8_t(form.index_of({"r", "g", "b", "a"}));
  return {tld4, tld4, false, flags.pack()};
}
Handlers select_txq(const Form& form) {
  ImageFlags flags;
  flags.elements = 1;
  flags.whole = true;
  flags.variant = uint8_t(query_of(form));
  return {txq, txq, false, flags.pack()};
}

#define RIDGE_GEOMETRY "[1d|2d|3d|a1d|a2d|cube|acube]"
#define RIDGE_FOUR "[v4][u32|s32|f32|f16][s32|f32]"
#define RIDGE_PAIRS "[v2][f16x2][s32|f32]"
constexpr Facts kSample{
    .access = AccessKind::sample, .encoding = Encoding::image, .across = Across::varies};
constexpr Facts kQuery{.access = AccessKind::query_image, .encoding = Encoding::image};
constexpr InstrDef kRows[] = {
    // l: the level; x, y: the gradients; e: the offset in texels.
    {"tex{base}" RIDGE_GEOMETRY RIDGE_FOUR, "d4|p,[a]", Unit::texture, kSample, select_tex},
    {"tex{base}" RIDGE_GEOMETRY RIDGE_FOUR, "d4|p,[a],e:s32", Unit::texture, kSample, select_tex},
    {"tex{base}" RIDGE_GEOMETRY RIDGE_PAIRS, "d4|p,[a]", Unit::texture, kSample, select_tex},
    {"tex{base}" RIDGE_GEOMETRY RIDGE_PAIRS, "d4|p,[a],e:s32", Unit::texture, kSample, select_tex},
    {"tex[level]" RIDGE_GEOMETRY RIDGE_FOUR, "d4|p,[a],l:1", Unit::texture, kSample, select_tex},
    {"tex[level]" RIDGE_GEOMETRY RIDGE_FOUR, "d4|p,[a],l:1,e:s32", Unit::texture, kSample,
     select_tex},
    {"tex[level]" RIDGE_GEOMETRY RIDGE_PAIRS, "d4|p,[a],l:1", Unit::texture, kSample, select_tex},
    {"tex[level]" RIDGE_GEOMETRY RIDGE_PAIRS, "d4|p,[a],l:1,e:s32", Unit::texture, kSample,
     select_tex},
    {"tex[grad]" RIDGE_GEOMETRY "[v4][u32|s32|f32|f16][f32]", "d4|p,[a],g:f32,h:f32", Unit::texture,
     kSample, select_tex},
    {"tex[grad]" RIDGE_GEOMETRY "[v4][u32|s32|f32|f16][f32]", "d4|p,[a],g:f32,h:f32,e:s32",
     Unit::texture, kSample, select_tex},
    {"tex[grad]" RIDGE_GEOMETRY "[v2][f16x2][f32]", "d4|p,[a],g:f32,h:f32", Unit::texture, kSample,
     select_tex},
    {"tex[grad]" RIDGE_GEOMETRY "[v2][f16x2][f32]", "d4|p,[a],g:f32,h:f32,e:s32", Unit::texture,
     kSample, select_tex},
    {"tld4[r|g|b|a][2d|a2d|cube|acube][v4][u32|s32|f32][f32]", "d4|p,[a]", Unit::texture, kSample,
     select_tld4},
    {"tld4[r|g|b|a][2d|a2d|cube|acube][v4][u32|s32|f32][f32]", "d4|p,[a],e:s32", Unit::texture,
     kSample, select_tld4},
    {"txq[width|height|depth|array_size|num_mipmap_levels|num_samples|normalized_coords|"
     "channel_order|channel_data_type][b32]",
     "d,[a]", Unit::texture, kQuery, select_txq},
    {"txq[level][width|height|depth][b32]", "d,[a],l:s32", Unit::texture, kQuery, select_txq},
};
#undef RIDGE_GEOMETRY
#undef RIDGE_FOUR
#undef RIDGE_PAIRS

}  // namespace

std::span<const InstrDef> texture_rows() { return kRows; }

}  // namespace ridge::vm
