// Quantise and dequantise: elements of one block share a scale. formats.h has the formats.
#pragma once

#include "kernels/quantisation/formats.h"
#include "ladder/rung.h"

namespace ridge::quantisation {

// The operators: quantise_* in the order of kFormats, then dequantise_*.
constexpr bool is_back(int op) { return op >= kFormatCount; }
constexpr const Format& format_of_op(int op) { return kFormats[op % kFormatCount]; }

struct Args {
  bool back = false;  // dequantise
  Rule rule = Rule::ratio;
  Dtype dtype = Dtype::f32;   // of x
  Dtype element = Dtype::i8;  // of q
  void* x = nullptr;          // (rows, cols): read; dequantise writes it
  void* q = nullptr;          // (rows, cols) without gaps: written; dequantise reads it
  void* scales = nullptr;     // (blocks.count)
  float* second = nullptr;    // the f32 of the tensor, or of each 256 scales
  float* mean = nullptr;      // of all scales, of Rule::mean
  bool is_whole = false;      // one scale for the whole tensor
  bool is_given = false;      // the scale of the tensor is an input
  int64_t rows = 0, cols = 0;
  int64_t x_stride = 0;  // elements from row to row
  Blocks blocks = {};
  float largest = 1;          // of the element's format
  int power = 0;              // floor(log2(largest))
  void* workspace = nullptr;  // aligned to 16 bytes
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

inline double bytes(const Args& a) {
  const double elements = double(a.rows) * double(a.cols);
  return elements * (double(size_of(a.dtype)) + bits_of(a.element) / 8.0) +
         double(a.blocks.count) * (a.rule == Rule::ratio ? 4 : 1);
}

}  // namespace ridge::quantisation
