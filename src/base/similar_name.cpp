#include "base/similar_name.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end() ||
         part.empty();
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0], least = row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
  }
  return row[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string_view> candidates,
                                       size_t most) {
  // At least one character must be the same.
  const size_t limit = std::min(std::max<size_t>(1, name.size() / 3), std::max<size_t>(name.size(), 1) - 1);
  std::vector<std::pair<size_t, std::string_view>> found;
  for (const std::string_view c : candidates) {
    if (c.empty()) continue;
    const size_t d = edit_distance(name, c, limit);
    if (d <= limit || (!name.empty() && contains(c, name))) found.emplace_back(d, c);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [d, c] : found)
    if (names.size() < most && std::find(names.begin(), names.end(), c) == names.end()) names.emplace_back(c);
  return names;
}

std::string name_hint(std::string_view name, std::span<const std::string_view> candidates) {
  std::string list;
  for (const std::string& near : nearest_names(name, candidates))
    list += (list.empty() ? "'" : ", '") + near + "'";
  return list.empty() ? list : "Did you mean " + list + "?";
}

bool is_similar_name(std::string_view a, std::string_view b) { return contains(a, b) || contains(b, a); }

}  // namespace assay
