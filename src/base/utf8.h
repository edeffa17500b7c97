// Code points of UTF-8 text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// What take_code_point() gives for bytes that are not UTF-8.
inline constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

/// What surrogates in three bytes are, which UTF-8 does not have but Python's strings do.
enum class Surrogates : uint8_t { kBroken, kTaken };

/// Takes one code point off the front of a text that is not empty. Bytes that are not UTF-8 (overlong forms
/// included) give kNotUtf8, and one byte is taken.
char32_t take_code_point(std::string_view& text, Surrogates surrogates = Surrogates::kBroken);
/// Appends a code point of at most 0x10FFFF as UTF-8.
void append_code_point(std::string& text, char32_t point);
bool is_utf8(std::string_view text);

/// Whether a byte of UTF-8 text is the first of a character.
constexpr bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80; }
/// The characters of UTF-8 text, by their first bytes.
size_t count_characters(std::string_view text);
/// The beginning of UTF-8 text, of `most` bytes or a few less: characters are not cut.
std::string_view utf8_prefix(std::string_view text, size_t most);

}  // namespace assay
