#include <algorithm>
#include <cstring>

#include "fuzz/targets/feedback.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz {
namespace {

using Words = std::span<const std::string_view>;

/// [at, at + size) of a text that is not empty; short stretches are likelier.
struct Stretch {
  size_t at, size;
};
Stretch some_stretch(const std::string& s, Random& r) {
  const size_t at = r.below(s.size());
  const size_t most = s.size() - at;
  return {at, 1 + r.below(r.chance(70) ? std::min<size_t>(most, 8) : most)};
}

void put_number(std::string& s, Random& r, uint64_t value, size_t bytes, bool big) {
  if (s.size() < bytes) return;
  char text[8];
  for (size_t i = 0; i < bytes; ++i) text[big ? bytes - 1 - i : i] = static_cast<char>(value >> (8 * i));
  s.replace(r.below(s.size() - bytes + 1), bytes, text, bytes);
}

/// Numbers at which arithmetic overflows.
uint64_t edge(Random& r, size_t bytes) {
  const uint64_t most = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
  const uint64_t base =
      r.one_of({uint64_t{0}, most, most / 2, most / 2 + 1, most / 4, uint64_t{1} << r.below(8 * bytes)});
  return (base + static_cast<uint64_t>(r.between(-4, 4))) & most;
}

/// A number that the code compared with another becomes that other one.
bool follow_comparison(std::string& s, Random& r) {
  Comparison c{};
  if (!some_comparison(r.next(), c)) return false;
  if (r.chance(50)) std::swap(c.left, c.right);
  for (size_t bytes = static_cast<size_t>(c.bytes); bytes >= 1; bytes /= 2) {
    for (const bool big : {false, true}) {
      std::string from, to;
      for (size_t i = 0; i < bytes; ++i) {
        const size_t shift = 8 * (big ? bytes - 1 - i : i);
        from += static_cast<char>(c.left >> shift);
        to += static_cast<char>(c.right >> shift);
      }
      if (bytes < 8 && c.left >> (8 * bytes) != 0) continue;
      const size_t start = s.empty() ? 0 : r.below(s.size());
      size_t at = s.find(from, start);
      if (at == std::string::npos) at = s.find(from);
      if (at == std::string::npos) continue;
      s.replace(at, bytes, to);
      return true;
    }
  }
  // As text.
  const std::string from = std::to_string(c.left);
  const size_t at = s.find(from);
  if (at == std::string::npos) return false;
  s.replace(at, from.size(), std::to_string(c.right));
  return true;
}

/// Digits in the text become another number.
void change_digits(std::string& s, Random& r) {
  const size_t start = r.below(s.size());
  size_t at = s.find_first_of("0123456789", start);
  if (at == std::string::npos) at = s.find_first_of("0123456789");
  if (at == std::string::npos) return;
  const size_t end = std::min(s.find_first_not_of("0123456789", at), s.size());
  static constexpr const char* kNumbers[] = {"0",
                                             "1",
                                             "2",
                                             "255",
                                             "65536",
                                             "1048577",
                                             "2147483647",
                                             "2147483648",
                                             "4294967296",
                                             "1099511627776",
                                             "4611686018427387904",
                                             "9223372036854775807",
                                             "9223372036854775808",
                                             "18446744073709551615",
                                             "18446744073709551616",
                                             "99999999999999999999999"};
  s.replace(at, end - at,
            r.chance(50) ? kNumbers[r.below(std::size(kNumbers))] : std::to_string(r.below(1000)));
}

}  // namespace

void mutate_bytes(std::string& s, Random& r, Words words) {
  if (s.empty()) {
    s.push_back(static_cast<char>(r.next()));
    return;
  }
  switch (r.below(14)) {
    case 0:
      s[r.below(s.size())] ^= static_cast<char>(1u << r.below(8));
      return;
    case 1:
      s[r.below(s.size())] = static_cast<char>(r.next());
      return;
    case 2: {
      const size_t bytes = r.one_of<size_t>({1, 2, 4, 8});
      return put_number(s, r, edge(r, bytes), bytes, r.chance(30));
    }
    case 3: {
      s[r.below(s.size())] += static_cast<char>(r.between(-3, 3));
      return;
    }
    case 4: {
      const Stretch part = some_stretch(s, r);
      s.erase(part.at, part.size);
      return;
    }
    case 5: {
      const Stretch part = some_stretch(s, r);
      const std::string copy = s.substr(part.at, part.size);
      s.insert(r.below(s.size() + 1), copy);
      return;
    }
    case 6: {
      const Stretch part = some_stretch(s, r);
      std::string copy;
      for (size_t i = 1 + r.below(64); i > 0 && copy.size() < 4096; --i) copy += s.substr(part.at, part.size);
      s.insert(part.at, copy);
      return;
    }
    case 7: {
      const Stretch part = some_stretch(s, r);
      const std::string copy = s.substr(part.at, part.size);
      const size_t at = r.below(s.size());
      s.replace(at, std::min(copy.size(), s.size() - at), copy);
      return;
    }
    case 8:
      s.resize(r.below(s.size()));
      return;
    case 9:
      s.insert(r.below(s.size() + 1),
               std::string(1 + r.below(16), static_cast<char>(r.chance(50) ? 0 : r.next())));
      return;
    case 10:
      return change_digits(s, r);
    case 11:
    case 12:
      if (follow_comparison(s, r)) return;
      [[fallthrough]];
    default: {
      if (words.empty()) return mutate_bytes(s, r, words);
      const std::string_view word = words[r.below(words.size())];
      const size_t at = r.below(s.size() + 1);
      s.replace(at, r.chance(50) ? 0 : std::min(word.size(), s.size() - at), word);
      return;
    }
  }
}

}  // namespace assay::fuzz
