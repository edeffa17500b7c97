#include "base/utf8.h"

#include <algorithm>

namespace assay {
namespace {

/// A lead byte's sequence: its length, the bits of the lead byte, and the least code point that needs it.
struct Sequence {
  size_t length;
  char32_t bits;
  char32_t least;
};

Sequence sequence_of(unsigned char lead) {
  if (lead < 0x80) return {1, lead, 0};
  if (lead >= 0xC0 && lead < 0xE0) return {2, lead & 0x1Fu, 0x80};
  if (lead >= 0xE0 && lead < 0xF0) return {3, lead & 0x0Fu, 0x800};
  if (lead >= 0xF0 && lead < 0xF8) return {4, lead & 0x07u, 0x10000};
  return {0, 0, 0};
}

bool is_surrogate(char32_t point) { return point >= 0xD800 && point <= 0xDFFF; }

}  // namespace

char32_t take_code_point(std::string_view& text, Surrogates surrogates) {
  const Sequence s = sequence_of(static_cast<unsigned char>(text[0]));
  char32_t point = s.bits;
  bool ok = s.length != 0 && s.length <= text.size();
  for (size_t i = 1; ok && i < s.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    ok = !begins_character(text[i]);
    point = point << 6 | (byte & 0x3Fu);
  }
  ok = ok && point >= s.least && point <= 0x10FFFF &&
       (surrogates == Surrogates::kTaken || !is_surrogate(point));
  text.remove_prefix(ok ? s.length : 1);
  return ok ? point : kNotUtf8;
}

void append_code_point(std::string& text, char32_t point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xE0 | point >> 12);
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
    }
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

bool is_utf8(std::string_view text) {
  while (!text.empty())
    if (take_code_point(text) == kNotUtf8) return false;
  return true;
}

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string_view utf8_prefix(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && !begins_character(text[most])) --most;
  return text.substr(0, most);
}

}  // namespace assay
