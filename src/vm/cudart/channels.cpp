#include "vm/cudart/channels.h"

#include <algorithm>

#include "vm/cudart/refuse.h"

namespace ridge::vm::cudart {
namespace {

using texture::Channel;
using texture::Format;

struct KindRow {
  cudaChannelFormatKind kind;
  Format format;
};
// Kinds that say everything, of which the descriptor's widths are an echo.
constexpr KindRow kNormalized[] = {
    {cudaChannelFormatKindUnsignedNormalized8X1, {Channel::unorm, 8, 1}},
    {cudaChannelFormatKindUnsignedNormalized8X2, {Channel::unorm, 8, 2}},
    {cudaChannelFormatKindUnsignedNormalized8X4, {Channel::unorm, 8, 4}},
    {cudaChannelFormatKindUnsignedNormalized16X1, {Channel::unorm, 16, 1}},
    {cudaChannelFormatKindUnsignedNormalized16X2, {Channel::unorm, 16, 2}},
    {cudaChannelFormatKindUnsignedNormalized16X4, {Channel::unorm, 16, 4}},
    {cudaChannelFormatKindSignedNormalized8X1, {Channel::snorm, 8, 1}},
    {cudaChannelFormatKindSignedNormalized8X2, {Channel::snorm, 8, 2}},
    {cudaChannelFormatKindSignedNormalized8X4, {Channel::snorm, 8, 4}},
    {cudaChannelFormatKindSignedNormalized16X1, {Channel::snorm, 16, 1}},
    {cudaChannelFormatKindSignedNormalized16X2, {Channel::snorm, 16, 2}},
    {cudaChannelFormatKindSignedNormalized16X4, {Channel::snorm, 16, 4}},
    {cudaChannelFormatKindUnsignedNormalized1010102, {Channel::unorm, 10, 4}},
};

// 1, 2 or 4 channels of the same width.
cudaError_t plain(const cudaChannelFormatDesc& d, Channel kind, Format* format) {
  const int widths[4] = {d.x, d.y, d.z, d.w};
  int channels = 0;
  while (channels < 4 && widths[channels]) ++channels;
  for (int c = 0; c < 4; ++c)
    if (widths[c] != (c < channels ? d.x : 0)) return cudaErrorInvalidChannelDescriptor;
  const bool width_exists = d.x == 16 || d.x == 32 || (d.x == 8 && kind != Channel::real);
  if (!width_exists || channels == 0 || channels == 3) return cudaErrorInvalidChannelDescriptor;
  *format = {kind, uint8_t(d.x), uint8_t(channels)};
  return cudaSuccess;
}

}  // namespace

cudaError_t format_of(const cudaChannelFormatDesc& desc, Format* format) {
  switch (desc.f) {
    case cudaChannelFormatKindSigned: return plain(desc, Channel::sint, format);
    case cudaChannelFormatKindUnsigned: return plain(desc, Channel::uint, format);
    case cudaChannelFormatKindFloat: return plain(desc, Channel::real, format);
    case cudaChannelFormatKindNV12:
      return cudaError_t(refuse("cudaChannelFormatKindNV12", "planar video formats"));
    default: break;
  }
  for (const KindRow& row : kNormalized)
    if (row.kind == desc.f) {
      *format = row.format;
      return cudaSuccess;
    }
  if (desc.f >= cudaChannelFormatKindUnsignedBlockCompressed1 &&
      desc.f <= cudaChannelFormatKindUnsignedBlockCompressed7SRGB)
    return cudaError_t(refuse("a block-compressed channel format", "compressed textures"));
  return cudaErrorInvalidChannelDescriptor;
}

// The plain view formats come in threes, for 1, 2 and 4 channels.
cudaError_t format_of(cudaResourceViewFormat view, Format* format) {
  constexpr Format kThrees[] = {
      {Channel::uint, 8, 1},  {Channel::sint, 8, 1},  {Channel::uint, 16, 1},
      {Channel::sint, 16, 1}, {Channel::uint, 32, 1}, {Channel::sint, 32, 1},
      {Channel::real, 16, 1}, {Channel::real, 32, 1},
  };
  if (view >= cudaResViewFormatUnsignedChar1 && view <= cudaResViewFormatFloat4) {
    const int index = view - cudaResViewFormatUnsignedChar1;
    *format = kThrees[index / 3];
    format->channels = uint8_t(1 << index % 3);
    return cudaSuccess;
  }
  if (view >= cudaResViewFormatUnsignedBlockCompressed1 &&
      view <= cudaResViewFormatUnsignedBlockCompressed7)
    return cudaError_t(refuse("a block-compressed view format", "compressed textures"));
  return cudaErrorInvalidValue;
}

size_t max_linear_width(const Format& format) {
  return std::min(size_t(1) << 30, (size_t(1) << 32) / format.bytes());
}

}  // namespace ridge::vm::cudart
