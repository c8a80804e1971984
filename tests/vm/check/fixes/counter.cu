// FIX atomic
#include "fixes.h"

__global__ void take(int* next, int* taken) {
  while (*next < 1000) {  // WITH: while (atomicAdd(next, 0) < 1000) {
    const int mine = atomicAdd(next, 1);
    if (mine < 1000) taken[mine] += 1;
  }
}

int main() {
  Array<int> next(1), taken(1000);
  take<<<4, 64>>>(next, taken);
  return verdict(taken.host(), std::vector<int>(1000, 1));
}
