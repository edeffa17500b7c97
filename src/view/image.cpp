#include "view/image.h"

#include <zlib.h>

#include <algorithm>

#include "assay/error.h"
#include "view/font.h"

namespace assay {
namespace {

void append_big_endian(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

void append_chunk(std::string& out, std::string_view type, const std::string& data) {
  append_big_endian(out, static_cast<uint32_t>(data.size()));
  const size_t start = out.size();
  out.append(type).append(data);
  const auto* bytes = reinterpret_cast<const Bytef*>(out.data() + start);
  append_big_endian(out, static_cast<uint32_t>(::crc32(0, bytes, static_cast<uInt>(out.size() - start))));
}

std::string deflate(const std::string& data) {
  uLongf size = ::compressBound(static_cast<uLong>(data.size()));
  std::string packed(size, '\0');
  const int status =
      ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                  static_cast<uLong>(data.size()), 6);
  require(status == Z_OK, ErrorCode::kInternal, "zlib could not pack {} bytes: error {}", data.size(),
          status);
  packed.resize(size);
  return packed;
}

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
  constexpr int64_t kMostPixels = int64_t{1} << 26;
  const bool possible = width >= 1 && height >= 1 && width <= INT16_MAX && height <= INT16_MAX &&
                        int64_t{width} * height <= kMostPixels;
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
  std::string header;
  append_big_endian(header, static_cast<uint32_t>(image.width()));
  append_big_endian(header, static_cast<uint32_t>(image.height()));
  header.append({8, 2, 0, 0, 0});  // bits, RGB, deflate, filters, no interlacing
  std::string rows;
  rows.reserve(image.pixels().size() * 3 + static_cast<size_t>(image.height()));
  for (int y = 0; y < image.height(); ++y) {
    rows += '\0';  // no filter
    for (int x = 0; x < image.width(); ++x) {
      const Color c = image.at(x, y);
      rows.append({static_cast<char>(c.red), static_cast<char>(c.green), static_cast<char>(c.blue)});
    }
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", deflate(rows));
  append_chunk(png, "IEND", "");
  return png;
}

}  // namespace assay
