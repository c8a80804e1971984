#include "container.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

namespace ridge::vm::cudart::test {
namespace {

template <class T>
void put(std::vector<uint8_t>& bytes, size_t at, T value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string packed(const Entry& entry) {
  std::string out;
  if (entry.packing == FatImage::Packing::none) return entry.text;
  if (entry.packing == FatImage::Packing::lz4) {
    out.resize(size_t(LZ4_compressBound(int(entry.text.size()))));
    out.resize(size_t(LZ4_compress_default(entry.text.data(), out.data(), int(entry.text.size()),
                                           int(out.size()))));
    return out;
  }
  out.resize(ZSTD_compressBound(entry.text.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), entry.text.data(), entry.text.size(), 3));
  return out;
}

}  // namespace

std::vector<uint8_t> container(const std::vector<Entry>& entries) {
  std::vector<uint8_t> bytes(16);
  for (const Entry& entry : entries) {
    const std::string payload = packed(entry);
    const bool plain = entry.packing == FatImage::Packing::none;
    const uint64_t padded = (payload.size() + 8) / 8 * 8;
    const uint64_t flags = 0x11 | (entry.packing == FatImage::Packing::lz4 ? 0x2000 : 0) |
                           (entry.packing == FatImage::Packing::zstd ? 0x8000 : 0) |
                           (entry.suffix == 'a' ? 0x100000 : 0) |
                           (entry.suffix == 'f' ? 0x200000 : 0);
    const size_t at = bytes.size();
    bytes.resize(at + 64 + padded);
    put<uint16_t>(bytes, at, entry.kind);
    put<uint16_t>(bytes, at + 2, 0x101);
    put<uint32_t>(bytes, at + 4, 64);
    put<uint64_t>(bytes, at + 8, padded);
    put<uint32_t>(bytes, at + 16, plain ? 0 : uint32_t(payload.size()));
    put<uint32_t>(bytes, at + 28, entry.arch);
    put<uint64_t>(bytes, at + 40, flags);
    put<uint64_t>(bytes, at + 56, plain ? 0 : entry.text.size());
    std::memcpy(bytes.data() + at + 64, payload.data(), payload.size());
  }
  put<uint32_t>(bytes, 0, kContainerMagic);
  put<uint16_t>(bytes, 4, 1);
  put<uint16_t>(bytes, 6, 16);
  put<uint64_t>(bytes, 8, bytes.size() - 16);
  return bytes;
}

}  // namespace ridge::vm::cudart::test
