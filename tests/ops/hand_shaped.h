// The C++ functions that were shaped by hand, as calls of the operators that they stand for:
// tensors and parameters are those of the description, by name. An operator with a header of its
// own has a row here; derived_test.cpp asks for it.
#pragma once

#include <map>
#include <string>

#include "operator/call.h"
#include "ridge/ridge.h"

namespace ridge {

using HandShaped = Status (*)(const Call& c, const Workspace& w);

// Functions of (x, y) and of (x, dy, dx), with up to two parameters.
using Forward = Status (*)(const Tensor&, const Tensor&, cudaStream_t);
using Backward = Status (*)(const Tensor&, const Tensor&, const Tensor&, cudaStream_t);
template <Forward f>
Status forward(const Call& c, const Workspace&) {
  return f(c["x"], c["y"], nullptr);
}
template <Backward f>
Status backward(const Call& c, const Workspace&) {
  return f(c["x"], c["dy"], c["dx"], nullptr);
}
template <class F>
auto with_ends(const Call& c, F f) {
  return f(float(c.number("low")), float(c.number("high")));
}

inline AdamwTensors adamw_tensors(const Call& c) {
  return {c["weight"], c["grad"], c["m"], c["v"], c["master"]};
}
inline AdamwOptions adamw_options(const Call& c) {
  return {c.number("lr"),  c.number("beta1"),        c.number("beta2"),
          c.number("eps"), c.number("weight_decay"), c.integer("step")};
}
inline RopeOptions rope_options(const Call& c) {
  RopeOptions options;
  options.interleaved = c.flag("interleaved");
  options.first_position = c.integer("first_position");
  options.cos = c["cos"];
  options.sin = c["sin"];
  options.base = c.number("base");
  return options;
}

inline const std::map<std::string, HandShaped>& hand_shaped() {
  using C = const Call&;
  using W = const Workspace&;
  static const std::map<std::string, HandShaped> all = {
      // ridge/linear.h
      {"gemv",
       [](C c, W w) {
         return gemv(float(c.number("alpha")), c["a"], c["x"], float(c.number("beta")), c["y"], w);
       }},
      {"gemv_t",
       [](C c, W w) {
         return gemv_t(float(c.number("alpha")), c["a"], c["x"], float(c.number("beta")), c["y"],
                       w);
       }},

      // ridge/elementwise.h
      {"add", [](C c, W) { return add(c["a"], c["b"], c["out"]); }},
      {"relu", forward<relu>},
      {"relu_backward", backward<relu_backward>},
      {"sigmoid", forward<sigmoid>},
      {"sigmoid_backward", backward<sigmoid_backward>},
      {"tanh", forward<ridge::tanh>},
      {"tanh_backward", backward<tanh_backward>},
      {"gelu", forward<gelu>},
      {"gelu_backward", backward<gelu_backward>},
      {"gelu_tanh", forward<gelu_tanh>},
      {"gelu_tanh_backward", backward<gelu_tanh_backward>},
      {"silu", forward<silu>},
      {"silu_backward", backward<silu_backward>},
      {"leaky_relu", [](C c, W) { return leaky_relu(c["x"], c["y"], float(c.number("slope"))); }},
      {"leaky_relu_backward",
       [](C c, W) {
         return leaky_relu_backward(c["x"], c["dy"], c["dx"], float(c.number("slope")));
       }},
      {"hardtanh",
       [](C c, W) {
         return with_ends(
             c, [&](float low, float high) { return hardtanh(c["x"], c["y"], low, high); });
       }},
      {"hardtanh_backward",
       [](C c, W) {
         return with_ends(c, [&](float low, float high) {
           return hardtanh_backward(c["x"], c["dy"], c["dx"], low, high);
         });
       }},
      {"clip",
       [](C c, W) {
         return with_ends(c,
                          [&](float low, float high) { return clip(c["x"], c["y"], low, high); });
       }},
      {"clip_backward",
       [](C c, W) {
         return with_ends(c, [&](float low, float high) {
           return clip_backward(c["x"], c["dy"], c["dx"], low, high);
         });
       }},
      {"elu", [](C c, W) { return elu(c["x"], c["y"], float(c.number("alpha"))); }},
      {"elu_backward",
       [](C c, W) { return elu_backward(c["x"], c["dy"], c["dx"], float(c.number("alpha"))); }},
      {"softplus",
       [](C c, W) {
         return softplus(c["x"], c["y"], float(c.number("sharpness")),
                         float(c.number("threshold")));
       }},
      {"softplus_backward",
       [](C c, W) {
         return softplus_backward(c["x"], c["dy"], c["dx"], float(c.number("sharpness")),
                                  float(c.number("threshold")));
       }},
      {"swiglu", [](C c, W) { return swiglu(c["gate"], c["up"], c["y"]); }},
      {"swiglu_backward",
       [](C c, W) { return swiglu_backward(c["gate"], c["up"], c["dy"], c["dgate"], c["dup"]); }},
      {"swiglu_packed", forward<swiglu_packed>},
      {"swiglu_packed_backward", backward<swiglu_packed_backward>},
      {"geglu", [](C c, W) { return geglu(c["gate"], c["up"], c["y"]); }},
      {"geglu_backward",
       [](C c, W) { return geglu_backward(c["gate"], c["up"], c["dy"], c["dgate"], c["dup"]); }},
      {"geglu_packed", forward<geglu_packed>},
      {"geglu_packed_backward", backward<geglu_packed_backward>},
      {"dropout",
       [](C c, W) {
         return dropout(c["x"], c["y"], c.number("probability"), uint64_t(c.integer("seed")),
                        uint64_t(c.integer("offset")));
       }},
      {"dropout_backward",
       [](C c, W) {
         return dropout_backward(c["dy"], c["dx"], c.number("probability"),
                                 uint64_t(c.integer("seed")), uint64_t(c.integer("offset")));
       }},
      {"adamw", [](C c, W) { return adamw(adamw_tensors(c), adamw_options(c)); }},
      {"rope",
       [](C c, W) {
         return c.find("k") ? rope(c["q"], c["k"], c["q_out"], c["k_out"], rope_options(c))
                            : rope(c["q"], c["q_out"], rope_options(c));
       }},
      {"rope_backward",
       [](C c, W) {
         return c.find("dk_out")
                    ? rope_backward(c["dq_out"], c["dk_out"], c["dq"], c["dk"], rope_options(c))
                    : rope_backward(c["dq_out"], c["dq"], rope_options(c));
       }},

      // ridge/movement.h
      {"copy", [](C c, W) { return copy(c["in"], c["out"]); }},
      {"transpose", [](C c, W) { return transpose(c["in"], c["out"]); }},
      {"reverse", [](C c, W) { return reverse(c["in"], c["out"]); }},
      {"interleave", [](C c, W) { return interleave(c["a"], c["b"], c["out"]); }},
      {"swap", [](C c, W) { return swap(c["x"], c["y"]); }},
      {"embedding", [](C c, W) { return embedding(c["tokens"], c["table"], c["out"]); }},
      {"embedding_backward",
       [](C c, W w) { return embedding_backward(c["tokens"], c["dy"], c["dtable"], w); }},

      // ridge/reduce.h
      {"sum", [](C c, W w) { return sum(c["x"], c["out"], w); }},
      {"max", [](C c, W w) { return max(c["x"], c["out"], w); }},
      {"min", [](C c, W w) { return min(c["x"], c["out"], w); }},
      {"mean", [](C c, W w) { return mean(c["x"], c["out"], w); }},
      {"product", [](C c, W w) { return product(c["x"], c["out"], w); }},
      {"argmax", [](C c, W w) { return argmax(c["x"], c["out"], w); }},
      {"norm_l1", [](C c, W w) { return norm_l1(c["x"], c["out"], w); }},
      {"norm_l2", [](C c, W w) { return norm_l2(c["x"], c["out"], w); }},
      {"dot", [](C c, W w) { return dot(c["x"], c["y"], c["out"], w); }},
      {"count_equal", [](C c, W w) { return count_equal(c["x"], c.number("value"), c["out"], w); }},
      {"l1_normalize",
       [](C c, W w) { return l1_normalize(c["x"], float(c.number("epsilon")), c["out"], w); }},
      {"l2_normalize",
       [](C c, W w) { return l2_normalize(c["x"], float(c.number("epsilon")), c["out"], w); }},
      {"clip_by_global_norm",
       [](C c, W w) {
         return clip_by_global_norm(c["x"], float(c.number("max_norm")), c["out"], c["norm"], w);
       }},

      // ridge/scan.h
      {"inclusive_scan", [](C c, W w) { return inclusive_scan(c["in"], c["out"], w); }},
      {"exclusive_scan", [](C c, W w) { return exclusive_scan(c["in"], c["out"], w); }},
      {"inclusive_max_scan", [](C c, W w) { return inclusive_max_scan(c["in"], c["out"], w); }},
      {"exclusive_max_scan", [](C c, W w) { return exclusive_max_scan(c["in"], c["out"], w); }},
      {"inclusive_segmented_scan",
       [](C c, W w) { return inclusive_segmented_scan(c["in"], c["heads"], c["out"], w); }},
      {"exclusive_segmented_scan",
       [](C c, W w) { return exclusive_segmented_scan(c["in"], c["heads"], c["out"], w); }},
      {"inclusive_scan_by_key",
       [](C c, W w) { return inclusive_scan_by_key(c["in"], c["keys"], c["out"], w); }},
      {"exclusive_scan_by_key",
       [](C c, W w) { return exclusive_scan_by_key(c["in"], c["keys"], c["out"], w); }},

      // ridge/softmax.h
      {"softmax", [](C c, W) { return softmax(c["x"], c["out"]); }},
      {"log_softmax", [](C c, W) { return log_softmax(c["x"], c["out"]); }},
      {"softmax_backward", [](C c, W) { return softmax_backward(c["y"], c["dy"], c["dx"]); }},
      {"log_softmax_backward",
       [](C c, W) { return log_softmax_backward(c["y"], c["dy"], c["dx"]); }},
  };
  return all;
}

}  // namespace ridge
