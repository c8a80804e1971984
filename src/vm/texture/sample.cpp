#include "vm/texture/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "vm/texture/cube.h"
#include "vm/texture/filter.h"
#include "vm/texture/fixed.h"

namespace ridge::vm::texture {
namespace {

// A lookup of one level: the level, its layer or face, and coordinates in texels.
struct Place {
  const Object& texture;
  const Level& level;
  int dimensions;
  bool cube;
  int64_t layer = 0;  // with faces; a volume has its own third coordinate
  double at[3] = {0, 0, 0};
};

int64_t modulo(int64_t i, int64_t n) {
  const int64_t r = i % n;
  return r < 0 ? r + n : r;
}

// Repeating needs normalized coordinates, as in hardware, and clamps without.
Address mode_of(const Sampler& sampler, int axis) {
  const Address mode = sampler.address[axis];
  return sampler.normalized_coordinates || mode == Address::border ? mode : Address::clamp;
}

// The texel that index i means under an address mode; -1: the border.
int64_t resolve(const Sampler& sampler, int axis, int64_t i, int64_t n) {
  switch (mode_of(sampler, axis)) {
    case Address::wrap: return modulo(i, n);
    case Address::mirror: {
      const int64_t j = modulo(i, 2 * n);
      return j < n ? j : 2 * n - 1 - j;
    }
    case Address::border: return i < 0 || i >= n ? -1 : i;
    case Address::clamp: break;
  }
  return std::clamp<int64_t>(i, 0, n - 1);
}

// Where texel `index` of a place is; nullptr for the border.
const uint8_t* find(const Place& p, const int64_t index[3]) {
  const Image& image = p.texture.image;
  const int64_t sizes[3] = {p.level.width, p.level.height, p.level.depth};
  int64_t i[3] = {0, 0, 0};
  int64_t slice = p.layer;
  if (p.cube) {
    const int64_t n = p.level.width;
    const bool off_x = index[0] < 0 || index[0] >= n, off_y = index[1] < 0 || index[1] >= n;
    if (p.texture.sampler.seamless_cube && off_x != off_y) {
      const FaceTexel there = across_edge(int(p.layer % 6), index[0], index[1], n);
      slice = p.layer / 6 * 6 + there.face;
      i[0] = there.x;
      i[1] = there.y;
    } else {
      for (int a = 0; a < 2; ++a) {
        i[a] = resolve(p.texture.sampler, a, index[a], n);
        if (i[a] < 0) return nullptr;
      }
    }
  } else {
    for (int a = 0; a < p.dimensions; ++a) {
      i[a] = resolve(p.texture.sampler, a, index[a], sizes[a]);
      if (i[a] < 0) return nullptr;
    }
    if (image.dimensions == 3) slice = i[2];
  }
  return p.level.at(uint64_t(i[0]) * image.format.bytes(), uint64_t(i[1]), uint64_t(slice));
}

Colour colour(const Place& p, const int64_t index[3]) {
  const Format& format = p.texture.image.format;
  const Sampler& sampler = p.texture.sampler;
  if (const uint8_t* texel = find(p, index)) return colour_at(format, sampler.reading, texel);
  return colour_at(format, {sampler.reading.normalized, false},
                   border_bytes(format, sampler.reading, sampler.border).data());
}

Texel bits(const Place& p, const int64_t index[3]) {
  const Format& format = p.texture.image.format;
  const Sampler& sampler = p.texture.sampler;
  if (const uint8_t* texel = find(p, index)) return texel_at(format, sampler.reading, texel);
  return texel_at(format, {sampler.reading.normalized, false},
                  border_bytes(format, sampler.reading, sampler.border).data());
}

// The corner of a seamless cube has three texels, not four.
bool is_cube_corner(const Place& p, const int64_t index[3]) {
  const int64_t n = p.level.width;
  return p.cube && p.texture.sampler.seamless_cube && (index[0] < 0 || index[0] >= n) &&
         (index[1] < 0 || index[1] >= n);
}
// The three, that of the face itself first.
std::array<Colour, 3> corner(const Place& p, const int64_t index[3]) {
  const int64_t n = p.level.width;
  const int64_t x = std::clamp<int64_t>(index[0], 0, n - 1);
  const int64_t y = std::clamp<int64_t>(index[1], 0, n - 1);
  const int64_t around[3][3] = {{x, y, 0}, {index[0], y, 0}, {x, index[1], 0}};
  return {colour(p, around[0]), colour(p, around[1]), colour(p, around[2])};
}

// Texels and how much they count, in as many as two levels.
struct Mixture {
  std::array<Colour, 16> colours;
  std::array<int, 16> weights = {};
  size_t count = 0;

  void add(const Colour& colour, int weight) {
    colours[count] = colour;
    weights[count++] = weight;
  }
  Texel sum(const Format& format, const Reading& reading) const {
    Texel out = {0, 0, 0, 0};
    for (size_t k = 0; k < format.channels; ++k) {
      double channel[16];
      for (size_t i = 0; i < count; ++i) channel[i] = colours[i][k];
      out[k] = std::bit_cast<uint32_t>(weighted_sum(arithmetic_of(format, reading, int(k)),
                                                    {channel, count}, {weights.data(), count}));
    }
    return out;
  }
};

// Clamping is of the coordinate: at an edge all of the weight is the last texel's.
Tap tap(const Place& p, int axis) {
  const Tap tap = linear_tap(p.at[axis]);
  if (p.cube || mode_of(p.texture.sampler, axis) != Address::clamp) return tap;
  const int64_t sizes[3] = {p.level.width, p.level.height, p.level.depth};
  if (tap.first < 0) return {0, 0};
  return tap.first < sizes[axis] - 1 ? tap : Tap{sizes[axis] - 1, 0};
}

// What a level contributes to a mixture, of which it is `share` in kOne parts.
void add_linear(const Place& p, int share, Mixture& mixture) {
  Tap taps[3] = {};
  for (int a = 0; a < p.dimensions; ++a) taps[a] = tap(p, a);
  const Weights weights = weights_of(taps, p.dimensions, share);
  for (int k = 0; k < 1 << p.dimensions; ++k) {
    if (!weights[size_t(k)]) continue;
    const int64_t index[3] = {taps[0].first + (k & 1), taps[1].first + (k >> 1 & 1),
                              taps[2].first + (k >> 2)};
    const int weight = weights[size_t(k)];
    if (!is_cube_corner(p, index)) {
      mixture.add(colour(p, index), weight);
      continue;
    }
    // The missing texel's weight goes to the others in thirds, what is left over to the face's own.
    const auto three = corner(p, index);
    const int third = (weight + 1) / 3;
    mixture.add(three[0], weight - 2 * third);
    mixture.add(three[1], third);
    mixture.add(three[2], third);
  }
}

void nearest(const Place& p, int64_t index[3]) {
  for (int a = 0; a < 3; ++a) index[a] = texel_index(p.at[a]);
  if (!p.cube) return;
  for (int a = 0; a < 2; ++a) index[a] = std::min<int64_t>(index[a], p.level.width - 1);
}

int period(Address mode) { return mode == Address::wrap ? 1 : mode == Address::mirror ? 2 : 0; }

Place place(const Object& texture, const Lookup& lookup, size_t level_index) {
  const Image& image = texture.image;
  const Level& level = image.levels[std::min(level_index, image.levels.size() - 1)];
  // One dimension is two with a y of 0: a linear lookup in border mode is half border there, as in
  // hardware.
  Place p{texture, level,
          lookup.cube ? 2 : std::max(2, std::min(lookup.dimensions, image.dimensions)),
          lookup.cube};
  const uint32_t cubes = lookup.cube ? 6 : 1;
  const uint32_t layers = std::max(1u, image.layers / cubes);
  p.layer = int64_t(std::min(lookup.layer, layers - 1)) * cubes;
  if (lookup.cube) {
    const FacePoint face = face_of(lookup.at);
    p.layer += face.face;
    p.at[0] = (face.s / face.major + 1) / 2 * level.width;
    p.at[1] = (face.t / face.major + 1) / 2 * level.height;
    return p;
  }
  const double sizes[3] = {double(level.width), double(level.height), double(level.depth)};
  const bool scale = texture.sampler.normalized_coordinates && !lookup.whole;
  for (int a = 0; a < p.dimensions; ++a)
    p.at[a] = (scale ? normalized(lookup.at[a], period(texture.sampler.address[a])) * sizes[a]
                     : tame(lookup.at[a])) +
              lookup.offset[a];
  return p;
}

// The level in 1/256 after bias and clamps.
int64_t fixed_level(const Object& texture, const Lookup& lookup) {
  const Sampler& s = texture.sampler;
  const auto most = double(texture.image.levels.size() - 1);
  double level = 0;
  if (lookup.has_level)
    level = std::trunc(tame(lookup.level) * double(kOne)) / double(kOne) + tame(s.bias);
  level = std::min(std::max(level, double(s.min_level)), double(s.max_level));
  return int64_t(std::clamp(level, 0.0, most) * double(kOne));
}

// A texture of no texels, which linear memory may be.
bool is_empty(const Object& texture) {
  const Level& level = texture.image.levels.front();
  return level.width == 0 || level.height == 0;
}

// Integer coordinates name a texel; outside there is nothing.
Texel fetch(const Object& texture, const Lookup& lookup) {
  // In one dimension hardware fetches from linear memory, and finds nothing in an array.
  const Image& image = texture.image;
  if (lookup.dimensions == 1 && !image.linear && !image.layers) return {0, 0, 0, 0};
  const auto level = size_t(std::max(0.0, lookup.has_level ? lookup.level : 0));
  if (level >= texture.image.levels.size()) return {0, 0, 0, 0};
  if (lookup.layer >= std::max(1u, texture.image.layers)) return {0, 0, 0, 0};
  const Place p = place(texture, lookup, level);
  int64_t index[3];
  nearest(p, index);
  const int64_t sizes[3] = {p.level.width, p.level.height, p.level.depth};
  for (int a = 0; a < p.dimensions; ++a)
    if (index[a] < 0 || index[a] >= sizes[a]) return {0, 0, 0, 0};
  return bits(p, index);
}

}  // namespace

Texel sample(const Object& texture, const Lookup& lookup) {
  if (is_empty(texture)) return {0, 0, 0, 0};
  // A volume is none of the flat ones, and reads as nothing where one is expected.
  if (!lookup.cube && (lookup.dimensions == 3) != (texture.image.dimensions == 3))
    return {0, 0, 0, 0};
  if (lookup.whole) return fetch(texture, lookup);
  // Linear memory of one dimension is for fetches.
  if (texture.image.linear && texture.image.dimensions == 1) return {0, 0, 0, 0};
  const int64_t level = texture.image.levels.size() > 1 ? fixed_level(texture, lookup) : 0;
  const bool between = texture.sampler.mip_linear && (level & (kOne - 1));
  const auto first =
      size_t((texture.sampler.mip_linear ? level : level + kOne / 2) >> kFractionBits);
  const bool filtered = (texture.sampler.linear || between) &&
                        reads_as_float(texture.image.format, texture.sampler.reading);
  if (!filtered) {
    const Place p = place(texture, lookup, first);
    int64_t index[3];
    nearest(p, index);
    return bits(p, index);
  }
  Mixture mixture;
  const auto add_level = [&](size_t which, int share) {
    const Place p = place(texture, lookup, which);
    if (texture.sampler.linear) return add_linear(p, share, mixture);
    int64_t index[3];
    nearest(p, index);
    mixture.add(colour(p, index), share);
  };
  const int next = between ? int(level & (kOne - 1)) : 0;
  add_level(first, int(kOne) - next);
  if (next) add_level(first + 1, next);
  return mixture.sum(texture.image.format, texture.sampler.reading);
}

Texel gather(const Object& texture, const Lookup& lookup, int channel) {
  if (is_empty(texture)) return {0, 0, 0, 0};
  const Place p = place(texture, lookup, 0);
  const Tap x = linear_tap(p.at[0]), y = linear_tap(p.at[1]);
  const int64_t corners[4][3] = {{x.first, y.first + 1, 0},
                                 {x.first + 1, y.first + 1, 0},
                                 {x.first + 1, y.first, 0},
                                 {x.first, y.first, 0}};
  Texel out;
  for (size_t k = 0; k < 4; ++k) {
    const int64_t* one = corners[k];
    if (is_cube_corner(p, one)) {
      double sum = 0;
      for (const Colour& c : corner(p, one)) sum += c[size_t(channel)];
      out[k] = std::bit_cast<uint32_t>(float(sum / 3));
    } else {
      out[k] = bits(p, one)[size_t(channel)];
    }
  }
  return out;
}

double level_of_gradients(const Object& texture, const Lookup& lookup, const double dx[3],
                          const double dy[3]) {
  const Image& image = texture.image;
  const Level& base = image.levels.front();
  const double sizes[3] = {double(base.width), double(base.height), double(base.depth)};
  const auto length = [&](const double d[3]) {
    double squares = 0;
    if (lookup.cube) {
      // The quotient rule: how far s / major and t / major move on the face, half its width
      // being 1.
      const FacePoint p = face_of(lookup.at), change = on_face(p.face, d);
      const double s = (change.s * p.major - p.s * change.major) / (p.major * p.major);
      const double t = (change.t * p.major - p.t * change.major) / (p.major * p.major);
      return std::sqrt(s * s + t * t) * sizes[0] / 2;
    }
    for (int a = 0; a < std::min(lookup.dimensions, image.dimensions); ++a) {
      const double texels = d[a] * (texture.sampler.normalized_coordinates ? sizes[a] : 1);
      squares += texels * texels;
    }
    return std::sqrt(squares);
  };
  return std::log2(std::max(length(dx), length(dy)));
}

}  // namespace ridge::vm::texture
