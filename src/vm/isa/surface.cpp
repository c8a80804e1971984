// Surfaces: suld, sust, sured, suq. The .b forms move bytes and name them, the .p forms texels.
#include <bit>
#include <cstdio>
#include <cstring>

#include "vm/isa/groups.h"
#include "vm/isa/image.h"
#include "vm/isa/lane.h"
#include "vm/texture/surface.h"

namespace ridge::vm {
namespace {

using texture::Object;
using texture::Outside;

// ImageFlags::variant: the boundary mode; of sured, the operation above it, and signedness above
// that.
Outside outside_of(const ImageFlags& flags) { return Outside(flags.variant & 3); }
enum class Reduce : uint8_t { add, min, max, band, bor };

// `bytes` at the coordinates of a lane. Null outside the surface, after a fault when the
// instruction traps.
uint8_t* reach(Warp& w, const Inst* inst, const ImageSite& site, const ImageFlags& flags,
               const Object& surface, int lane, uint32_t bytes, bool by_texel, const char* what,
               bool* ok) {
  // Hardware finds nothing in a surface of other dimensions, and does not trap for it either.
  if (flags.geometry.dimensions != surface.image.dimensions) return nullptr;
  texture::SurfaceAccess at;
  at.bytes = bytes;
  at.byte = w.src<int32_t>(site.at[0])[lane];
  if (by_texel) at.byte *= surface.image.format.bytes();
  if (flags.geometry.dimensions > 1) at.y = w.src<int32_t>(site.at[1])[lane];
  if (flags.geometry.dimensions > 2) at.z = w.src<int32_t>(site.at[2])[lane];
  if (flags.geometry.layered) at.layer = w.src<uint32_t>(site.layer)[lane];
  const Outside outside = outside_of(flags);
  char text[256];
  if (at.byte % bytes) {
    std::snprintf(text, sizeof text, "%s of %u bytes at byte %lld of a row, no multiple of %u",
                  what, bytes, (long long)at.byte, bytes);
    raise(w, inst, FaultKind::misaligned_address, uint32_t(lane), 0, 0, text);
    *ok = false;
    return nullptr;
  }
  uint8_t* found = locate(surface.image, at, outside);
  if (found || outside != Outside::trap) return found;
  const texture::Level& level = surface.image.levels.front();
  std::snprintf(text, sizeof text,
                "%s of %u bytes at byte %lld of row %lld, slice or layer %lld: outside the "
                "surface, which is %u x %u x %u texels of %u bytes",
                what, bytes, (long long)at.byte, (long long)at.y,
                surface.image.layers ? (long long)at.layer : (long long)at.z, level.width,
                level.height, surface.image.layers ? surface.image.layers : level.depth,
                surface.image.format.bytes());
  raise(w, inst, FaultKind::image, uint32_t(lane), 0, 0, text);
  *ok = false;
  return nullptr;
}

// Runs `move(lane, place)` for every active lane; place is null where nothing is to be touched.
template <class Bytes, class Move>
bool each_place(Warp& w, const Inst* inst, bool by_texel, const char* what, Bytes bytes,
                Move move) {
  const ImageSite& site = image_site(w, inst);
  const ImageFlags flags = ImageFlags::unpack(site.flags);
  const uint64_t* handles = w.src<uint64_t>(site.handle);
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Object* surface = find_object(w, inst, i, handles[i], Object::Kind::surface);
    if (!surface) return false;
    bool ok = true;
    uint8_t* place = reach(w, inst, site, flags, *surface, i, bytes(*surface), by_texel, what, &ok);
    if (!ok) return false;
    move(*surface, i, place);
  }
  return true;
}

// Bytes of one element in memory: those of b8 have 16-bit registers.
uint32_t element_bytes(const ImageFlags& flags) {
  return flags.whole ? 1 : flags.lane_bytes;  // `whole` stands for b8 here
}

const Inst* suld(Warp& w, const Inst* inst) {
  const ImageSite& site = image_site(w, inst);
  const ImageFlags flags = ImageFlags::unpack(site.flags);
  const uint32_t element = element_bytes(flags);
  uint64_t values[4][kWarpSize];
  const bool ok = each_place(
      w, inst, false, "surface load", [&](const Object&) { return element * flags.elements; },
      [&](const Object&, int i, const uint8_t* from) {
        for (uint32_t e = 0; e < flags.elements; ++e) {
          values[e][i] = 0;
          if (from) std::memcpy(&values[e][i], from + e * element, element);
        }
      });
  if (!ok) return nullptr;
  for (uint32_t e = 0; e < flags.elements; ++e)
    each_active(w.mask, [&](int i) {
      std::memcpy(w.reg<uint8_t>(site.data[e]) + i * flags.lane_bytes, &values[e][i],
                  flags.lane_bytes);
    });
  return inst + 1;
}

const Inst* sust(Warp& w, const Inst* inst) {
  const ImageSite& site = image_site(w, inst);
  const ImageFlags flags = ImageFlags::unpack(site.flags);
  const uint32_t element = element_bytes(flags);
  const bool ok = each_place(
      w, inst, false, "surface store", [&](const Object&) { return element * flags.elements; },
      [&](const Object&, int i, uint8_t* to) {
        for (uint32_t e = 0; to && e < flags.elements; ++e)
          std::memcpy(to + e * element, w.src<uint8_t>(site.data[e]) + i * flags.lane_bytes,
                      element);
      });
  return ok ? inst + 1 : nullptr;
}

const Inst* sust_texel(Warp& w, const Inst* inst) {
  const ImageSite& site = image_site(w, inst);
  const ImageFlags flags = ImageFlags::unpack(site.flags);
  const bool ok = each_place(
      w, inst, true, "surface store", [](const Object& s) { return s.image.format.bytes(); },
      [&](const Object& surface, int i, uint8_t* to) {
        texture::Texel value = {0, 0, 0, 0};
        for (size_t e = 0; e < flags.elements; ++e) value[e] = w.src<uint32_t>(site.data[e])[i];
        if (to) store_texel(surface.image.format, value, to);
      });
  return ok ? inst + 1 : nullptr;
}

template <class T>
void reduce(Reduce how, uint8_t* at, T value) {
  using U = std::make_unsigned_t<T>;
  auto* place = reinterpret_cast<U*>(at);
  U seen = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (true) {
    const T old = T(seen);
    T wanted = value;
    switch (how) {
      case Reduce::add: wanted = T(U(old) + U(value)); break;
      case Reduce::min: wanted = value < old ? value : old; break;
      case Reduce::max: wanted = old < value ? value : old; break;
      case Reduce::band: wanted = T(old & value); break;
      case Reduce::bor: wanted = T(old | value); break;
    }
    if (__atomic_compare_exchange_n(place, &seen, U(wanted), false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
      return;
  }
}

template <bool ByTexel>
const Inst* sured(Warp& w, const Inst* inst) {
  w.polls = true;
  const ImageSite& site = image_site(w, inst);
  const ImageFlags flags = ImageFlags::unpack(site.flags);
  const auto how = Reduce(flags.variant >> 2 & 7);
  const bool ok = each_place(
      w, inst, ByTexel, "surface reduction",
      [&](const Object&) { return uint32_t(flags.lane_bytes); },
      [&](const Object& surface, int i, uint8_t* at) {
        if (!at) return;
        const bool is_signed =
            ByTexel ? surface.image.format.kind == texture::Channel::sint : flags.variant >> 5 & 1;
        const uint32_t operand = site.data[0];
        if (flags.lane_bytes == 8 && is_signed) reduce(how, at, w.src<int64_t>(operand)[i]);
        else if (flags.lane_bytes == 8) reduce(how, at, w.src<uint64_t>(operand)[i]);
        else if (is_signed) reduce(how, at, w.src<int32_t>(operand)[i]);
        else reduce(how, at, w.src<uint32_t>(operand)[i]);
      });
  return ok ? inst + 1 : nullptr;
}

const Inst* suq(Warp& w, const Inst* inst) {
  const ImageSite& site = image_site(w, inst);
  const ImageFlags flags = ImageFlags::unpack(site.flags);
  const uint64_t* handles = w.src<uint64_t>(site.handle);
  uint32_t results[kWarpSize];
  for (uint32_t left = w.mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const Object* surface = find_object(w, inst, i, handles[i], Object::Kind::surface);
    if (!surface) return nullptr;
    results[i] = query(*surface, ImageQuery(flags.variant), 0);
  }
  each_active(w.mask, [&](int i) { w.reg<uint32_t>(site.data[0])[i] = results[i]; });
  return inst + 1;
}

ImageFlags access_flags(const Form& form) {
  ImageFlags flags;
  flags.geometry = geometry_of(form);
  const int bytes = size_of(form.type());
  flags.whole = bytes == 1;
  flags.lane_bytes = uint8_t(std::max(2, bytes));
  flags.elements = uint8_t(form.vector);
  flags.variant = uint8_t(form.index_of({"trap", "clamp", "zero"}));
  return flags;
}

template <bool IsStore>
Handlers select_bytes(const Form& form) {
  const ImageFlags flags = access_flags(form);
  if (size_of(form.type()) * form.vector > 16) return {};
  const Handler handler = IsStore ? sust : suld;
  return {handler, handler, false, flags.pack()};
}
Handlers select_texel(const Form& form) {
  return {sust_texel, sust_texel, false, access_flags(form).pack()};
}

template <bool ByTexel>
Handlers select_reduce(const Form& form) {
  ImageFlags flags = access_flags(form);
  const auto how = Reduce(form.index_of({"add", "min", "max", "and", "or"}));
  const Type type = form.type();
  const bool bitwise = how == Reduce::band || how == Reduce::bor;
  if (ByTexel) {
    if (type == Type::b64 && how != Reduce::min && how != Reduce::max) return {};
  } else {
    if (bitwise != (type == Type::b32)) return {};
    if (how == Reduce::add && type == Type::s64) return {};
  }
  const bool is_signed = type == Type::s32 || type == Type::s64;
  flags.variant = uint8_t(flags.variant | uint8_t(how) << 2 | uint8_t(is_signed) << 5);
  return {sured<ByTexel>, sured<ByTexel>, false, flags.pack()};
}

Handlers select_suq(const Form& form) {
  ImageFlags flags;
  flags.elements = 1;
  flags.variant = uint8_t(query_of(form));
  return {suq, suq, false, flags.pack()};
}

constexpr Facts kLoad{.access = AccessKind::load_surface, .encoding = Encoding::image};
constexpr Facts kStore{.access = AccessKind::store_surface, .encoding = Encoding::image};
constexpr Facts kReduces{.access = AccessKind::reduce_surface, .encoding = Encoding::image};
constexpr Facts kQuery{.access = AccessKind::query_image, .encoding = Encoding::image};
constexpr InstrDef kRows[] = {
    {"suld[b][1d|2d|3d|a1d|a2d]{ca|cg|cs|cv}{v2|v4}[b8|b16|b32|b64][trap|clamp|zero]", "d4,[a]",
     Unit::texture, kLoad, select_bytes<false>},
    {"sust[b][1d|2d|3d|a1d|a2d]{wb|cg|cs|wt}{v2|v4}[b8|b16|b32|b64][trap|clamp|zero]", "[a],b4",
     Unit::texture, kStore, select_bytes<true>},
    {"sust[p][1d|2d|3d]{v2|v4}[b32][trap|clamp|zero]", "[a],b4", Unit::texture, kStore,
     select_texel},
    {"sured[b][add|min|max|and|or][1d|2d|3d][u32|s32|b32|u64|s64][trap|clamp|zero]", "[a],b",
     Unit::texture, kReduces, select_reduce<false>},
    {"sured[p][add|min|max|and|or][1d|2d|3d][b32|b64][trap|clamp|zero]", "[a],b", Unit::texture,
     kReduces, select_reduce<true>},
    {"suq[width|height|depth|array_size|channel_order|channel_data_type][b32]", "d,[a]",
     Unit::texture, kQuery, select_suq},
};

}  // namespace

std::span<const InstrDef> surface_rows() { return kRows; }

}  // namespace ridge::vm
