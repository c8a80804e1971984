// The command line of an example: sizes in a fixed order, each with a default, and, where the
// example writes files, `--out DIR`.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

struct Size {
  const char* name;
  int value;  // the default, until the command line says otherwise
  int min;
  int max;
};

enum class Files { kNone, kWritten };

class Args {
 public:
  Args(int argc, char** argv, std::vector<Size> sizes, Files files = Files::kNone)
      : program_(argv[0]), sizes_(std::move(sizes)), files_(files) {
    size_t next = 0;
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--help") == 0) {
        print_usage(stdout);
        std::exit(0);
      } else if (files_ == Files::kWritten && std::strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
        out_ = argv[++i];
      } else if (next < sizes_.size()) {
        read_size(sizes_[next++], argv[i]);
      } else {
        refuse(argv[i]);
      }
    }
  }

  int size(size_t i) const { return sizes_[i].value; }
  std::string path(const char* file) const { return out_ + "/" + file; }

 private:
  void read_size(Size& size, const char* text) const {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < size.min || value > size.max) refuse(text);
    size.value = static_cast<int>(value);
  }

  [[noreturn]] void refuse(const char* text) const {
    std::fprintf(stderr, "cannot use '%s' here\n", text);
    print_usage(stderr);
    std::exit(2);
  }

  void print_usage(std::FILE* to) const {
    std::fprintf(to, "usage: %s", program_);
    for (const Size& size : sizes_) std::fprintf(to, " [%s]", size.name);
    std::fprintf(to, files_ == Files::kWritten ? " [--out DIR]\n" : "\n");
    for (const Size& size : sizes_) {
      std::fprintf(to, "  %-8s %d to %d, default %d\n", size.name, size.min, size.max, size.value);
    }
    if (files_ == Files::kWritten)
      std::fprintf(to, "  %-8s an existing folder, default .\n", "DIR");
  }

  const char* program_;
  std::vector<Size> sizes_;
  Files files_;
  std::string out_ = ".";
};
