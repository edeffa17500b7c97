// PBM, PGM and PPM (Netpbm): a letter and a digit, extents, the largest value, and samples as text (P1 to P3)
// or bytes (P4 to P6), two for values above 255. A bitmap's ones are black.
#include <algorithm>

#include "base/byte_reader.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Skips white space and comments, which last from # to the end of the line.
uint8_t next_character(ByteReader& in) {
  uint8_t c = in.byte();
  while (in.ok() && (is_space(c) || c == '#')) {
    if (c == '#')
      while (in.ok() && c != '\n' && c != '\r') c = in.byte();
    c = in.byte();
  }
  return c;
}

/// A decimal number and the one character after it; nothing when there is none or it is too large.
std::optional<uint32_t> read_number(ByteReader& in) {
  uint8_t c = next_character(in);
  if (!in.ok() || c < '0' || c > '9') return std::nullopt;
  uint32_t value = 0;
  while (c >= '0' && c <= '9') {
    value = value * 10 + (c - '0');
    if (value > (1u << 24)) return std::nullopt;
    if (in.left() == 0) return value;
    c = in.byte();
  }
  return value;
}

/// The samples of a picture, one after the other.
class Samples {
 public:
  Samples(ByteReader& in, char kind, uint32_t most) : in_(in), kind_(kind), most_(most) {}

  void start_row() { bits_left_ = 0; }
  /// The next sample as a byte; nothing when the stream ends.
  std::optional<uint8_t> next() {
    if (kind_ == '1') {
      const uint8_t c = next_character(in_);
      if (c != '0' && c != '1') return std::nullopt;
      return static_cast<uint8_t>(c == '1' ? 0 : 255);
    }
    if (kind_ == '4') return next_bit();
    if (kind_ < '4') {
      const std::optional<uint32_t> value = read_number(in_);
      return value ? std::optional(rounded(*value)) : std::nullopt;
    }
    const uint32_t value = in_.big(most_ > 255 ? 2 : 1);
    return in_.ok() ? std::optional(rounded(value)) : std::nullopt;
  }

 private:
  std::optional<uint8_t> next_bit() {
    if (bits_left_ == 0) {
      bits_ = in_.byte();
      bits_left_ = 8;
      if (!in_.ok()) return std::nullopt;
    }
    return static_cast<uint8_t>((bits_ >> --bits_left_ & 1) != 0 ? 0 : 255);
  }
  uint8_t rounded(uint32_t value) const {
    return scaled_to_byte(2 * std::min(value, most_) * 255 + most_, 2 * most_ * 255);
  }

  ByteReader& in_;
  char kind_;
  uint32_t most_;
  uint8_t bits_ = 0;
  int bits_left_ = 0;
};

}  // namespace

std::optional<Picture> decode_pnm(Encoded stream) {
  ByteReader in(stream);
  in.skip(1);
  const char kind = static_cast<char>(in.byte());
  const bool bitmap = kind == '1' || kind == '4', colour = kind == '3' || kind == '6';
  const std::optional<uint32_t> width = read_number(in), height = read_number(in);
  const std::optional<uint32_t> most = bitmap ? std::optional<uint32_t>(1) : read_number(in);
  if (!width || !height || !most || *most == 0 || *most > 65535) return std::nullopt;
  // Every sample takes a bit at least.
  if (uint64_t{*width} * *height / 8 > in.left()) return std::nullopt;
  std::optional<Picture> picture = make_picture(*width, *height);
  if (!picture) return std::nullopt;
  Samples samples(in, kind, *most);
  for (int64_t y = 0; y < picture->height; ++y) {
    samples.start_row();
    for (int64_t x = 0; x < picture->width; ++x) {
      const std::optional<uint8_t> red = samples.next();
      const std::optional<uint8_t> green = colour ? samples.next() : red;
      const std::optional<uint8_t> blue = colour ? samples.next() : red;
      if (!red || !green || !blue) return std::nullopt;
      picture->set(x, y, *red, *green, *blue);
    }
  }
  return picture;
}

}  // namespace assay
