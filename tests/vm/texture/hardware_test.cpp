// Lookups against what an H200 gave: h200_lookups.txt holds images, samplers, coordinates and bits.
//
//   image KIND BITS CHANNELS FLAGS LEVEL…     FLAGS of cudaMalloc3DArray, LEVEL is WxHxD:TEXELS
//   texture NAME HOW BOUND IMAGE ADDRESS×3 FILTER MIPFILTER NORMALIZED READ SRGB SEAMLESS
//           BORDER×4 BIAS MIN MAX             then one lookup per line: x y z w, and four results
//
// BOUND is how far a result may lie from the hardware's; 0 means that its bits are the same.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>

#include "picture.h"

namespace ridge::vm::texture {
namespace {

enum How { t1, t2, t3, a1, a2, cu, ac, l1, l2, l3, lc, f1 = 13, f2, f3, fa2, r2, b2, o2 = 22 };

struct Recorded {
  Image image;
  std::deque<std::vector<uint8_t>> memory;
};

uint32_t hex(std::istream& in) {
  uint32_t value = 0;
  in >> std::hex >> value >> std::dec;
  return value;
}

void read_image(std::istream& in, Recorded& to) {
  int kind = 0, bits = 0, channels = 0;
  unsigned flags = 0;
  in >> kind >> bits >> channels >> flags;
  to.image.format = {Channel(kind), uint8_t(bits), uint8_t(channels)};
  to.image.cube = flags & 4;
  const bool layered = flags & 5;
  std::string text;
  while (in >> text) {
    std::istringstream sizes(text);
    uint32_t width = 0, height = 0, depth = 0;
    char x = 0;
    sizes >> width >> x >> height >> x >> depth;
    const std::string texels = text.substr(text.find(':') + 1);
    auto& bytes = to.memory.emplace_back(texels.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = uint8_t(std::stoul(texels.substr(2 * i, 2), nullptr, 16));
    to.image.dimensions = height == 0 ? 1 : depth && !layered ? 3 : 2;
    if (layered) to.image.layers = depth;
    Level level;
    level.base = bytes.data();
    level.width = width;
    level.height = std::max(1u, height);
    level.depth = layered ? 1 : std::max(1u, depth);
    level.pitch = width * to.image.format.bytes();
    level.slice = level.pitch * level.height;
    to.image.levels.push_back(level);
  }
}

Sampler read_sampler(std::istream& in) {
  Sampler s;
  int address[3], linear = 0, mip_linear = 0, normalized = 0, reading = 0, srgb = 0, seamless = 0;
  for (int& a : address) in >> a;
  in >> linear >> mip_linear >> normalized >> reading >> srgb >> seamless;
  for (int a = 0; a < 3; ++a) s.address[a] = Address(address[a]);
  s.linear = linear;
  s.mip_linear = mip_linear;
  s.normalized_coordinates = normalized;
  s.reading = {reading == 1, srgb != 0};
  s.seamless_cube = seamless;
  for (float& b : s.border) b = real(hex(in));
  s.bias = real(hex(in));
  s.min_level = real(hex(in));
  s.max_level = real(hex(in));
  return s;
}

Texel look(const Object& object, int how, const float at[4]) {
  Lookup l;
  l.whole = how >= f1 && how <= fa2;
  l.cube = how == cu || how == ac || how == lc;
  l.dimensions = how == t1 || how == a1 || how == l1 || how == f1 ? 1
                 : how == t3 || how == l3 || how == f3 || l.cube  ? 3
                                                                  : 2;
  for (int a = 0; a < l.dimensions; ++a) l.at[a] = l.whole ? std::trunc(at[a]) : double(at[a]);
  if (how == a1 || how == a2 || how == ac || how == fa2) l.layer = uint32_t(int(at[3]));
  l.has_level = how == l1 || how == l2 || how == l3 || how == lc;
  if (l.has_level) l.level = double(at[3]);
  if (how == o2) {
    l.offset[0] = 2;
    l.offset[1] = -1;
  }
  if (how == r2 || how == b2) return gather(object, l, how == r2 ? 0 : 3);
  return sample(object, l);
}

TEST(Hardware, LookupsGiveWhatAnH200Gave) {
  std::ifstream file(RIDGE_TEST_DATA "/h200_lookups.txt");
  ASSERT_TRUE(file) << RIDGE_TEST_DATA;
  std::deque<Recorded> images;
  Object object;
  std::string line, word, name;
  int how = 0, lookups = 0;
  double bound = 0;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    if (line.starts_with("image")) {
      in >> word;
      read_image(in, images.emplace_back());
      continue;
    }
    if (line.starts_with("texture")) {
      size_t image = 0;
      in >> word >> name >> how >> bound >> image;
      object.image = images.at(image).image;
      object.sampler = read_sampler(in);
      continue;
    }
    float at[4];
    for (float& a : at) a = real(hex(in));
    const Texel got = look(object, how, at);
    for (size_t c = 0; c < 4; ++c) {
      const uint32_t wanted = hex(in);
      if (bound == 0) EXPECT_EQ(got[c], wanted) << name << ": " << line;
      else EXPECT_NEAR(real(got[c]), real(wanted), bound) << name << ": " << line;
    }
    ++lookups;
  }
  EXPECT_GT(lookups, 1000);
}

}  // namespace
}  // namespace ridge::vm::texture
