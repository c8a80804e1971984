#include "tensor_map_case.h"

#include <functional>

namespace ridge::hopper {

std::string MapCase::name() const {
  return (im2col ? "im2col rank=" : "tile rank=") + std::to_string(rank) + " " + what;
}

CUresult MapCase::encode(decltype(&cuTensorMapEncodeTiled) tiled,
                         decltype(&cuTensorMapEncodeIm2col) columns, uint8_t* bytes) const {
  auto* to = m.no_place ? nullptr : reinterpret_cast<CUtensorMap*>(m.to_16 ? bytes + 16 : bytes);
  const auto type = CUtensorMapDataType(m.type);
  const auto rank_given = cuuint32_t(m.rank);
  const auto layout = CUtensorMapInterleave(m.interleave);
  const auto swizzle = CUtensorMapSwizzle(m.swizzle);
  const auto promotion = CUtensorMapL2promotion(m.promotion);
  const auto fill = CUtensorMapFloatOOBfill(m.fill);
  auto* address = reinterpret_cast<void*>(m.address);
  const auto* dims = m.no_dims ? nullptr : m.dims;
  const auto* strides = m.no_strides ? nullptr : m.strides;
  const auto* box = m.no_box ? nullptr : m.box;
  const auto* steps = m.no_steps ? nullptr : m.steps;
  if (im2col)
    return columns(to, type, rank_given, address, dims, strides, m.no_box ? nullptr : m.lower,
                   m.no_box ? nullptr : m.upper, m.channels, m.pixels, steps, layout, swizzle,
                   promotion, fill);
  return tiled(to, type, rank_given, address, dims, strides, box, steps, layout, swizzle, promotion,
               fill);
}

std::vector<MapCase> null_pointer_cases(bool im2col) {
  const auto make = [&](const char* what, bool MapArguments::*flag, int rank = 5) {
    MapCase c{im2col, rank, what, {}};
    c.m.rank = rank;
    c.m.*flag = true;
    return c;
  };
  return {make("no_place", &MapArguments::no_place),
          make("no_dims", &MapArguments::no_dims),
          make("no_strides", &MapArguments::no_strides),
          make("no_strides_rank1", &MapArguments::no_strides, 1),
          make("no_box", &MapArguments::no_box),
          make("no_steps", &MapArguments::no_steps)};
}

std::vector<MapCase> tensor_map_cases() {
  std::vector<MapCase> all;
  const auto show = [&](bool im2col, const std::string& what,
                        const std::function<void(MapArguments&)>& change, int rank = 5) {
    MapCase c{im2col, rank, what, {}};
    c.m.rank = rank;
    change(c.m);
    all.push_back(c);
  };
  const auto n = [](auto x) { return std::to_string(x); };
  for (bool im2col : {false, true}) {
    for (int rank = im2col ? 2 : 0; rank <= 6; ++rank)
      show(
          im2col, "nothing", [](MapArguments&) {}, rank);
    const auto each = [&](const std::string& what, auto values, auto set, int rank = 5) {
      for (auto v : values)
        show(
            im2col, what + "=" + n(v), [&](MapArguments& m) { set(m, v); }, rank);
    };
    using U = std::vector<uint64_t>;
    using I = std::vector<int>;
    each("type", I{-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
         [](MapArguments& m, int v) { m.type = v; });
    each(
        "type_rank3", I{13, 14, 15},
        [](MapArguments& m, int v) {
          m.type = v;
          m.dims[0] = 256;
          m.box[0] = 128;
          m.channels = 128;
        },
        3);
    each("address",
         U{0, 8, 16, 32, 48, 0x7f1234567008, 0x7f1234567010, 0xffffffffffff0ull,
           0xfffffffffffff0ull, 0xfffffffffffffff0ull, 1ull << 57, 1ull << 56},
         [](MapArguments& m, uint64_t v) { m.address = v; });
    for (int i = 0; i < 5; ++i)
      each("dims[" + n(i) + "]",
           U{0, 1, 3, 5, 1ull << 16, (1ull << 32) - 1, 1ull << 32, (1ull << 32) + 1, 1ull << 33},
           [i](MapArguments& m, uint64_t v) { m.dims[i] = v; });
    for (int i = 0; i < 4; ++i)
      each("strides[" + n(i) + "]",
           U{0, 8, 16, 24, 32, 48, 255, 272, 4096, 1ull << 20, 1ull << 36, (1ull << 40) - 16,
             1ull << 40, (1ull << 40) + 16},
           [i](MapArguments& m, uint64_t v) { m.strides[i] = v; });
    for (int i = 0; i < 5; ++i)
      each("steps[" + n(i) + "]", U{0, 1, 2, 3, 7, 8, 9},
           [i](MapArguments& m, uint64_t v) { m.steps[i] = uint32_t(v); });
    each("interleave", I{-1, 0, 1, 2, 3}, [](MapArguments& m, int v) { m.interleave = v; });
    each("interleave_swizzle32", I{1, 2}, [](MapArguments& m, int v) {
      m.interleave = v;
      m.swizzle = 1;
      m.box[0] = m.channels = 8;
    });
    each(
        "interleave_rank2", I{1, 2},
        [](MapArguments& m, int v) {
          m.interleave = v;
          m.swizzle = 1;
          m.box[0] = m.channels = 8;
        },
        2);
    each(
        "interleave_rank3_box4", I{1, 2},
        [](MapArguments& m, int v) {
          m.interleave = v;
          m.swizzle = 1;
          m.box[0] = m.channels = 4;
        },
        3);
    each(
        "interleave_16B_swizzle", I{0, 1, 2, 3},
        [](MapArguments& m, int v) {
          m.interleave = 1;
          m.swizzle = v;
          m.box[0] = m.channels = 4;
        },
        3);
    each(
        "interleave_32B_swizzle", I{0, 1, 2, 3},
        [](MapArguments& m, int v) {
          m.interleave = 2;
          m.swizzle = v;
          m.box[0] = m.channels = 8;
        },
        3);
    each(
        "interleave_32B_address", U{16, 32},
        [](MapArguments& m, uint64_t v) {
          m.interleave = 2;
          m.swizzle = 1;
          m.box[0] = m.channels = 8;
          m.address += v;
        },
        3);
    each(
        "interleave_32B_stride", U{272, 288},
        [](MapArguments& m, uint64_t v) {
          m.interleave = 2;
          m.swizzle = 1;
          m.box[0] = m.channels = 8;
          m.strides[0] = v;
        },
        3);
    each("swizzle", I{-1, 0, 1, 2, 3, 4, 5, 6, 7}, [](MapArguments& m, int v) {
      m.swizzle = v;
      m.box[0] = m.channels = 8;
    });
    each("swizzle_inner64", I{0, 1, 2, 3}, [](MapArguments& m, int v) {
      m.swizzle = v;
      m.box[0] = m.channels = 16;
    });
    each("swizzle_inner128", I{0, 1, 2, 3}, [](MapArguments& m, int v) {
      m.swizzle = v;
      m.box[0] = m.channels = 32;
    });
    each("swizzle_inner256", I{0, 1, 2, 3}, [](MapArguments& m, int v) {
      m.swizzle = v;
      m.box[0] = m.channels = 64;
    });
    each("promotion", I{-1, 0, 1, 2, 3, 4}, [](MapArguments& m, int v) { m.promotion = v; });
    each("fill", I{-1, 0, 1, 2}, [](MapArguments& m, int v) { m.fill = v; });
    for (int type = 0; type < 13; ++type)
      show(im2col, "fill=1 type=" + n(type), [&](MapArguments& m) {
        m.fill = 1;
        m.type = type;
        m.channels = m.box[0] = 32;
      });
    show(im2col, "place+16", [](MapArguments& m) { m.to_16 = true; });
    // No field by itself.
    show(im2col, "stride_below_row", [](MapArguments& m) { m.strides[0] = 240; });
    show(im2col, "strides_overlap", [](MapArguments& m) { m.strides[1] = 256; });
    show(im2col, "inner_8_bytes", [](MapArguments& m) { m.box[0] = m.channels = 2; });
    show(im2col, "inner_20_bytes", [](MapArguments& m) { m.box[0] = m.channels = 5; });
    show(im2col, "inner_1_byte_type0", [](MapArguments& m) {
      m.type = 0;
      m.box[0] = m.channels = 1;
    });
    if (!im2col) {
      for (int i = 0; i < 5; ++i)
        each("box[" + n(i) + "]", U{0, 1, 3, 4, 8, 255, 256, 257},
             [i](MapArguments& m, uint64_t v) { m.box[i] = uint32_t(v); });
      show(false, "box_256x256", [](MapArguments& m) { m.box[0] = m.box[1] = 256; });
      show(false, "box_256x256x256", [](MapArguments& m) { m.box[0] = m.box[1] = m.box[2] = 256; });
      for (uint32_t rows : {192, 226, 227, 228, 229, 230, 231, 232, 255, 256})
        show(
            false, "box_bytes=1024*" + n(rows),
            [&](MapArguments& m) {
              m.type = 0;
              m.box[0] = 256;
              m.box[1] = 4;
              m.box[2] = rows;
            },
            3);
      show(false, "box_larger_than_tensor", [](MapArguments& m) {
        m.dims[1] = 1;
        m.box[1] = 200;
      });
      show(false, "box_with_steps", [](MapArguments& m) {
        m.box[1] = 16;
        m.steps[1] = 4;
      });
    } else {
      each("channels", U{0, 1, 3, 4, 8, 128, 255, 256, 257, 1024},
           [](MapArguments& m, uint64_t v) { m.channels = uint32_t(v); });
      each("pixels", U{0, 1, 2, 33, 256, 512, 1023, 1024, 1025},
           [](MapArguments& m, uint64_t v) { m.pixels = uint32_t(v); });
      for (int rank = 3; rank <= 5; ++rank)
        for (int i = 0; i < rank - 2; ++i) {
          const auto values = I{-32769, -32768, -129, -128, -17, -16, -9,  -8,    -1,
                                1,      7,      8,    15,   16,  127, 128, 32767, 32768};
          each(
              "lower[" + n(i) + "]", values, [i](MapArguments& m, int v) { m.lower[i] = v; }, rank);
          each(
              "upper[" + n(i) + "]", values, [i](MapArguments& m, int v) { m.upper[i] = v; }, rank);
        }
      for (uint32_t pixels : {192, 226, 227, 228, 229, 230, 231, 232, 255, 256})
        show(
            true, "box_bytes=1024*" + n(pixels),
            [&](MapArguments& m) {
              m.channels = 256;
              m.pixels = pixels;
            },
            3);
      show(true, "box_is_empty", [](MapArguments& m) {
        m.lower[0] = 5;
        m.upper[0] = -30;
      });
      show(true, "box_is_inverted", [](MapArguments& m) {
        m.dims[1] = 4;
        m.lower[0] = 3;
        m.upper[0] = -3;
      });
    }
  }
  return all;
}

}  // namespace ridge::hopper
