// Texture lookups of one thread: coordinates to texels, filters, levels of detail, cube faces.
//
// Filtering is the formula of the CUDA programming guide in the arithmetic of filter.h. Anisotropic
// filtering is the isotropic one: a gradient lookup takes the level of its longer axis.
#pragma once

#include "vm/texture/object.h"

namespace ridge::vm::texture {

struct Lookup {
  // Coordinates, as many as there are dimensions, or the direction of a cube. A one-dimensional
  // lookup may read a two-dimensional texture and the reverse; neither finds anything in a volume.
  int dimensions = 1;
  bool cube = false;
  double at[3] = {0, 0, 0};
  bool whole = false;         // integer coordinates: one texel, never normalized, zero outside
  uint32_t layer = 0;         // clamped, but in fetches; faces count where it is not a cube's
  int offset[3] = {0, 0, 0};  // texels
  // The base level; or this one, before bias and clamp.
  bool has_level = false;
  double level = 0;
};

Texel sample(const Object& texture, const Lookup& lookup);

// tld4: one channel of the four texels a linear lookup filters, counter-clockwise from the lower
// left one.
Texel gather(const Object& texture, const Lookup& lookup, int channel);

// The level of a lookup whose coordinates change by dx and dy from one pixel to the next.
double level_of_gradients(const Object& texture, const Lookup& lookup, const double dx[3],
                          const double dy[3]);

}  // namespace ridge::vm::texture
