// A minimal writer of animated GIFs (GIF89a): one palette of 256 colours, looping for ever.
//
// Pixels are palette indices, compressed with LZW: the encoder sends a code for the longest run of
// pixels it has sent before, and then remembers that run plus one pixel under a new code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace gif {

inline void put_little_endian(std::string& to, int value) {
  to += static_cast<char>(value & 0xff);
  to += static_cast<char>(value >> 8 & 0xff);
}

// Packs codes of 9 to 12 bits into bytes, lowest bit first.
struct BitWriter {
  std::string bytes;
  uint32_t pending = 0;
  int pending_bits = 0;

  void put(int code, int width) {
    pending |= static_cast<uint32_t>(code) << pending_bits;
    for (pending_bits += width; pending_bits >= 8; pending_bits -= 8, pending >>= 8) {
      bytes += static_cast<char>(pending & 0xff);
    }
  }
  void flush() {
    if (pending_bits > 0) bytes += static_cast<char>(pending & 0xff);
    pending = 0;
    pending_bits = 0;
  }
};

inline std::string lzw(const uint8_t* pixels, size_t count) {
  constexpr int kClear = 256, kEnd = 257, kFirstFree = 258, kMaxCodes = 4096;
  // longer[code * 256 + pixel] is the code of "the run of `code`, then `pixel`"; 0: not seen yet.
  std::vector<uint16_t> longer(kMaxCodes * 256, 0);
  int next_code = kFirstFree;
  int width = 9;
  BitWriter out;

  out.put(kClear, width);
  int run = pixels[0];
  for (size_t i = 1; i < count; ++i) {
    uint16_t& known = longer[run * 256 + pixels[i]];
    if (known != 0) {
      run = known;
      continue;
    }
    out.put(run, width);
    if (next_code < kMaxCodes) {
      if (next_code == 1 << width) ++width;  // the decoder, one code behind, widens just now
      known = static_cast<uint16_t>(next_code++);
    } else {  // the table is full: start again, so that it follows the picture
      out.put(kClear, width);
      std::fill(longer.begin(), longer.end(), uint16_t{0});
      next_code = kFirstFree;
      width = 9;
    }
    run = pixels[i];
  }
  out.put(run, width);
  // The decoder remembers a run for that last code too, and may widen before it reads the end code.
  if (next_code < kMaxCodes && next_code == 1 << width) ++width;
  out.put(kEnd, width);
  out.flush();
  return out.bytes;
}

// frames: (count, height, width) palette indices; palette: (256, 3) RGB. A frame shows for
// `delay` hundredths of a second. False: cannot write.
inline bool write(const std::string& path, int width, int height, int count, int delay,
                  const uint8_t* palette, const uint8_t* frames) {
  std::string file = "GIF89a";
  put_little_endian(file, width);
  put_little_endian(file, height);
  file += '\xf7';        // a palette for all frames, of 2^(7+1) colours
  file.append(2, '\0');  // background colour, pixel aspect ratio: not used
  file.append(reinterpret_cast<const char*>(palette), 256 * 3);
  file += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00", 19);  // repeat for ever

  const size_t frame_pixels = static_cast<size_t>(width) * height;
  for (int frame = 0; frame < count; ++frame) {
    file += std::string("\x21\xf9\x04\x04", 4);  // graphic control: leave the frame in place
    put_little_endian(file, delay);
    file.append(2, '\0');  // no transparent colour; end of the block
    file += '\x2c';        // image: at (0, 0), full size, no palette of its own
    put_little_endian(file, 0);
    put_little_endian(file, 0);
    put_little_endian(file, width);
    put_little_endian(file, height);
    file += '\0';
    file += '\x08';  // bits per pixel
    const std::string codes = lzw(frames + frame * frame_pixels, frame_pixels);
    for (size_t begin = 0; begin < codes.size(); begin += 255) {  // blocks of at most 255 bytes
      const size_t length = std::min<size_t>(255, codes.size() - begin);
      file += static_cast<char>(length);
      file.append(codes, begin, length);
    }
    file += '\0';
  }
  file += '\x3b';  // the end
  std::ofstream stream(path, std::ios::binary);
  stream.write(file.data(), static_cast<std::streamsize>(file.size()));
  stream.close();
  return !stream.fail();
}

}  // namespace gif
