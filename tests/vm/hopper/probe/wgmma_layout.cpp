#include "wgmma_layout.h"

namespace ridge::hopper {

std::string LayoutKernel::name() const {
  return std::string(1, operand) + " " + wgmma.instruction() +
         (wgmma.trans_a || wgmma.trans_b ? " transposed" : "");
}

std::vector<LayoutKernel> layout_kernels() {
  std::vector<LayoutKernel> all;
  for (bool sparse : {false, true})
    for (char operand : {'B', 'A'})
      for (Kind kind : {Kind::f16, Kind::u8, Kind::tf32})
        for (bool transposed : {false, true}) {
          if (transposed && kind != Kind::f16) continue;
          if (sparse && operand == 'A') continue;
          WgmmaCase c;
          c.a = c.b = kind;
          c.d = kind == Kind::u8 ? Kind::s32 : Kind::f32;
          c.sparse = sparse;
          c.scale_d = false;
          c.a_in_registers = operand == 'B';
          c.n = operand == 'B' ? (sparse ? 64 : 128) : c.k();
          (operand == 'A' ? c.trans_a : c.trans_b) = transposed;
          c.image_bytes = kWindow + (operand == 'A' ? 1024 : 0);
          all.push_back({operand, c});
        }
  return all;
}

std::vector<Descriptor> layout_descriptors() {
  std::vector<Descriptor> all;
  Stream stream(15);
  for (uint32_t swizzle = 0; swizzle < 4; ++swizzle) {
    for (int i = 0; i < 6; ++i) {
      const auto leading = 16 + uint32_t(stream.next() % 128) * 16;
      const auto stride = 16 + uint32_t(stream.next() % 128) * 16;
      all.push_back({swizzle, leading, stride, 0, 0, 0});
    }
    all.push_back({swizzle, 0, 1024, 0, 0, 0});
    all.push_back({swizzle, 16, 1024, 0, 0, 0});
    for (uint32_t start : {16, 32, 48, 64, 96, 112, 128, 144, 256, 384, 512, 640, 896, 1008, 1040})
      all.push_back({swizzle, 2048, 1024, start, 0, 0});
    for (uint32_t base = 1; base < 8; ++base) {
      all.push_back({swizzle, 2048, 1024, 0, base, 0});
      all.push_back({swizzle, 2048, 1024, 128 * base, base, 0});
    }
    for (int bit : {14, 15, 30, 31, 46, 47, 48, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61})
      all.push_back({swizzle, 2048, 1024, 0, 0, 1ull << bit});
  }
  return all;
}

uint64_t identity_descriptor(const LayoutKernel& kernel) {
  return descriptor(kWindow, 128, 128 * kernel.wgmma.k_bytes_b() / 16);
}

namespace {
uint32_t number_of(Kind kind, uint32_t x) { return kind == Kind::u8 ? x : encode(kind, x); }

void put(std::vector<uint32_t>& words, size_t byte, Kind kind, uint32_t value) {
  std::memcpy(reinterpret_cast<uint8_t*>(words.data()) + byte, &value, bits_of(kind) / 8);
}
}  // namespace

std::vector<uint32_t> layout_input(const LayoutKernel& kernel) {
  const WgmmaCase& c = kernel.wgmma;
  const int size = kernel.size(), per_word = 4 / size, k = c.k();
  const Kind kind = c.b;
  std::vector<uint32_t> all;
  for (int digit = 0; digit < kernel.digits(); ++digit) {
    std::vector<uint32_t> words(c.input_words());
    for (size_t i = 0; i < kWindow / size; ++i)
      put(words, i * size, kind,
          number_of(kind, digit ? uint32_t(i) / kernel.base() : uint32_t(i) % kernel.base()));
    if (kernel.operand == 'A') {
      for (int i = 0; i < k; ++i)
        put(words, kWindow + size_t(i / 8 * 256 + i * size / 16 * 128 + i % 8 * 16 + i * size % 16),
            kind, number_of(kind, 1));
    } else {
      uint32_t* a = words.data() + c.shared_bytes() / 4;
      uint32_t* metadata = a + 4 * 128;
      const int stored_k = c.sparse ? k / 2 : k;
      for (int m = 0; m < 64; ++m) {
        const int wanted = m % k;
        int at = wanted;
        if (c.sparse) at = size == 4 ? wanted / 2 : wanted / 4 * 2 + wanted % 2;
        // The register, lane and part of (m, at).
        const int chunk = 4 * per_word;  // elements of one register's four lanes
        const int reg = at / chunk * 2 + m % 16 / 8;
        const int thread = m / 16 * 32 + m % 8 * 4 + at % chunk / per_word;
        a[128 * reg + thread] |= number_of(kind, 1) << (8 * size * (at % per_word));
        if (!c.sparse) continue;
        const int groups = size == 4 ? stored_k : stored_k / 2;
        for (int g = 0; g < groups; ++g) {
          const bool upper_pair =
              size == 4 ? 2 * g + 1 == wanted : 4 * g + 2 <= wanted && wanted < 4 * g + 4;
          const uint32_t nibble = upper_pair ? 14 : 4;
          const int first = m / 16 * 32 + m % 8 * 4, upper = m % 16 / 8;
          if (size >= 2) metadata[first + g / 4] |= nibble << (4 * (g % 4) + 16 * upper);
          else metadata[first + 2 * (g / 8) + upper] |= nibble << (4 * (g % 8));
        }
      }
    }
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

uint32_t operand_offset(const Descriptor& d, uint32_t start, int size, bool transposed, int row,
                        int k) {
  static constexpr uint32_t kSpan[] = {16, 128, 64, 32};
  static constexpr uint32_t kRows[] = {0, 7, 3, 1};  // of a swizzle's pattern, less one
  const uint32_t span = kSpan[d.swizzle];
  // Eight rows of one span each are a piece; pieces follow each other in two directions. `along` is
  // the byte along the direction that is contiguous in memory, `across` the row in the other one.
  const auto along = uint32_t((transposed ? row : k) * size);
  const auto across = uint32_t(transposed ? k : row);
  const bool exchanged =
      transposed && d.swizzle == 0;  // the one case where the offsets change roles
  const uint32_t along_step = exchanged ? d.stride : d.leading;
  const uint32_t across_step = exchanged ? d.leading : d.stride;
  const uint32_t address = start + along / span * along_step + along % span +
                           across / 8 * across_step + across % 8 * span;
  const uint32_t row_of_pattern = (address >> 7) - d.base_offset;
  return address ^ (row_of_pattern & kRows[d.swizzle]) << 4;
}

std::vector<uint16_t> layout_map(const LayoutKernel& kernel, const uint32_t* output) {
  const WgmmaCase& c = kernel.wgmma;
  std::vector<uint16_t> map(size_t(kernel.rows()) * kernel.k());
  const auto at = [&](int digit, int row, int column) {
    const int reg = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
    const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    const uint32_t bits = output[(size_t(digit) * c.registers() + reg) * 128 + thread];
    if (c.d == Kind::s32) return bits;
    float x;
    std::memcpy(&x, &bits, 4);
    return uint32_t(x);
  };
  for (int row = 0; row < kernel.rows(); ++row)
    for (int k = 0; k < kernel.k(); ++k) {
      const int m = kernel.operand == 'A' ? row : k, n = kernel.operand == 'A' ? k : row;
      map[size_t(row) * kernel.k() + k] = uint16_t(at(0, m, n) + at(1, m, n) * kernel.base());
    }
  return map;
}

}  // namespace ridge::hopper
