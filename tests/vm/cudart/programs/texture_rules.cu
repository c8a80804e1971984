// Rules of lookups that only hardware states, each with what an H200 gave.
#include "check.h"

__global__ void look(cudaTextureObject_t t, float x, float y, float4* out) {
  *out = tex2D<float4>(t, x, y);
}
__global__ void look1(cudaTextureObject_t t, float x, float4* out) { *out = tex1D<float4>(t, x); }
__global__ void flat(cudaSurfaceObject_t s, int* out) {
  surf1Dwrite(7, s, 0, cudaBoundaryModeTrap);
  surf1Dread(out, s, 0, cudaBoundaryModeTrap);
}

float4* found;

template <class T>
cudaArray_t array_of(const T* texels, int width, int height, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  RIDGE_CUDA(cudaMallocArray(&array, &format, width, height, flags), cudaSuccess);
  const int rows = height ? height : 1;
  const size_t row = width * sizeof(T);
  RIDGE_CUDA(cudaMemcpy2DToArray(array, 0, 0, texels, row, row, rows, cudaMemcpyHostToDevice),
             cudaSuccess);
  return array;
}

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode mode,
                               cudaTextureReadMode read = cudaReadModeElementType) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc sampler = {};
  for (auto& m : sampler.addressMode) m = mode;
  sampler.filterMode = cudaFilterModeLinear;
  sampler.readMode = read;
  sampler.borderColor[0] = 0.25f;
  sampler.borderColor[3] = 3;
  cudaTextureObject_t texture = 0;
  RIDGE_CUDA(cudaCreateTextureObject(&texture, &resource, &sampler, nullptr), cudaSuccess);
  return texture;
}

float4 at(cudaTextureObject_t t, float x, float y) {
  look<<<1, 1>>>(t, x, y, found);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  return *found;
}

int main() {
  RIDGE_CUDA(cudaMallocManaged(&found, sizeof *found), cudaSuccess);

  // Weights of four texels have eight bits each and add up: 164 * 215 / 256 is 137.7.
  const float corner[] = {0, 0, 0, 256};
  const auto two = texture_of(array_of(corner, 2, 2), cudaAddressModeClamp);
  const float4 weight = at(two, 0.5f + 164 / 256.0f, 0.5f + 215 / 256.0f);
  RIDGE_CHECK(weight.x == 138);
  RIDGE_CHECK(at(two, 0.5f + 36 / 256.0f, 0.5f + 160 / 256.0f).x == 23);  // of 22.5
  RIDGE_CHECK(weight.y == 0 && weight.z == 0 && weight.w == 0);  // channels that it has not

  // Fractions are added up in sixteen bits.
  const unsigned char bytes[] = {0, 255};
  const auto fractions =
      texture_of(array_of(bytes, 2, 1), cudaAddressModeClamp, cudaReadModeNormalizedFloat);
  RIDGE_CHECK(at(fractions, 0.5f + 1 / 256.0f, 0.5f).x == 256 / 65535.0f);
  RIDGE_CHECK(at(fractions, 1, 0.5f).x == 32768 / 65535.0f);

  // A border is a texel of the format; 0.25 is 63.75 of 255, and there is no fourth channel.
  const auto border =
      texture_of(array_of(bytes, 2, 1), cudaAddressModeBorder, cudaReadModeNormalizedFloat);
  RIDGE_CHECK(at(border, -5, 0).x == 64 / 255.0f);
  RIDGE_CHECK(at(border, -5, 0).w == 0);

  // One dimension is two of which y is 0, half a texel above the first.
  const float line[] = {1, 3};
  const auto one = texture_of(array_of(line, 2, 0), cudaAddressModeBorder);
  look1<<<1, 1>>>(one, 1.0f, found);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  RIDGE_CHECK(found->x == (2 + 0.25f) / 2);

  // A surface of two dimensions is nothing to instructions of one, which do not trap either.
  const int numbers[] = {1, 2, 3, 4};
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array_of(numbers, 2, 2, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t surface;
  RIDGE_CUDA(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  int* read;
  RIDGE_CUDA(cudaMallocManaged(&read, 2 * sizeof *read), cudaSuccess);
  *read = 9;
  flat<<<1, 1>>>(surface, read);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  RIDGE_CHECK(*read == 0);
  RIDGE_CUDA(
      cudaMemcpy2DFromArray(read, 8, resource.res.array.array, 0, 0, 8, 1, cudaMemcpyDeviceToHost),
      cudaSuccess);
  RIDGE_CHECK(read[0] == 1);
  return failures != 0;
}
