// Code points of UTF-8 text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// Result of take_code_point() for bytes that are not UTF-8.
inline constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

/// Treatment of surrogates encoded in three bytes, which UTF-8 excludes but Python's strings have.
enum class Surrogates : uint8_t { kBroken, kTaken };

/// Takes one code point off the front of a text that is not empty. Bytes that are not UTF-8 (overlong forms
/// included) give kNotUtf8, and one byte is taken.
char32_t take_code_point(std::string_view& text, Surrogates surrogates = Surrogates::kBroken);
/// Appends a code point of at most 0x10FFFF as UTF-8.
void append_code_point(std::string& text, char32_t point);
bool is_utf8(std::string_view text);

/// True for the first byte of a character in UTF-8.
constexpr bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80; }
/// Number of characters of UTF-8 text.
size_t count_characters(std::string_view text);
/// The beginning of UTF-8 text, of `most` bytes or a few less: characters are not cut.
std::string_view utf8_prefix(std::string_view text, size_t most);

}  // namespace assay
