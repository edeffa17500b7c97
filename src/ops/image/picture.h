// Encoded pictures and what they decode to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay {

/// Pixels row by row from the top left: red, green and blue, a byte each.
struct Picture {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> pixels;

  uint8_t* row(int64_t y) { return pixels.data() + y * width * 3; }
  void set(int64_t x, int64_t y, uint8_t red, uint8_t green, uint8_t blue) {
    uint8_t* p = row(y) + x * 3;
    p[0] = red;
    p[1] = green;
    p[2] = blue;
  }
};

using Encoded = std::span<const uint8_t>;

/// Throws Error (kInvalidArgument) when decoding a picture of positive extents takes too much, at this many
/// bytes a pixel: more than 2^27 pixels or most_picture_bytes(), so that a few bytes with false extents
/// cannot claim all memory.
void check_picture_size(int64_t width, int64_t height, int64_t bytes_per_pixel);

/// Bytes of memory that decoding a picture may take: 2 GiB, or memory_limit() where that is less.
int64_t most_picture_bytes();

/// A black picture, or nothing when an extent is not positive. Throws what check_picture_size() throws.
std::optional<Picture> make_picture(int64_t width, int64_t height);

/// value / most as a byte, rounded down.
inline uint8_t scaled_to_byte(uint32_t value, uint32_t most) {
  return static_cast<uint8_t>(value >= most ? 255 : uint64_t{value} * 255 / most);
}

/// Decodes a picture of any of the formats below, which its first bytes tell; nothing when they tell none, or
/// the stream is damaged. Opacity is dropped, and so are colour profiles. Throws Error (kUnsupported) when
/// the format's library is not installed.
std::optional<Picture> decode_picture(Encoded stream);

/// Each for one format; nothing when the stream is damaged. BMP and the portable formats PBM, PGM and PPM are
/// decoded here, PNG by libpng, the others by libturbojpeg, libopenjp2, libtiff and libwebp, which are loaded
/// at the first use.
std::optional<Picture> decode_bmp(Encoded stream);
std::optional<Picture> decode_png(Encoded stream);
std::optional<Picture> decode_pnm(Encoded stream);
std::optional<Picture> decode_jpeg(Encoded stream);
std::optional<Picture> decode_jpeg2000(Encoded stream);
std::optional<Picture> decode_tiff(Encoded stream);
std::optional<Picture> decode_webp(Encoded stream);

}  // namespace assay
