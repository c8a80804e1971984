// Random PTX programs whose result PTX defines to the last bit: no races, no approximate
// instructions, no undefined operands, every register set before it is read. A program is a
// function of its seed.
//
// It is a tree of statements over a fixed set of registers (pools.h). Any statement can be left out
// and the rest is still such a program, which is what makes a failing one easy to shrink.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ridge::differential {

struct Node;

// A stretch of text, and the statements that follow it.
struct Arm {
  std::string head;
  std::vector<Node> body;
};

struct Node {
  uint32_t id = 0;        // in order of generation, over the whole program
  std::vector<Arm> arms;  // a plain statement has one, without a body
  std::string tail;
  std::string unwrapped;     // stands before the bodies when only they are kept
  bool leaves_loop = false;  // break, continue, early return: goes when what it leaves is unwrapped
};

struct Program {
  uint64_t seed = 0;
  uint32_t blocks = 1, threads = 32;  // of the launch
  std::vector<Node> kernel;
  std::vector<std::vector<Node>> functions;
  uint32_t nodes = 0;  // ids given
  std::string name() const { return "p" + std::to_string(seed); }
};

Program generate(uint64_t seed);

// What to keep: one character per node, '+' the node, '-' nothing of it, 'u' the bodies of its arms
// without the branching around them. Nodes past the end are kept.
using Mask = std::string;

std::string module_header();
// The program's variables, functions and kernel.
std::string text(const Program& program, const Mask& mask);

// The one buffer that a kernel works on: accumulators, then each thread's scratch bytes, then its
// final registers. All of it is the program's result.
uint64_t buffer_bytes(uint32_t blocks, uint32_t threads);

// What every kernel reads, in regions of kRegionBytes: integers, f32, f64, f16, bf16.
std::vector<uint8_t> input_bytes();

}  // namespace ridge::differential
