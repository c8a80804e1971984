// Lists of cases, and noise to fill their inputs with.
#pragma once

#include "ladder/case.h"

namespace ridge {

using Shapes = std::vector<std::vector<int64_t>>;

Shapes vector_shapes();  // 0, 1, around a pack, around a block, a prime, some thousands
Shapes matrix_shapes();  // the same in two dimensions

// Every combination; each with its own seed. Specials and misalignment are added to all shapes that
// have an element.
struct Crossing {
  std::vector<int> ops = {0};
  std::vector<Dtype> dtypes = {Dtype::f32};
  Shapes shapes;
  std::vector<int> misalignments = {0, 1};
  std::vector<int64_t> padding = {0};
  int skew = 0;              // of every case
  int64_t padding_skew = 0;  // of every case
  bool specials = true;
  std::vector<std::pair<std::string, double>> parameters = {};  // of every case
  std::vector<std::string> distributions = {""};
  std::vector<std::pair<std::string, std::string>> same = {};  // of every case
};
std::vector<Case> crossed(const Crossing&);
void append(std::vector<Case>& cases, std::vector<Case> more);

// For operators that only move elements: whole numbers from the whole range of formats that hold
// nothing else.
void fill_for_moves(TensorSpec& tensor);

// Noise for inputs with their own structure: the same place always gets the same bits.
uint64_t hash(uint64_t seed, uint64_t index);
double unit(uint64_t bits);  // from 0 to 1

}  // namespace ridge
