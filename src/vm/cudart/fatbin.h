// Fat binaries: the containers nvcc puts into an executable, and what the device uses of them.
//
//   wrapper     magic 0x466243b1 · version 1 or 2 · pointer to a container
//               version 2: and one to an array of containers, ended by a null pointer, with the
//               relocatable code of every unit
//   container   magic 0xBA55ED50 · version · header bytes (16) · body bytes; then its entries
//   entry       kind (1 PTX, 2 ELF) · header bytes · payload bytes · packed bytes · version of PTX
//               or ELF · architecture · flags · plain bytes; then options; then the payload, padded
//
// Every field comes from a file someone may have damaged: nothing is read before it is known to lie
// inside.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace ridge::vm::cudart {

struct FatImage {
  enum class Kind : uint8_t { ptx, elf, other };
  enum class Packing : uint8_t { none, lz4, zstd };
  Kind kind = Kind::other;
  Packing packing = Packing::none;
  int arch = 0;             // 90 for sm_90 and compute_90
  char suffix = '\0';       // 'a': this architecture only; 'f': this family
  uint64_t plain_size = 0;  // after unpacking; the payload's own size when it is not packed
  std::span<const uint8_t> payload;  // packed bytes without the padding
  std::string label() const;         // "PTX compute_90a", "machine code sm_80"
};

constexpr uint32_t kWrapperMagic = 0x466243b1;
constexpr uint32_t kContainerMagic = 0xBA55ED50;

// All errors below carry a cudaError_t as their code.
Expected<std::vector<FatImage>> read_container(std::span<const uint8_t> bytes);
Expected<std::string> unpack(const FatImage& image);

// The PTX a driver would compile for this device: the highest architecture not above it; an 'a'
// image only for exactly its own. cudaErrorNoKernelImageForDevice when there is none: the message
// lists what is there and how to rebuild; its subject, whoever holds the images, goes before it.
Expected<const FatImage*> choose_ptx(std::span<const FatImage> images, int major, int minor);

// The machine code a driver would take for this device, if there is any.
const FatImage* choose_machine_code(std::span<const FatImage> images, int major, int minor);

// Whether PTX text's own .target is one this device runs, by the same rule; cudaErrorInvalidPtx
// otherwise.
Status check_target(std::string_view ptx, int major, int minor);

// How many bytes from `address` on can be read, at most `limit`: containers and PTX text come as
// bare pointers.
size_t readable_bytes(const void* address, size_t limit);

// The containers a wrapper leads to: one for version 1; for version 2 the linked one, then each
// unit's.
struct Wrapper {
  std::span<const uint8_t> linked;
  std::vector<std::span<const uint8_t>> units;
};
Expected<Wrapper> read_wrapper(const void* wrapper);
// The container at this address, as far as its header says and memory goes.
Expected<std::span<const uint8_t>> container_at(const void* address);

}  // namespace ridge::vm::cudart
