// Code points of UTF-8 text.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// What take_code_point() gives for bytes that are not UTF-8.
inline constexpr char32_t kNotUtf8 = 0xFFFFFFFF;

/// Takes one code point off the front of a text that is not empty. Bytes that are not UTF-8 (overlong forms
/// and surrogates included) give kNotUtf8, and one byte is taken.
char32_t take_code_point(std::string_view& text);
/// Appends a code point of at most 0x10FFFF as UTF-8.
void append_code_point(std::string& text, char32_t point);
bool is_utf8(std::string_view text);

}  // namespace assay
