// A minimal PNG writer: 8-bit grey or RGB, pixels stored without compression.
//
// A PNG is a signature and a list of chunks. The pixels sit in one IDAT chunk as a zlib stream, and
// zlib allows "stored" blocks, so a correct file needs two checksums but no compressor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

namespace png {

inline void put_big_endian(std::string& to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xff);
}

// Guards each chunk.
inline uint32_t crc32(const std::string& bytes) {
  uint32_t crc = 0xffffffffu;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

// Guards the zlib stream.
inline uint32_t adler32(const std::string& bytes) {
  uint32_t a = 1, b = 0;
  for (unsigned char byte : bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

inline std::string zlib_stored(const std::string& bytes) {
  constexpr size_t kMaxBlock = 65535;  // a stored block's length has 16 bits
  std::string out = "\x78\x01";        // zlib header: deflate, no preset dictionary
  for (size_t begin = 0; begin < bytes.size(); begin += kMaxBlock) {
    const size_t length = std::min(kMaxBlock, bytes.size() - begin);
    out += static_cast<char>(begin + length == bytes.size());  // is this the last block?
    for (size_t word : {length, ~length}) {                    // the length, and its complement
      out += static_cast<char>(word & 0xff);
      out += static_cast<char>(word >> 8 & 0xff);
    }
    out.append(bytes, begin, length);
  }
  put_big_endian(out, adler32(bytes));
  return out;
}

inline void put_chunk(std::string& to, const std::string& type, const std::string& data) {
  put_big_endian(to, static_cast<uint32_t>(data.size()));
  to += type + data;
  put_big_endian(to, crc32(type + data));
}

// pixels: (height, width, channels), channels is 1 for grey or 3 for RGB. False: cannot write.
inline bool write(const std::string& path, int width, int height, int channels,
                  const uint8_t* pixels) {
  std::string header;
  put_big_endian(header, static_cast<uint32_t>(width));
  put_big_endian(header, static_cast<uint32_t>(height));
  header += '\x08';                           // bits per channel
  header += channels == 3 ? '\x02' : '\x00';  // colour type: RGB or grey
  header.append(3, '\0');                     // deflate, standard filters, not interlaced

  const size_t row_bytes = static_cast<size_t>(width) * channels;
  std::string rows;
  for (int y = 0; y < height; ++y) {
    rows += '\0';  // each row starts with its filter: none
    rows.append(reinterpret_cast<const char*>(pixels) + y * row_bytes, row_bytes);
  }

  std::string file = "\x89PNG\r\n\x1a\n";
  put_chunk(file, "IHDR", header);
  put_chunk(file, "IDAT", zlib_stored(rows));
  put_chunk(file, "IEND", "");
  std::ofstream stream(path, std::ios::binary);
  stream.write(file.data(), static_cast<std::streamsize>(file.size()));
  stream.close();
  return !stream.fail();
}

}  // namespace png
