// A small bitmap font, so that images can have text without a font file.
#pragma once

#include <array>
#include <string_view>

namespace assay {

inline constexpr int kGlyphColumns = 5, kGlyphRows = 9;

/// One character: `#` is a dot. The last two rows are below the baseline.
struct Glyph {
  char character;
  std::array<std::string_view, kGlyphRows> rows;
};

/// The glyph of a printable ASCII character; that of `?` for any other.
const Glyph& glyph_of(char character);

}  // namespace assay
