#include "tma_case.h"

#include <algorithm>

namespace ridge::hopper {

int bytes_of_type(int type) {
  static constexpr int kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};
  return kBytes[type];
}

std::string TmaCase::name() const {
  static constexpr const char* kOps[] = {"load", "store", "reduce", "prefetch"};
  std::string s = group + " " + kOps[int(op)];
  if (op == TmaOp::reduce) s += std::string(".") + kReduceNames[reduce];
  s += im2col ? " im2col" : " tile";
  const auto list = [&](const char* name, const auto& values, int n) {
    s += std::string(" ") + name + "=";
    for (int i = 0; i < n; ++i) s += (i ? "," : "") + std::to_string(values[size_t(i)]);
  };
  s += " type=" + std::to_string(type);
  list("dims", dims, rank);
  list("strides", strides, rank - 1);
  if (im2col) {
    list("lower", lower, rank - 2);
    list("upper", upper, rank - 2);
    s += " channels=" + std::to_string(channels) + " pixels=" + std::to_string(pixels);
    list("offsets", offsets, rank - 2);
  } else {
    list("box", box, rank);
  }
  list("steps", steps, rank);
  s += " interleave=" + std::to_string(interleave) + " swizzle=" + std::to_string(swizzle) +
       " fill=" + std::to_string(fill) + " address=" + std::to_string(address);
  list("at", at, rank);
  return s + " shared=" + std::to_string(shared);
}

namespace {

// Random bytes, but every eighth word is a subnormal f32, every ninth a NaN with a payload, and
// every tenth lies in the middle between two numbers of tf32.
std::vector<uint8_t> bytes_from(uint64_t seed, size_t n) {
  std::vector<uint8_t> bytes(n);
  Stream stream(seed);
  for (size_t i = 0; i < n; i += 4) {
    auto word = uint32_t(stream.next());
    if (i / 4 % 8 == 3) word &= 0x807fffff;
    if (i / 4 % 9 == 4) word |= 0x7f800000;
    if (i / 4 % 10 == 7) word = (word & 0xffffe000) | 0x1000;
    std::memcpy(bytes.data() + i, &word, 4);
  }
  return bytes;
}

// Values that sums do not overflow: for reductions.
void fill_typed(uint8_t* to, size_t bytes, int type, Stream& stream) {
  const int size = bytes_of_type(type);
  for (size_t i = 0; i < bytes; i += size_t(size)) {
    uint64_t word = stream.next();
    const uint64_t any = stream.next();
    const double x = std::ldexp(double(int64_t(word) >> 11) * 0x1p-52, int(any % 17) - 8);
    const bool special = any % 7 == 0, tiny = any % 31 == 1;
    switch (type) {
      case 6: word = special ? word | 0x7c00 : tiny ? word & 0x83ff : encode(Kind::f16, x); break;
      case 9: word = special ? word | 0x7f80 : tiny ? word & 0x807f : encode(Kind::bf16, x); break;
      case 7:
      case 10:
      case 11:
      case 12:
        word = special ? word | 0x7f800000 : tiny ? word & 0x807fffff : encode(Kind::f32, x);
        break;
      case 8: {
        if (special) word |= 0x7ff0000000000000;
        else if (tiny) word &= 0x800fffffffffffff;
        else std::memcpy(&word, &x, 8);
        break;
      }
      default:
        if (any & 1) word &= 0xff;  // so that inc and dec meet their limits
        break;
    }
    std::memcpy(to + i, &word, size_t(size));
  }
}

class Maker {
 public:
  explicit Maker(uint64_t seed) : stream_(seed) {}
  uint32_t below(uint32_t n) { return uint32_t(stream_.next() % n); }
  int between(int low, int high) { return low + int(below(uint32_t(high - low + 1))); }

  // A tiled map of some shape, and coordinates that may lie outside.
  TmaCase tiled(const char* group, int rank, int type, int swizzle) {
    TmaCase c;
    c.group = group;
    c.rank = rank;
    c.type = type;
    c.swizzle = swizzle;
    const int size = bytes_of_type(type);
    const int span = swizzle == 0 ? 256 : swizzle == 1 ? 32 : swizzle == 2 ? 64 : 128;
    const int inner = 16 * between(1, std::min(span, 256 * size) / 16);
    c.box[0] = uint32_t(inner / size);
    c.dims[0] = uint64_t(between(1, 3 * int(c.box[0])));
    c.at[0] = 16 / size * between(-2, int(c.dims[0]) * size / 16 + 1);
    if (below(2)) c.at[0] = 0;
    int bytes = inner;
    uint64_t stride = (c.dims[0] * uint64_t(size) + 15) / 16 * 16 + 16 * below(3);
    for (int i = 1; i < rank; ++i) {
      c.dims[size_t(i)] = uint64_t(between(1, rank <= 2 ? 40 : 7));
      const int room = std::max(1, 8192 / bytes);
      c.box[size_t(i)] = uint32_t(between(1, std::min(room, rank <= 2 ? 40 : 6)));
      bytes *= int(c.box[size_t(i)]);
      c.at[size_t(i)] = between(-3, int(c.dims[size_t(i)]) + 2);
      if (below(2)) c.at[size_t(i)] = 0;
      c.strides[size_t(i - 1)] = stride;
      stride = stride * c.dims[size_t(i)] + 16 * below(2);
    }
    c.address = 16 * below(64);
    return c;
  }

  TmaCase im2col(const char* group, int rank, int type, int swizzle) {
    TmaCase c = tiled(group, rank, type, swizzle);
    c.im2col = true;
    c.channels = std::min<uint32_t>(c.box[0], 256);
    const int size = bytes_of_type(type);
    c.pixels = uint32_t(between(1, std::min(64, 8192 / int(c.channels) / size)));
    uint64_t stride = (c.dims[0] * uint64_t(size) + 15) / 16 * 16;
    for (int i = 1; i < rank; ++i) {
      c.dims[size_t(i)] = uint64_t(between(2, rank == 3 ? 20 : rank == 4 ? 9 : 5));
      c.strides[size_t(i - 1)] = stride;
      stride *= c.dims[size_t(i)];
    }
    const int filter = rank == 3 ? 9 : rank == 4 ? 5 : 3;
    for (int i = 0; i < rank - 2; ++i) {
      const auto k = size_t(i);
      c.lower[k] = between(-2, 1);
      c.upper[k] = between(-2, 1);
      if (int(c.dims[k + 1]) + c.upper[k] <= c.lower[k]) c.lower[k] = c.upper[k] = 0;
      c.offsets[k] = uint16_t(below(uint32_t(filter)));
      c.at[k + 1] = between(c.lower[k], int(c.dims[k + 1]) - 1 + c.upper[k]);
    }
    c.at[size_t(rank - 1)] = between(0, int(c.dims[size_t(rank - 1)]) - 1);
    return c;
  }

 private:
  Stream stream_;
};

// Coordinates far outside, one at a time.
void add_far_cases(std::vector<TmaCase>& all, Maker& make) {
  for (int i = 0; i < 8; ++i) {
    TmaCase c = make.im2col("corners", 4, 2, 0);
    c.dims = {8, 6, 5, 3, 0};
    c.strides = {32, 192, 960, 0};
    c.channels = 8;
    c.pixels = 7;
    c.lower = {-1, -1, 0};
    c.upper = {1, 1, 0};
    c.offsets = {1, 1, 0};
    c.at = {0, 2, 2, 1, 0};
    if (i == 0) c.at[1] = -2;
    if (i == 1) c.at[1] = 7;
    if (i == 2) c.at[2] = -2;
    if (i == 3) c.at[2] = 6;
    if (i == 4) c.at[3] = -1;
    if (i == 5) c.at[3] = 3;
    if (i == 6) c.at[0] = -8;
    if (i == 7) c.at[0] = 16;
    all.push_back(c);
  }
  for (auto [x, y] :
       {std::pair{0, 0x7fffffff}, {0, -0x7fffffff - 1}, {0x7ffffff0, 0}, {-0x7fffffff - 1, 0}}) {
    TmaCase c = make.tiled("far", 2, 2, 0);
    c.dims = {40, 12, 0, 0, 0};
    c.strides = {160, 0, 0, 0};
    c.box = {16, 8, 0, 0, 0};
    c.at = {x, y, 0, 0, 0};
    all.push_back(c);
  }
}

}  // namespace

std::vector<TmaCase> tma_cases() {
  std::vector<TmaCase> all;
  Maker make(3);
  const int kSizes[] = {0, 1, 2, 4};  // types of 1, 2, 4 and 8 bytes
  // Each type, inside and outside, filled with zeros and with NaN.
  for (int type = 0; type < 16; ++type)
    for (int fill = 0; fill < 2; ++fill) {
      TmaCase c = make.tiled("type", 2, std::min(type, 12), 0);
      c.type = type;
      c.fill = fill;
      c.dims = {type >= 13 ? 256u : 40u, 12, 0, 0, 0};
      c.strides = {type >= 13 ? 128u : 320u, 0, 0, 0};
      c.box = {type >= 13 ? 128u : 32u, 8, 0, 0, 0};
      c.at = {type >= 13 ? 128 : 16, 6, 0, 0, 0};
      all.push_back(c);
    }
  // Ranks and swizzles.
  for (int rank = 1; rank <= 5; ++rank)
    for (int swizzle = 0; swizzle < 4; ++swizzle)
      for (int i = 0; i < 14; ++i)
        all.push_back(make.tiled("tiled", rank, kSizes[make.below(4)], swizzle));
  for (int swizzle = 4; swizzle < 7; ++swizzle) {
    TmaCase c = make.tiled("atoms", 2, 1, 3);
    c.swizzle = swizzle;
    all.push_back(c);
  }
  // Where the destination is no multiple of the swizzle's repeat.
  for (int swizzle = 0; swizzle < 4; ++swizzle)
    for (uint32_t shared : {128u, 256u, 384u, 512u, 640u, 896u}) {
      TmaCase c = make.tiled("place", 2, 1, swizzle);
      c.shared = shared;
      all.push_back(c);
    }
  for (uint32_t shared : {16u, 32u, 48u, 64u}) {  // without swizzling
    TmaCase c = make.tiled("place", 2, 1, 0);
    c.shared = shared;
    all.push_back(c);
  }
  // Steps of more than one element.
  for (int rank = 1; rank <= 5; ++rank)
    for (int i = 0; i < 12; ++i) {
      TmaCase c = make.tiled("steps", rank, kSizes[make.below(4)], int(make.below(4)));
      for (int k = 0; k < rank; ++k) c.steps[size_t(k)] = 1 + make.below(8);
      for (int k = 1; k < rank; ++k)
        c.box[size_t(k)] =
            std::min(256u, c.box[size_t(k)] * c.steps[size_t(k)] - make.below(c.steps[size_t(k)]));
      all.push_back(c);
    }
  // Interleaved layouts.
  for (int interleave = 1; interleave <= 2; ++interleave)
    for (int rank = 3; rank <= 5; ++rank)
      for (int i = 0; i < 10; ++i) {
        const int type = kSizes[make.below(3)];
        TmaCase c = make.tiled("interleaved", rank, type, interleave == 2 ? 1 : int(make.below(4)));
        c.interleave = interleave;
        const uint64_t slice = interleave == 1 ? 16 : 32;
        c.dims[0] =
            uint64_t(make.between(1, 5)) * slice / uint64_t(bytes_of_type(type)) - make.below(2);
        c.box[0] = uint32_t(slice / uint64_t(bytes_of_type(type)));
        if (i % 3 == 2) c.box[0] *= 2;
        c.at[0] = make.between(-1, 5);
        uint64_t stride = slice;
        for (int k = 1; k < rank; ++k) {
          c.box[size_t(k)] = uint32_t(make.between(1, rank == 3 ? 10 : 4));
          c.strides[size_t(k - 1)] =
              stride * (k == 1 ? c.dims[1] + make.below(2) : c.dims[size_t(k)]);
          stride = c.strides[size_t(k - 1)];
        }
        if (i % 4 == 3)
          for (int k = 0; k < rank; ++k) c.steps[size_t(k)] = 1 + make.below(3);
        c.address &= ~31ull;
        all.push_back(c);
      }
  // im2col.
  for (int rank = 3; rank <= 5; ++rank)
    for (int swizzle = 0; swizzle < 4; ++swizzle)
      for (int i = 0; i < 10; ++i) {
        TmaCase c = make.im2col("im2col", rank, kSizes[make.below(3)], swizzle);
        if (i == 9)
          for (int k = 0; k < rank; ++k) c.steps[size_t(k)] = 1 + make.below(3);
        all.push_back(c);
      }
  // Stores: a tensor that fits into the window.
  const auto fits = [](const TmaCase& c) {
    uint64_t end = c.address + c.dims[0] * uint64_t(bytes_of_type(c.type));
    for (int k = 1; k < c.rank; ++k) end += c.strides[size_t(k - 1)] * (c.dims[size_t(k)] - 1);
    return end <= kStoreWindow;
  };
  for (int rank = 1; rank <= 5; ++rank)
    for (int i = 0; i < 14;) {
      TmaCase c = make.tiled("store", rank, kSizes[make.below(4)], i % 4);
      c.op = TmaOp::store;
      if (i >= 11)
        for (int k = 0; k < rank; ++k) c.steps[size_t(k)] = 1 + make.below(3);
      if (!fits(c)) continue;
      all.push_back(c);
      ++i;
    }
  for (int rank = 3; rank <= 5; ++rank)
    for (int i = 0; i < 6;) {
      TmaCase c = make.im2col("store", rank, kSizes[make.below(3)], i % 4);
      c.op = TmaOp::store;
      if (!fits(c)) continue;
      all.push_back(c);
      ++i;
    }
  // Reductions: every operation on every type; many are not allowed.
  const auto reduce = [&](int type, int op) {
    TmaCase c = make.tiled("reduce", 2, type, 0);
    c.op = TmaOp::reduce;
    c.reduce = op;
    const int size = bytes_of_type(type);
    c.dims = {uint64_t(96 / size), 10, 0, 0, 0};
    c.strides = {128, 0, 0, 0};
    c.box = {uint32_t(64 / size), 8, 0, 0, 0};
    c.at = {16 / size, 5, 0, 0, 0};
    return c;
  };
  for (int type = 0; type < 13; ++type)
    for (int op = 0; op < 8; ++op) all.push_back(reduce(type, op));
  // Stores of types that loads convert.
  for (int type : {6, 7, 8, 9, 10, 11, 12}) {
    TmaCase c = reduce(type, 0);
    c.group = "store";
    c.op = TmaOp::store;
    all.push_back(c);
  }
  // An innermost coordinate that is no multiple of 16 bytes.
  for (TmaOp op : {TmaOp::load, TmaOp::store})
    for (auto [type, at] :
         {std::pair{0, 1}, {0, 8}, {1, 1}, {1, 4}, {2, 1}, {2, 2}, {4, 1}, {1, -3}}) {
      TmaCase c = reduce(type, 0);
      c.group = "unaligned";
      c.op = op;
      c.at = {at, 0, 0, 0, 0};
      all.push_back(c);
    }
  // Stores and reductions that begin before the tensor.
  for (TmaOp op : {TmaOp::store, TmaOp::reduce})
    for (auto [x, y] : {std::pair{-4, 0}, {0, -1}, {-16, 0}, {0, -20}, {1000, -1}}) {
      TmaCase c = reduce(2, 0);
      c.group = "before";
      c.op = op;
      c.at = {x, y, 0, 0, 0};
      all.push_back(c);
    }
  // Stores in im2col mode whose box reaches outside, but whose pixels do not, and that do.
  for (int i = 0; i < 8; ++i) {
    TmaCase c = make.im2col("edges", 3, 2, 0);
    c.op = TmaOp::store;
    c.dims = {8, 10, 3, 0, 0};
    c.strides = {32, 320, 0, 0};
    c.channels = 8;
    c.pixels = i % 2 ? 16 : 3;
    c.lower = {i / 2 == 0 ? -1 : 0, 0, 0};
    c.upper = {i / 2 == 1 ? 1 : i / 2 == 2 ? -2 : 0, 0, 0};
    c.at = {0, 2, i / 2 == 3 ? 5 : 1, 0, 0};
    all.push_back(c);
  }
  // Where stores read from.
  for (uint32_t shared : {8u, 16u, 32u, 64u, 128u, 256u}) {
    TmaCase c = reduce(2, 0);
    c.group = "place";
    c.op = TmaOp::store;
    c.shared = shared;
    all.push_back(c);
  }
  // Interleaved layouts: stores, and im2col.
  for (int i = 0; i < 24; ++i) {
    const bool im2col = i >= 8;
    const int interleave = 1 + i % 2, rank = 3 + i / 2 % 3;
    TmaCase c = im2col ? make.im2col("slices", rank, 1, interleave == 2 ? 1 : 0)
                       : make.tiled("slices", rank, 1, interleave == 2 ? 1 : 0);
    c.op = im2col ? TmaOp::load : TmaOp::store;
    c.interleave = interleave;
    const uint64_t slice = 16 * uint64_t(interleave);
    c.dims = {5, 4, 3, 4, 3};
    c.dims[size_t(rank - 2)] = im2col ? 40 : 3;
    c.box = {8, 3, 2, 2, 2};
    uint64_t stride = slice * 5;
    for (int k = 1; k < rank; ++k) {
      c.strides[size_t(k - 1)] = stride;
      stride *= k == rank - 2 ? 3 : c.dims[size_t(k)];
    }
    for (int k = 0; k < rank; ++k)
      c.at[size_t(k)] = im2col ? make.between(0, 1) : make.between(0, 2);
    c.channels = uint32_t(slice / 2);
    c.pixels = 12;
    c.offsets = {uint16_t(make.below(2)), uint16_t(make.below(2)), 0};
    c.lower = {-1, 0, 0};
    c.upper = {0, -1, 0};
    c.address = 0;
    all.push_back(c);
  }
  // im2col filled with NaN, and where the second coordinate is outside the box.
  for (int i = 0; i < 6; ++i) {
    TmaCase c = make.im2col("outside", 4, i < 3 ? 6 : 2, 0);
    c.fill = i < 3;
    if (i >= 3) c.at[1] = int(c.dims[1]) + i;
    if (i == 5) c.at[3] = -1;
    all.push_back(c);
  }
  for (int rank : {1, 3, 5}) {
    TmaCase c;
    do c = make.tiled("prefetch", rank, 2, 0);
    while (!fits(c));
    c.op = TmaOp::prefetch;
    all.push_back(c);
  }
  add_far_cases(all, make);
  return all;
}

std::vector<uint8_t> tma_global() { return bytes_from(77, kBuffer); }
std::vector<uint8_t> tma_shared(const TmaCase& c) {
  if (c.op != TmaOp::reduce) return bytes_from(78, kShared);
  std::vector<uint8_t> bytes(kShared);
  Stream stream(79);
  fill_typed(bytes.data(), bytes.size(), c.type, stream);
  return bytes;
}
std::vector<uint8_t> tma_target(const TmaCase& c) {
  if (c.op != TmaOp::reduce) return std::vector<uint8_t>(kStoreWindow, kPoison);
  std::vector<uint8_t> bytes(kStoreWindow);
  Stream stream(80);
  fill_typed(bytes.data(), bytes.size(), c.type, stream);
  return bytes;
}

}  // namespace ridge::hopper
