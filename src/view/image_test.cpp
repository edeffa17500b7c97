#include "view/image.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "assay/error.h"
#include "view/font.h"

namespace assay::image_test {
namespace {

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// The data of each chunk after its type, after checking lengths and checksums.
std::vector<std::pair<std::string, std::string>> chunks_of(std::string_view png) {
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  png.remove_prefix(8);
  std::vector<std::pair<std::string, std::string>> chunks;
  while (png.size() >= 12) {
    const uint32_t size = big_endian(png);
    if (png.size() < size + 12) break;
    const std::string_view typed = png.substr(4, size + 4);
    EXPECT_EQ(big_endian(png.substr(8 + size)),
              ::crc32(0, reinterpret_cast<const Bytef*>(typed.data()), static_cast<uInt>(typed.size())));
    chunks.emplace_back(typed.substr(0, 4), typed.substr(4));
    png.remove_prefix(size + 12);
  }
  EXPECT_TRUE(png.empty());
  return chunks;
}

TEST(Image, PngHoldsThePixels) {
  Image image(3, 2);
  image.set(0, 0, {255, 0, 0});
  image.set(2, 1, {1, 2, 3});
  const auto chunks = chunks_of(encode_png(image));
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].first, "IHDR");
  EXPECT_EQ(chunks[0].second, std::string("\0\0\0\3\0\0\0\2\10\2\0\0\0", 13));
  EXPECT_EQ(chunks[1].first, "IDAT");
  EXPECT_EQ(chunks[2].first, "IEND");
  std::string rows(20, 'x');
  uLongf size = rows.size();
  ASSERT_EQ(::uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                         reinterpret_cast<const Bytef*>(chunks[1].second.data()), chunks[1].second.size()),
            Z_OK);
  EXPECT_EQ(rows, std::string("\0\xff\0\0\xff\xff\xff\xff\xff\xff"
                              "\0\xff\xff\xff\xff\xff\xff\1\2\3",
                              20));
}

TEST(Image, DrawsOnlyInside) {
  Image image(4, 4);
  image.set(-1, 0, kBlack);
  image.set(0, 4, kBlack);
  image.fill(-5, -5, 6, 6, kBlack);
  image.fill(3, 3, 100, 100, kGrey);
  image.draw_text(2, 2, "WWW", 3, kWhite);
  EXPECT_EQ(image.at(0, 0), kBlack);
  EXPECT_EQ(image.at(1, 0), kWhite);
  EXPECT_EQ(image.at(0, 1), kWhite);
}

TEST(Image, RefusesImpossibleSizes) {
  EXPECT_THROW(Image(0, 1), Error);
  EXPECT_THROW(Image(1, -1), Error);
  EXPECT_THROW(Image(40000, 1), Error);
  EXPECT_THROW(Image(32000, 32000), Error);
}

TEST(Image, TextInBothDirections) {
  Image across(text_width("L", 2), text_height(2)), upward(text_height(2), text_width("L", 2));
  across.draw_text(0, 0, "L", 2, kBlack);
  upward.draw_upward_text(0, upward.height(), "L", 2, kBlack);
  EXPECT_EQ(across.at(0, 0), kBlack);
  EXPECT_EQ(across.at(9, 0), kWhite);
  EXPECT_EQ(across.at(9, 13), kBlack);
  for (int y = 0; y < across.height(); ++y)
    for (int x = 0; x < across.width(); ++x)
      EXPECT_EQ(across.at(x, y), upward.at(y, upward.height() - 1 - x));
}

TEST(Font, EveryPrintableCharacterHasAGlyphOfItsOwn) {
  for (char c = ' '; c <= '~'; ++c) {
    EXPECT_EQ(glyph_of(c).character, c);
    for (const std::string_view row : glyph_of(c).rows)
      EXPECT_EQ(row.size(), static_cast<size_t>(kGlyphColumns)) << c;
    for (char d = ' '; d < c; ++d) EXPECT_NE(glyph_of(c).rows, glyph_of(d).rows) << c << d;
  }
  EXPECT_EQ(glyph_of('\n').character, '?');
  EXPECT_EQ(glyph_of('\xff').character, '?');
}

TEST(ColorMap, Plasma) {
  EXPECT_EQ(plasma(0), (Color{13, 8, 135}));
  EXPECT_EQ(plasma(1), (Color{240, 249, 33}));
  EXPECT_EQ(plasma(0.5), (Color{204, 71, 120}));
  EXPECT_EQ(plasma(-3), plasma(0));
  EXPECT_EQ(plasma(7), plasma(1));
}

}  // namespace
}  // namespace assay::image_test
