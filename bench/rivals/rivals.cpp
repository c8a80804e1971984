#include "rivals.h"

extern "C" __attribute__((visibility("default"))) void ridge_rivals(
    std::vector<ridge::harness::Rival>* rivals) {
  ridge::rivals::add_cub(*rivals);
  ridge::rivals::add_cublas(*rivals);
}
