#include "base/similar_name.h"

#include <algorithm>

namespace assay {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end() ||
         part.empty();
}

}  // namespace

bool is_similar_name(std::string_view a, std::string_view b) { return contains(a, b) || contains(b, a); }

}  // namespace assay
