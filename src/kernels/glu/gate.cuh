// What one element does, in f32.
#pragma once

#include "device/activations.cuh"
#include "kernels/glu/glu.h"

namespace ridge::glu {

template <class Activation>
__device__ __forceinline__ float forward(float gate, float up) {
  return Activation::value(gate) * up;
}

struct Gradients {
  float gate, up;
};
template <class Activation>
__device__ __forceinline__ Gradients backward(float gate, float up, float dy) {
  const activations::ValueAndSlope f = Activation::both(gate);
  return {dy * up * f.slope, dy * f.value};
}

// body(Activation()), the same for all threads of a launch.
template <class T, class Body>
__device__ __forceinline__ void with_gate(Gate f, Body body) {
  if (f == Gate::silu) body(activations::Silu<T>());
  else body(activations::Gelu<T>());
}

}  // namespace ridge::glu
