#include "suggest.h"

#include <algorithm>

namespace ridge::tools {

int edit_distance(std::string_view a, std::string_view b) {
  // rows[i][j]: the distance of the first i characters of a from the first j of b.
  std::vector<std::vector<int>> rows(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = int(i + j);
        continue;
      }
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1,
                             rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  return rows[a.size()][b.size()];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  int best_distance = std::max(1, int(word.size()) / 2) + 1;  // half the word wrong: no suggestion
  for (const std::string& name : names)
    if (const int distance = edit_distance(word, name); distance < best_distance) {
      best = &name;
      best_distance = distance;
    }
  return best ? ". Did you mean '" + *best + "'?" : ".";
}

}  // namespace ridge::tools
