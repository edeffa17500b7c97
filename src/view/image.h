// Raster images, and PNG files of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
};
inline constexpr Color kWhite{255, 255, 255}, kBlack{0, 0, 0}, kGrey{200, 200, 200};

/// Width x height pixels, (0, 0) at the top left. Drawing outside is clipped.
class Image {
 public:
  /// Throws Error (kInvalidArgument) unless both are between 1 and 32767 and the product is at most 2^26.
  Image(int width, int height, Color background = kWhite);

  int width() const { return width_; }
  int height() const { return height_; }
  /// The pixel must be inside.
  Color at(int x, int y) const { return pixels_[index(x, y)]; }
  void set(int x, int y, Color color) {
    if (x >= 0 && y >= 0 && x < width_ && y < height_) pixels_[index(x, y)] = color;
  }
  void fill(int x, int y, int width, int height, Color color);
  const std::vector<Color>& pixels() const { return pixels_; }

  /// Printable ASCII in a fixed-width font; other characters as `?`. (x, y) is the top left corner of the
  /// text, `scale` the edge of one dot. Upward text begins at (x, y) and reads from bottom to top.
  void draw_text(int x, int y, std::string_view text, int scale, Color color);
  void draw_upward_text(int x, int y, std::string_view text, int scale, Color color);

 private:
  size_t index(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x);
  }

  int width_, height_;
  std::vector<Color> pixels_;
};

/// Size of text that draw_text() draws.
int text_width(std::string_view text, int scale);
int text_height(int scale);

/// The bytes of a PNG file (8 bits, RGB).
std::string encode_png(const Image& image);

/// The colour map "plasma" of matplotlib: dark blue at
/// 0 to yellow at 1. Values out of range are clamped.
Color plasma(double t);

}  // namespace assay
