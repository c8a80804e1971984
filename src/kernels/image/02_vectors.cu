// image rung 02, vectors: each access moves 16 bytes, for the operators that look at one pixel.
//
// Since 01_naive: a thread reads 48 bytes of input instead of 3. Sixteen grey pixels come from
//   three packs by dot products of four bytes with the weights. A pixel is taken as four bytes, of
//   which the last has weight 0, so it need not be cut out.
// Stops at: HBM.
// Not for: operators that look at neighbours: a pack has only its own pixels.
#include "device/byte_map.cuh"
#include "kernels/image/image.h"
#include "select/select.h"

namespace ridge::image::vectors {

constexpr int kThreads = 256;
constexpr Tuned kTuned = {2.0, 0.88};

struct Invert {
  __device__ uint32_t operator()(uint32_t bits) const { return ~bits; }
};

constexpr uint32_t kGrayWeights = 77 | 150 << 8 | 29 << 16;
constexpr int kGrayPixels = kPackBytes;  // a slot: 16 pixels out, three packs in

// Four pixels in three words.
__device__ __forceinline__ uint32_t gray(uint32_t w0, uint32_t w1, uint32_t w2) {
  const uint32_t p0 = __dp4a(w0, kGrayWeights, 128u);
  const uint32_t p1 = __dp4a(__funnelshift_r(w0, w1, 24), kGrayWeights, 128u);
  const uint32_t p2 = __dp4a(__funnelshift_r(w1, w2, 16), kGrayWeights, 128u);
  const uint32_t p3 = __dp4a(w2, kGrayWeights << 8, 128u);
  // The second byte of each.
  return __byte_perm(__byte_perm(p0, p1, 0x0051), __byte_perm(p2, p3, 0x0051), 0x5410);
}

// A row is cut into slots as byte_map.cuh does it.
__global__ void __launch_bounds__(kThreads) gray_vectors(Args a, Divider slots) {
  const int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t y = slots.quotient(index), slot = index - y * slots.divisor();
  if (y >= a.height) return;
  const uint8_t* const begin = static_cast<const uint8_t*>(a.in);
  const uint8_t* const end = begin + (a.height - 1) * a.in_stride + 3 * a.width;
  const uint8_t* in = begin + y * a.in_stride;                     // (width, 3)
  uint8_t* out = static_cast<uint8_t*>(a.out) + y * a.out_stride;  // (width)
  const int64_t head = min(int64_t(elements_to_alignment(out)), a.width);
  const int64_t x = slot == 0 ? 0 : head + (slot - 1) * kGrayPixels;
  const int64_t left = slot == 0 ? head : a.width - x;
  if (slot != 0 && left >= kGrayPixels) {
    PackRequest<uint8_t> request[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) request[k].ask(in + 3 * x + k * kPackBytes, begin, end);
    const uint4 p[3] = {request[0].take(), request[1].take(), request[2].take()};
    *reinterpret_cast<uint4*>(out + x) =
        make_uint4(gray(p[0].x, p[0].y, p[0].z), gray(p[0].w, p[1].x, p[1].y),
                   gray(p[1].z, p[1].w, p[2].x), gray(p[2].y, p[2].z, p[2].w));
  } else {
    for (int64_t i = x; i < x + left; ++i)
      out[i] = uint8_t((77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2] + 128) >> 8);
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::u8) return "images are of bytes";
  return is_blur(a.op) ? "a blur looks at more than one pixel" : kSupported;
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  if (args.height * args.width == 0) return Status::ok();
  if (args.op == Op::rgb_invert) {
    const ByteMap m = {args.in,         args.out,    args.in_stride,
                       args.out_stride, args.height, 3 * args.width};
    return launch_byte_map<uint8_t>(m, Invert(), stream);
  }
  Args a = args;
  if (a.in_stride == 3 * a.width && a.out_stride == a.width) {  // rows one after another
    a.width *= a.height;
    a.height = 1;
  }
  const int64_t slots_per_row = a.width / kGrayPixels + 2;
  const int64_t blocks = (a.height * slots_per_row + kThreads - 1) / kThreads;
  gray_vectors<<<unsigned(blocks), kThreads, 0, stream>>>(
      a, Divider(slots_per_row, blocks * kThreads));
  return launch_status();
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per access, pixels by dot products of bytes",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::image::vectors
