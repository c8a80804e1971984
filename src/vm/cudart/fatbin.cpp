#include "vm/cudart/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {
namespace {

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t body_bytes;
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t payload_bytes;  // padded to 8
  uint32_t packed_bytes;   // without the padding; 0 when not packed
  uint32_t options_offset;
  uint16_t code_minor, code_major;  // PTX version for PTX
  uint32_t arch;
  uint32_t name_offset, name_bytes;
  uint64_t flags;
  uint64_t reserved;
  uint64_t plain_bytes;  // 0 when not packed
};
static_assert(sizeof(EntryHeader) == 64);

constexpr uint16_t kPtx = 1, kElf = 2;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr uint64_t kFlagArchSpecific = 0x100000, kFlagFamilySpecific = 0x200000;
// No image is larger: a size above is damage, not code.
constexpr uint64_t kMaxPlain = uint64_t(1) << 31;
constexpr uint32_t kMaxArch = 9999;

Error damaged(std::string_view what) {
  return {cudaErrorInvalidKernelImage, "the program's fat binary is damaged: " + std::string(what)};
}

template <class T>
bool read(std::span<const uint8_t> bytes, size_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

// How well code for this target suits the device; -1: not at all.
int rank_target(int arch, char suffix, int major, int minor) {
  const int device = major * 10 + minor;
  if (suffix == 'a') return arch == device ? arch * 4 + 2 : -1;
  if (suffix == 'f') return arch / 10 == major && arch <= device ? arch * 4 + 1 : -1;
  return arch <= device ? arch * 4 : -1;
}

Expected<FatImage> read_entry(const EntryHeader& h, std::span<const uint8_t> payload) {
  if (h.arch > kMaxArch) return damaged("an image's architecture is implausible");
  FatImage image;
  image.kind = h.kind == kPtx   ? FatImage::Kind::ptx
               : h.kind == kElf ? FatImage::Kind::elf
                                : FatImage::Kind::other;
  image.arch = int(h.arch);
  image.suffix = h.flags & kFlagArchSpecific ? 'a' : h.flags & kFlagFamilySpecific ? 'f' : '\0';
  image.packing = h.flags & kFlagZstd  ? FatImage::Packing::zstd
                  : h.flags & kFlagLz4 ? FatImage::Packing::lz4
                                       : FatImage::Packing::none;
  image.payload = payload;
  image.plain_size = payload.size();
  if (image.packing == FatImage::Packing::none) return image;
  if (h.packed_bytes > payload.size()) return damaged("a packed image is longer than its entry");
  if (h.plain_bytes > kMaxPlain) return damaged("an image's unpacked size is implausible");
  image.payload = payload.first(h.packed_bytes);
  image.plain_size = h.plain_bytes;
  return image;
}

}  // namespace

std::string FatImage::label() const {
  const std::string number = std::to_string(arch) + (suffix ? std::string(1, suffix) : "");
  if (kind == Kind::ptx) return "PTX compute_" + number;
  return (kind == Kind::elf ? "machine code sm_" : "an unknown kind of image for sm_") + number;
}

Expected<std::vector<FatImage>> read_container(std::span<const uint8_t> bytes) {
  ContainerHeader header;
  if (!read(bytes, 0, header)) return damaged("it ends inside its header");
  if (header.magic != kContainerMagic) return damaged("the container's magic number is wrong");
  if (header.header_bytes < sizeof(header) || header.header_bytes > bytes.size())
    return damaged("the container's header size is wrong");
  std::span<const uint8_t> rest = bytes.subspan(header.header_bytes);
  if (header.body_bytes > rest.size()) return damaged("it ends before its last image");
  rest = rest.first(header.body_bytes);

  std::vector<FatImage> images;
  while (!rest.empty()) {
    EntryHeader entry;
    if (!read(rest, 0, entry)) return damaged("it ends inside an entry's header");
    if (entry.header_bytes < sizeof(entry) || entry.header_bytes > rest.size())
      return damaged("an entry's header size is wrong");
    if (entry.payload_bytes > rest.size() - entry.header_bytes)
      return damaged("an image runs past the end");
    Expected<FatImage> image =
        read_entry(entry, rest.subspan(entry.header_bytes, entry.payload_bytes));
    if (!image) return image.error();
    images.push_back(*image);
    rest = rest.subspan(entry.header_bytes + entry.payload_bytes);
  }
  return images;
}

Expected<std::string> unpack(const FatImage& image) {
  if (image.packing == FatImage::Packing::none)
    return std::string(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());

  std::string plain;
  if (image.packing == FatImage::Packing::zstd) {
    const unsigned long long size =
        ZSTD_getFrameContentSize(image.payload.data(), image.payload.size());
    if (size != image.plain_size)
      return damaged("a zstd image does not have the size its entry says");
    plain.resize(image.plain_size);
    const size_t got =
        ZSTD_decompress(plain.data(), plain.size(), image.payload.data(), image.payload.size());
    if (ZSTD_isError(got) || got != plain.size()) return damaged("a zstd image does not unpack");
    return plain;
  }
  constexpr size_t kMaxRatio = 255;  // lz4 cannot do better: refuse before allocating
  if (image.payload.size() > size_t(std::numeric_limits<int>::max()) ||
      image.plain_size > (image.payload.size() + 1) * kMaxRatio)
    return damaged("an lz4 image does not have the size its entry says");
  plain.resize(image.plain_size);
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(image.payload.data()),
                                      plain.data(), int(image.payload.size()), int(plain.size()));
  if (got < 0 || size_t(got) != plain.size()) return damaged("an lz4 image does not unpack");
  return plain;
}

Expected<const FatImage*> choose_ptx(std::span<const FatImage> images, int major, int minor) {
  const int device = major * 10 + minor;
  const auto rank = [&](const FatImage& image) {
    return image.kind == FatImage::Kind::ptx ? rank_target(image.arch, image.suffix, major, minor)
                                             : -1;
  };
  const FatImage* best = nullptr;
  for (const FatImage& image : images)
    if (rank(image) >= 0 && (!best || rank(image) > rank(*best))) best = &image;
  if (best) return best;

  std::string there;
  bool has_ptx = false;
  for (const FatImage& image : images) {
    there += (there.empty() ? "" : ", ") + image.label();
    has_ptx = has_ptx || image.kind == FatImage::Kind::ptx;
  }
  const std::string arch = std::to_string(device);
  return Error{cudaErrorNoKernelImageForDevice,
               "holds no PTX that sm_" + arch + " can run; it holds " +
                   (there.empty() ? "nothing" : there) +
                   (has_ptx ? ".\n  PTX runs on the architecture it was made for and on newer "
                              "ones; with an a or f behind the number, on that one or its "
                              "family only."
                            : ".\n  Machine code cannot run on the software GPU.") +
                   " Rebuild with PTX:\n    nvcc -gencode arch=compute_" + arch + ",code=compute_" +
                   arch + " …"};
}

const FatImage* choose_machine_code(std::span<const FatImage> images, int major, int minor) {
  const FatImage* best = nullptr;
  for (const FatImage& image : images) {
    if (image.kind != FatImage::Kind::elf || image.arch / 10 != major) continue;
    const auto rank = [&](const FatImage& i) {
      return rank_target(i.arch, i.suffix, major, minor);
    };
    if (rank(image) >= 0 && (!best || rank(image) > rank(*best))) best = &image;
  }
  return best;
}

Status check_target(std::string_view ptx, int major, int minor) {
  const size_t at = ptx.find(".target");
  const size_t sm = at == ptx.npos ? ptx.npos : ptx.find("sm_", at);
  if (sm == ptx.npos) return Status::ok();  // not PTX: the parser has more to say
  const std::string number(ptx.substr(sm + 3, 8));
  char* end = nullptr;
  const int arch = int(std::strtol(number.c_str(), &end, 10));
  const char suffix = *end == 'a' || *end == 'f' ? *end : '\0';
  if (rank_target(arch, suffix, major, minor) >= 0) return Status::ok();
  return Error{cudaErrorInvalidPtx, "the module is for sm_" + std::to_string(arch) +
                                        (suffix ? std::string(1, suffix) : "") + ", which sm_" +
                                        std::to_string(major * 10 + minor) + " cannot run"};
}

}  // namespace ridge::vm::cudart
