// From a number to a function, inside a kernel. All threads of a launch take the same branch, so it
// costs one jump, and the kernels need not be compiled once per function.
#pragma once

#include "device/activations.cuh"
#include "kernels/activation/activation.h"

namespace ridge::activation {

// body(f), f being one of the classes of device/activations.cuh.
template <class T, class Body>
__device__ __forceinline__ void with_function(Function function, activations::Parameters p,
                                              Body body) {
  using namespace activations;
  switch (function) {
    case Function::relu: return body(Relu<T>());
    case Function::leaky_relu: return body(LeakyRelu<T>(p));
    case Function::hardtanh: return body(Hardtanh<T>(p));
    case Function::clip: return body(Clip<T>(p));
    case Function::sigmoid: return body(Sigmoid<T>());
    case Function::tanh: return body(Tanh<T>());
    case Function::gelu: return body(Gelu<T>());
    case Function::gelu_tanh: return body(GeluTanh<T>());
    case Function::silu: return body(Silu<T>());
    case Function::elu: return body(Elu<T>(p));
    case Function::softplus: return body(Softplus<T>(p));
  }
}

}  // namespace ridge::activation
