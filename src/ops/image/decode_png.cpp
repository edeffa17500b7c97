// PNG (ISO/IEC 15948): chunks with checksums; rows of filtered bytes, deflated; whole, or in the seven passes
// of Adam7. Samples of 16 bits keep their high byte.
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/bounds.h"
#include "base/byte_reader.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

enum ColourType : uint8_t { kGrey = 0, kColour = 2, kPalette = 3, kGreyAlpha = 4, kColourAlpha = 6 };

struct Header {
  int64_t width = 0, height = 0;
  uint32_t depth = 0;
  uint8_t type = 0;
  bool interlaced = false;

  uint32_t channels() const {
    return type == kColour ? 3 : type == kGreyAlpha ? 2 : type == kColourAlpha ? 4 : 1;
  }
  uint32_t pixel_bits() const { return depth * channels(); }
  size_t row_bytes(int64_t pixels) const { return (static_cast<size_t>(pixels) * pixel_bits() + 7) / 8; }
};

struct File {
  Header header;
  std::vector<uint8_t> palette;     ///< red, green, blue of each entry
  std::vector<uint8_t> compressed;  ///< the IDAT chunks together
};

/// A pass over the picture: every dx-th pixel of every dy-th row, from (x, y) on.
struct Pass {
  int64_t x, y, dx, dy;
};
constexpr Pass kWhole[] = {{0, 0, 1, 1}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

std::optional<Header> read_header(std::span<const uint8_t> chunk) {
  ByteReader in(chunk);
  Header h{.width = in.big(4), .height = in.big(4), .depth = in.byte(), .type = in.byte()};
  const uint8_t compression = in.byte(), filters = in.byte(), interlace = in.byte();
  h.interlaced = interlace == 1;
  const bool power = h.depth == 1 || h.depth == 2 || h.depth == 4;
  const bool fits = h.type == kGrey      ? power || h.depth == 8 || h.depth == 16
                    : h.type == kPalette ? power || h.depth == 8
                    : h.type == kColour || h.type == kGreyAlpha || h.type == kColourAlpha
                        ? h.depth == 8 || h.depth == 16
                        : false;
  if (!in.ok() || !fits || compression != 0 || filters != 0 || interlace > 1) return std::nullopt;
  if (h.width == 0 || h.height == 0 || h.width > INT32_MAX || h.height > INT32_MAX) return std::nullopt;
  return h;
}

/// Collects the chunks that matter; nothing when one is damaged or missing.
std::optional<File> read_chunks(Encoded stream) {
  ByteReader in(stream);
  in.skip(8);
  File file;
  for (bool first = true;; first = false) {
    const uint32_t size = in.big(4);
    const std::span<const uint8_t> name = in.take(4), data = in.take(size);
    const uint32_t checksum = in.big(4);
    if (!in.ok()) return std::nullopt;
    uLong computed = crc32_z(0, name.data(), name.size());
    computed = crc32_z(computed, data.data(), data.size());
    if (computed != checksum) return std::nullopt;
    const std::string_view type(reinterpret_cast<const char*>(name.data()), 4);
    if (first != (type == "IHDR")) return std::nullopt;
    if (first) {
      const std::optional<Header> h = read_header(data);
      if (!h) return std::nullopt;
      file.header = *h;
    } else if (type == "PLTE") {
      file.palette.assign(data.begin(), data.end());
    } else if (type == "IDAT") {
      file.compressed.insert(file.compressed.end(), data.begin(), data.end());
    } else if (type == "IEND") {
      return file;
    }
  }
}

std::span<const Pass> passes_of(const Header& h) {
  return h.interlaced ? std::span<const Pass>(kAdam7) : std::span<const Pass>(kWhole);
}
int64_t pass_extent(int64_t extent, int64_t first, int64_t step) {
  return extent > first ? (extent - first + step - 1) / step : 0;
}

/// Bytes of all filtered rows; nothing when 64 bits cannot count them.
std::optional<uint64_t> raw_bytes(const Header& h) {
  std::optional<uint64_t> total = 0;
  for (const Pass& p : passes_of(h)) {
    const int64_t width = pass_extent(h.width, p.x, p.dx), height = pass_extent(h.height, p.y, p.dy);
    const auto bytes = checked_product({static_cast<uint64_t>(height), width > 0 ? h.row_bytes(width) + 1 : 0});
    total = bytes ? checked_sum({*total, *bytes}) : std::nullopt;
    if (!total) return total;
  }
  return total;
}

/// Inflates exactly `size` bytes; nothing when there are fewer.
std::optional<std::vector<uint8_t>> inflate(const std::vector<uint8_t>& compressed, uint64_t size) {
  std::vector<uint8_t> raw(size);
  z_stream z = {};
  if (inflateInit(&z) != Z_OK) return std::nullopt;
  const uint8_t* from = compressed.data();
  uint8_t* to = raw.data();
  size_t in_left = compressed.size(), out_left = raw.size();
  int status = Z_OK;
  while (status == Z_OK && out_left > 0) {
    z.next_in = const_cast<Bytef*>(from);
    z.avail_in = static_cast<uInt>(std::min<size_t>(in_left, 1u << 30));
    z.next_out = to;
    z.avail_out = static_cast<uInt>(std::min<size_t>(out_left, 1u << 30));
    status = ::inflate(&z, Z_NO_FLUSH);
    in_left -= static_cast<size_t>(z.next_in - from);
    out_left -= static_cast<size_t>(z.next_out - to);
    from = z.next_in;
    to = z.next_out;
  }
  inflateEnd(&z);
  if (out_left > 0) return std::nullopt;
  return raw;
}

uint8_t paeth(uint8_t left, uint8_t up, uint8_t corner) {
  const int p = left + up - corner;
  const int a = std::abs(p - left), b = std::abs(p - up), c = std::abs(p - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/// Takes the filter off a row, in place; `above` is the row before, or zeros. False for an unknown filter.
bool unfilter(uint8_t filter, std::span<uint8_t> row, const uint8_t* above, size_t step) {
  if (filter > 4) return false;
  for (size_t i = 0; i < row.size(); ++i) {
    const uint8_t left = i >= step ? row[i - step] : 0, up = above[i],
                  corner = i >= step ? above[i - step] : 0;
    const int guess = filter == 1   ? left
                      : filter == 2 ? up
                      : filter == 3 ? (left + up) / 2
                      : filter == 4 ? paeth(left, up, corner)
                                    : 0;
    row[i] = static_cast<uint8_t>(row[i] + guess);
  }
  return true;
}

/// Sample i of a row as a byte; for a palette the index.
uint8_t sample(const Header& h, const uint8_t* row, size_t i) {
  if (h.depth == 8) return row[i];
  if (h.depth == 16) return row[2 * i];
  const size_t per_byte = 8 / h.depth, shift = 8 - h.depth * (i % per_byte + 1);
  const uint32_t most = (1u << h.depth) - 1, value = row[i / per_byte] >> shift & most;
  return h.type == kPalette ? static_cast<uint8_t>(value) : scaled_to_byte(value, most);
}

/// Sets one pixel from its place in a row; false for an index beyond the palette.
bool set_pixel(const File& f, const uint8_t* row, int64_t i, Picture& picture, int64_t x, int64_t y) {
  const Header& h = f.header;
  const size_t at = static_cast<size_t>(i) * h.channels();
  const uint8_t first = sample(h, row, at);
  if (h.type == kPalette) {
    if (size_t{first} * 3 + 2 >= f.palette.size()) return false;
    const uint8_t* entry = f.palette.data() + size_t{first} * 3;
    picture.set(x, y, entry[0], entry[1], entry[2]);
  } else if (h.channels() >= 3) {
    picture.set(x, y, first, sample(h, row, at + 1), sample(h, row, at + 2));
  } else {
    picture.set(x, y, first, first, first);
  }
  return true;
}

bool read_pass(const File& f, const Pass& p, uint8_t*& raw, Picture& picture) {
  const Header& h = f.header;
  const int64_t width = pass_extent(h.width, p.x, p.dx), height = pass_extent(h.height, p.y, p.dy);
  if (width == 0) return true;
  const size_t bytes = h.row_bytes(width), step = std::max<size_t>(1, h.pixel_bits() / 8);
  const std::vector<uint8_t> zeros(bytes);
  const uint8_t* above = zeros.data();
  for (int64_t r = 0; r < height; ++r, raw += bytes + 1) {
    if (!unfilter(raw[0], {raw + 1, bytes}, above, step)) return false;
    above = raw + 1;
    for (int64_t i = 0; i < width; ++i)
      if (!set_pixel(f, above, i, picture, p.x + i * p.dx, p.y + r * p.dy)) return false;
  }
  return true;
}

}  // namespace

std::optional<Picture> decode_png(Encoded stream) {
  const std::optional<File> file = read_chunks(stream);
  if (!file) return std::nullopt;
  const Header& header = file->header;
  const std::optional<uint64_t> bytes = raw_bytes(header);
  if (!bytes || !can_inflate_to(file->compressed.size(), *bytes)) return std::nullopt;
  check_picture_size(header.width, header.height, 4 + (header.pixel_bits() + 7) / 8);
  std::optional<std::vector<uint8_t>> raw = inflate(file->compressed, *bytes);
  if (!raw) return std::nullopt;
  std::optional<Picture> picture = make_picture(header.width, header.height);
  uint8_t* at = raw->data();
  for (const Pass& p : passes_of(header))
    if (!read_pass(*file, p, at, *picture)) return std::nullopt;
  return picture;
}

}  // namespace assay
