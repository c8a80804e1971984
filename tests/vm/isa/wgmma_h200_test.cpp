// wgmma of every type, dense and sparse, against hashes of what an H200 made of the same inputs,
// bit for bit; and where the elements of operands in shared memory lie. The cases, their inputs and
// the records are those of tests/vm/hopper; docs/hopper_facts.md describes them.
//
// Cases with N = 256 are slow to make, so of those only every fifth is run; all of them with the
// argument --gtest_filter=*AllCases* (ctest: label slow).
#include <fstream>
#include <map>
#include <sstream>

#include "../exec/machine.h"
#include "../hopper/probe/wgmma_case.h"
#include "../hopper/probe/wgmma_layout.h"

namespace ridge::vm::testing {
namespace {

using namespace hopper;

const std::string kDeclaration = ".extern .shared .align 1024 .b8 shared_image[];\n";

// The lines of a record: what stands before the tab, and what behind it.
std::map<std::string, std::string> read_record(const std::string& name) {
  std::ifstream file(RIDGE_RECORDS "/" + name);
  std::map<std::string, std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    lines[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return lines;
}

std::vector<uint32_t> run(Machine& m, const WgmmaCase& c, const std::vector<uint32_t>& input,
                          uint32_t blocks, uint64_t a, uint64_t b, size_t shared_bytes) {
  const std::vector<uint32_t> poison(c.output_words() * blocks, 0xcdcdcdcdu);
  const uint64_t in = m.allocate(input), out = m.allocate(poison);
  const Fault fault = m.run_as(Machine::shape({blocks}, {128}, uint32_t(shared_bytes)), in,
                               uint64_t(c.input_words() * 4), out, uint64_t(c.output_words() * 4),
                               a, b, uint64_t(c.b_bytes() / 16));
  EXPECT_FALSE(fault) << text_of(fault);
  auto result = m.read<uint32_t>(out, poison.size());
  m.engine().memory().release(in, MemKind::device);
  m.engine().memory().release(out, MemKind::device);
  return result;
}

// How many rounds differ.
int differences(const WgmmaCase& c, const std::string& hashes) {
  Machine m;
  m.load(kDeclaration + kernel_text(c, "k"));
  const int rounds = rounds_of(c);
  std::vector<uint32_t> input;
  for (int r = 0; r < rounds; ++r) {
    const auto one = make_input(c, r);
    input.insert(input.end(), one.begin(), one.end());
  }
  const auto output = run(
      m, c, input, uint32_t(rounds), descriptor(0, 128, 128 * c.k_bytes_a() / 16),
      descriptor(c.a_bytes() * size_t(c.chain), 128, 128 * c.k_bytes_b() / 16), c.shared_bytes());
  std::istringstream expected(hashes);
  int different = 0;
  for (int r = 0; r < rounds; ++r) {
    std::string hash;
    expected >> hash;
    const uint32_t* round = output.data() + size_t(r) * c.output_words();
    different += uint32_t(hash_bytes(round, c.output_words() * 4)) != std::stoul(hash, nullptr, 16);
  }
  return different;
}

TEST(WgmmaH200, Cases) {
  const auto record = read_record("wgmma.txt");
  for (const WgmmaCase& c : wgmma_cases()) {
    const auto line = record.find(c.name());
    ASSERT_NE(line, record.end()) << c.name();
    EXPECT_EQ(differences(c, line->second), 0) << c.name();
  }
}

TEST(WgmmaH200, Layouts) {
  const auto record = read_record("wgmma_layout.txt");
  for (const LayoutKernel& kernel : layout_kernels()) {
    const auto line = record.find(kernel.name());
    ASSERT_NE(line, record.end()) << kernel.name();
    Machine m;
    m.load(kDeclaration + kernel_text(kernel.wgmma, "k"));
    const auto input = layout_input(kernel);
    int different = 0;
    size_t at = 0;
    for (const Descriptor& d : layout_descriptors()) {
      const bool is_a = kernel.operand == 'A';
      const auto output =
          run(m, kernel.wgmma, input, uint32_t(kernel.digits()), is_a ? d.word() : 0,
              is_a ? identity_descriptor(kernel) : d.word(), 200 * 1024);
      const auto map = layout_map(kernel, output.data());
      different += uint32_t(hash_bytes(map.data(), map.size() * 2)) !=
                   std::stoul(line->second.substr(at, 8), nullptr, 16);
      at += 8;
    }
    EXPECT_EQ(different, 0) << kernel.name();
  }
}

}  // namespace
}  // namespace ridge::vm::testing
