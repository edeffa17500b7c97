// BMP: a file header, one of several information headers, masks or a palette, and rows of 1 to 32 bits a
// pixel, from the bottom unless the height is negative; rows of 4 and 8 bits may be run-length encoded.
#include <array>
#include <bit>

#include "base/byte_reader.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

enum Compression : uint32_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kMasksAlpha = 6 };

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
};

/// The position of a colour's bits in a pixel.
struct Channel {
  uint32_t mask = 0;
  uint8_t value(uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    return scaled_to_byte((pixel & mask) >> shift, mask >> shift);
  }
};

struct Header {
  int64_t width = 0, height = 0;
  bool from_top = false;
  uint32_t bits = 0, compression = kNone;
  size_t pixels_at = 0;
  std::array<Channel, 3> channels;
  std::vector<Colour> palette;

  bool has_runs() const { return compression == kRuns8 || compression == kRuns4; }
};

bool is_valid(const Header& h) {
  switch (h.compression) {
    case kNone:
      return h.bits == 1 || h.bits == 4 || h.bits == 8 || h.bits == 16 || h.bits == 24 || h.bits == 32;
    case kRuns8:
      return h.bits == 8 && !h.from_top;
    case kRuns4:
      return h.bits == 4 && !h.from_top;
    case kMasks:
    case kMasksAlpha:
      return h.bits == 16 || h.bits == 32;
    default:
      return false;
  }
}

void read_palette(ByteReader& in, Header& h, uint32_t used, int entry_bytes) {
  if (h.bits > 8) return;
  const uint32_t most = 1u << h.bits, count = used == 0 || used > most ? most : used;
  h.palette.resize(most);
  for (uint32_t i = 0;
       i < count && in.left() >= static_cast<size_t>(entry_bytes) && in.position() < h.pixels_at; ++i) {
    h.palette[i].blue = in.byte();
    h.palette[i].green = in.byte();
    h.palette[i].red = in.byte();
    if (entry_bytes == 4) in.skip(1);
  }
}

/// The header that Windows 3 and later write: 40 bytes or more.
void read_info_header(ByteReader& in, Header& h, size_t start, uint32_t size) {
  h.width = static_cast<int32_t>(in.little(4));
  h.height = static_cast<int32_t>(in.little(4));
  in.skip(2);
  h.bits = in.little(2);
  h.compression = in.little(4);
  in.skip(12);
  const uint32_t used = in.little(4);
  in.skip(4);
  if (h.compression == kMasks || h.compression == kMasksAlpha)
    for (Channel& c : h.channels) c.mask = in.little(4);
  else if (h.bits == 16)
    h.channels = {Channel{0x7C00}, Channel{0x03E0}, Channel{0x001F}};
  else if (h.bits == 32)
    h.channels = {Channel{0xFF0000}, Channel{0x00FF00}, Channel{0x0000FF}};
  in.seek(start + size);
  read_palette(in, h, used, 4);
}

std::optional<Header> read_header(ByteReader& in) {
  Header h;
  in.skip(10);
  h.pixels_at = in.little(4);
  const size_t start = in.position();
  const uint32_t size = in.little(4);
  if (size == 12) {
    h.width = in.little(2);
    h.height = in.little(2);
    in.skip(2);
    h.bits = in.little(2);
    read_palette(in, h, 0, 3);
    if (h.bits > 8 && h.bits != 24) return std::nullopt;
  } else if (size >= 40 && size <= 256) {
    read_info_header(in, h, start, size);
  } else {
    return std::nullopt;
  }
  if (h.height < 0) {
    h.from_top = true;
    h.height = -h.height;
  }
  if (!in.ok() || !is_valid(h)) return std::nullopt;
  return h;
}

Colour pixel_colour(const Header& h, std::span<const uint8_t> row, int64_t x) {
  const auto i = static_cast<size_t>(x);
  if (h.bits <= 8) {
    const size_t per_byte = 8 / h.bits, shift = 8 - h.bits * (i % per_byte + 1);
    return h.palette[row[i / per_byte] >> shift & ((1u << h.bits) - 1)];
  }
  const size_t bytes = h.bits / 8;
  uint32_t pixel = 0;
  for (size_t k = 0; k < bytes; ++k) pixel |= uint32_t{row[i * bytes + k]} << (8 * k);
  if (h.bits == 24)
    return {static_cast<uint8_t>(pixel >> 16), static_cast<uint8_t>(pixel >> 8), static_cast<uint8_t>(pixel)};
  return {h.channels[0].value(pixel), h.channels[1].value(pixel), h.channels[2].value(pixel)};
}

bool read_rows(ByteReader& in, const Header& h, Picture& picture) {
  const size_t stride = (static_cast<size_t>(h.width) * h.bits + 31) / 32 * 4;
  for (int64_t i = 0; i < h.height; ++i) {
    // The last row may lack its padding.
    const size_t needed = (static_cast<size_t>(h.width) * h.bits + 7) / 8;
    const std::span<const uint8_t> row = in.take(i + 1 < h.height ? stride : needed);
    if (!in.ok()) return false;
    for (int64_t x = 0; x < h.width; ++x) {
      const Colour c = pixel_colour(h, row, x);
      picture.set(x, h.from_top ? i : h.height - 1 - i, c.red, c.green, c.blue);
    }
  }
  return true;
}

/// Runs of one or two colours, literal stretches, and moves. Skipped pixels stay black.
bool read_runs(ByteReader& in, const Header& h, Picture& picture) {
  int64_t x = 0, y = 0;
  const auto put = [&](uint8_t index) {
    if (x >= h.width || y >= h.height) return false;
    const Colour c = h.palette[index];
    picture.set(x++, h.height - 1 - y, c.red, c.green, c.blue);
    return true;
  };
  const auto put_nibble = [&](uint8_t pair, int i) { return put(i % 2 == 0 ? pair >> 4 : pair & 15); };
  const bool nibbles = h.compression == kRuns4;
  while (in.ok()) {
    const int count = in.byte();
    const uint8_t value = in.byte();
    if (count > 0) {
      for (int i = 0; i < count; ++i)
        if (!(nibbles ? put_nibble(value, i) : put(value))) return false;
    } else if (value == 0) {
      x = 0;
      ++y;
    } else if (value == 1) {
      return in.ok();
    } else if (value == 2) {
      x += in.byte();
      y += in.byte();
    } else {
      uint8_t current = 0;
      for (int i = 0; i < value; ++i) {
        if (!nibbles || i % 2 == 0) current = in.byte();
        if (!(nibbles ? put_nibble(current, i) : put(current))) return false;
      }
      const int bytes = nibbles ? (value + 1) / 2 : value;
      in.skip(static_cast<size_t>(bytes % 2));
    }
  }
  return false;
}

}  // namespace

std::optional<Picture> decode_bmp(Encoded stream) {
  ByteReader in(stream);
  const std::optional<Header> h = read_header(in);
  if (!h) return std::nullopt;
  in.seek(h->pixels_at);
  // Extents are below 2^32, so their product with the 32 bits of a pixel fits.
  if (!h->has_runs() && h->width > 0 &&
      static_cast<uint64_t>(h->height) * ((static_cast<uint64_t>(h->width) * h->bits + 7) / 8) > in.left())
    return std::nullopt;
  std::optional<Picture> picture = make_picture(h->width, h->height);
  if (!picture || !in.ok()) return std::nullopt;
  if (!(h->has_runs() ? read_runs(in, *h, *picture) : read_rows(in, *h, *picture))) return std::nullopt;
  return picture;
}

}  // namespace assay
