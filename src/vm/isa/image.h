// What texture and surface instructions share: the geometries they name, and how a lane gets from a
// handle to its object.
#pragma once

#include "vm/decode/code.h"
#include "vm/exec/warp.h"
#include "vm/isa/form.h"
#include "vm/texture/object.h"

namespace ridge::vm {

// Of .1d .2d .3d .a1d .a2d .cube .acube.
struct Geometry {
  int dimensions = 1;
  bool layered = false, cube = false;
  // Elements of the coordinate vector: the layer first, then coordinates, then what is ignored.
  int elements = 1;
};
Geometry geometry_of(const Form& form);

// Handlers::flags of these instructions: what their spelling says, in a word.
struct ImageFlags {
  Geometry geometry;
  bool whole = false;      // integer coordinates
  uint8_t lane_bytes = 4;  // of a data register
  uint8_t elements = 4;    // data registers
  uint8_t variant = 0;     // the row's own: a channel, a boundary mode, a query …

  uint32_t pack() const {
    return uint32_t(geometry.dimensions) | uint32_t(geometry.layered) << 2 |
           uint32_t(geometry.cube) << 3 | uint32_t(whole) << 4 | uint32_t(lane_bytes) << 8 |
           uint32_t(elements) << 16 | uint32_t(variant) << 24;
  }
  static ImageFlags unpack(uint32_t bits) {
    ImageFlags f;
    f.geometry.dimensions = int(bits & 3);
    f.geometry.layered = bits >> 2 & 1;
    f.geometry.cube = bits >> 3 & 1;
    f.whole = bits >> 4 & 1;
    f.lane_bytes = uint8_t(bits >> 8);
    f.elements = uint8_t(bits >> 16);
    f.variant = uint8_t(bits >> 24);
    return f;
  }
};

// What txq and suq answer. Channel orders and types are OpenCL's numbers.
enum class ImageQuery : uint8_t {
  width,
  height,
  depth,
  array_size,
  levels,
  samples,
  normalized,
  channel_order,
  channel_type
};
ImageQuery query_of(const Form& form);
uint32_t query(const texture::Object& object, ImageQuery what, uint32_t level);

inline const ImageSite& image_site(const Warp& w, const Inst* inst) {
  return w.frame->code->images[inst->a];
}

// The object that lane `lane` names; null, with the fault raised, when there is none or its memory
// is gone. Good until the next call.
const texture::Object* find_object(Warp& w, const Inst* inst, int lane, uint64_t handle,
                                   texture::Object::Kind kind);

}  // namespace ridge::vm
