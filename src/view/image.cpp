#include "view/image.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>

#include "assay/error.h"
#include "view/font.h"

namespace assay {
namespace {

/// Calls dot(column, row) for each dot of the text, in dots from its top left corner.
template <typename Dot>
void for_each_dot(std::string_view text, Dot&& dot) {
  int left = 0;
  for (const char c : text) {
    const Glyph& glyph = glyph_of(c);
    for (int row = 0; row < kGlyphRows; ++row)
      for (int column = 0; column < kGlyphColumns; ++column)
        if (glyph.rows[static_cast<size_t>(row)][static_cast<size_t>(column)] == '#') dot(left + column, row);
    left += kGlyphColumns + 1;
  }
}

}  // namespace

Image::Image(int width, int height, Color background) : width_(width), height_(height) {
  constexpr int64_t kMaxPixels = int64_t{1} << 26;
  const bool possible = width >= 1 && height >= 1 && width <= INT16_MAX && height <= INT16_MAX &&
                        int64_t{width} * height <= kMaxPixels;
  require(possible, ErrorCode::kInvalidArgument, "a picture cannot be {} x {} pixels", width, height);
  pixels_.assign(static_cast<size_t>(width) * static_cast<size_t>(height), background);
}

void Image::fill(int x, int y, int width, int height, Color color) {
  const int right = std::min(x + width, width_), bottom = std::min(y + height, height_);
  for (int row = std::max(y, 0); row < bottom; ++row)
    for (int column = std::max(x, 0); column < right; ++column) pixels_[index(column, row)] = color;
}

void Image::draw_text(int x, int y, std::string_view text, int scale, Color color) {
  for_each_dot(text,
               [&](int column, int row) { fill(x + column * scale, y + row * scale, scale, scale, color); });
}

void Image::draw_upward_text(int x, int y, std::string_view text, int scale, Color color) {
  for_each_dot(text, [&](int column, int row) {
    fill(x + row * scale, y - (column + 1) * scale, scale, scale, color);
  });
}

int text_width(std::string_view text, int scale) {
  return text.empty() ? 0 : (static_cast<int>(text.size()) * (kGlyphColumns + 1) - 1) * scale;
}
int text_height(int scale) { return kGlyphRows * scale; }

std::string encode_png(const Image& image) {
  static_assert(sizeof(Color) == 3);
  std::string file;
  const auto write = [](png_structp png, png_bytep bytes, size_t size) {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(bytes), size);
  };
  std::vector<png_bytep> rows;
  for (int y = 0; y < image.height(); ++y) {
    const Color* row = image.pixels().data() + static_cast<size_t>(y) * static_cast<size_t>(image.width());
    rows.push_back(reinterpret_cast<png_bytep>(const_cast<Color*>(row)));
  }
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  // It reports errors by longjmp, which skips all frames in between.
  const bool written = info != nullptr && setjmp(png_jmpbuf(png)) == 0;
  if (written) {
    png_set_write_fn(png, &file, write, nullptr);
    png_set_IHDR(png, info, static_cast<png_uint_32>(image.width()), static_cast<png_uint_32>(image.height()),
                 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_rows(png, info, rows.data());
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  }
  png_destroy_write_struct(&png, &info);
  require(written, ErrorCode::kInternal, "libpng could not write a picture of {} x {} pixels", image.width(),
          image.height());
  return file;
}

}  // namespace assay
