#include "ops/image/jpeg2000_cost.h"

#include <algorithm>

#include "assay/error.h"
#include "base/byte_reader.h"

namespace assay {
namespace {

/// Marker segments (ISO/IEC 15444-1, annex A).
constexpr uint8_t kSize = 0x51, kCoding = 0x52, kComponentCoding = 0x53;

/// Red, green, blue and opacity, and some more that are ignored.
constexpr uint32_t kMaxComponents = 16;
/// A tile takes a header of 12 bytes and a marker of 2 in the stream.
constexpr uint64_t kTileBytes = 14;
/// Memory that the library needs besides a sample's 4 bytes, twice: for each tile and component, code block
/// and precinct.
constexpr uint64_t kPerTile = 6000, kPerTileComponent = 1200, kPerBlock = 200, kPerPrecinct = 400;

struct Claims {
  uint64_t width = 0, height = 0, tiles = 0;
  uint32_t components = 0;
};

uint64_t steps(uint64_t extent, uint64_t step) { return (extent + step - 1) / step; }

/// A SIZ segment; nothing when the bytes are none.
std::optional<Claims> read_size(ByteReader in) {
  const uint32_t length = in.big(2);
  in.skip(2);
  const uint64_t x1 = in.big(4), y1 = in.big(4), x0 = in.big(4), y0 = in.big(4);
  const uint64_t tile_width = in.big(4), tile_height = in.big(4), tile_x = in.big(4), tile_y = in.big(4);
  Claims c{.components = in.big(2)};
  const bool fits = in.ok() && length == 38 + 3 * c.components && x1 > x0 && y1 > y0 && tile_width > 0 &&
                    tile_height > 0 && tile_x <= x0 && tile_y <= y0;
  if (!fits) return std::nullopt;
  c.width = x1 - x0;
  c.height = y1 - y0;
  c.tiles = steps(x1 - tile_x, tile_width) * steps(y1 - tile_y, tile_height);  // each below 2^32
  return c;
}

/// The fewest samples of a block and of a precinct that a COD or COC segment allows.
struct Pieces {
  uint64_t block = 64 * 64, precinct = uint64_t{1} << 30;
};
void read_coding(ByteReader in, bool of_component, Pieces& pieces) {
  const uint32_t length = in.big(2);
  if (of_component) in.skip(1);  // one byte, for fewer than 257 components
  const bool has_precincts = (in.byte() & 1) != 0;
  if (!of_component) in.skip(4);
  const uint32_t levels = in.byte(), block_width = in.byte(), block_height = in.byte();
  in.skip(2);
  const uint32_t expected = (of_component ? 9 : 12) + (has_precincts ? levels + 1 : 0);
  if (!in.ok() || levels > 32 || block_width > 8 || block_height > 8 || length != expected) return;
  pieces.block = std::min(pieces.block, uint64_t{1} << (block_width + block_height + 4));
  for (uint32_t i = 0; has_precincts && i <= levels; ++i) {
    const uint32_t extents = in.byte();
    if (!in.ok()) return;
    const uint64_t samples = uint64_t{1} << ((extents & 15) + (extents >> 4));
    pieces.precinct = std::min(pieces.precinct, samples);
    pieces.block = std::min(pieces.block, samples);  // blocks do not reach beyond their precinct
  }
}

void check(const Claims& c, const Pieces& pieces, size_t stream_bytes) {
  require(c.components <= kMaxComponents, ErrorCode::kInvalidArgument,
          "the JPEG 2000 picture has {} components; up to {} are read", c.components, kMaxComponents);
  require(c.tiles <= stream_bytes / kTileBytes, ErrorCode::kInvalidArgument,
          "the JPEG 2000 picture claims {} tiles in {} bytes", c.tiles, stream_bytes);
  check_picture_size(static_cast<int64_t>(c.width), static_cast<int64_t>(c.height),
                     3 + 8 * int64_t{c.components});
  const uint64_t samples = c.width * c.height * c.components;  // below 2^31, by the check above
  const uint64_t bytes = samples * 8 + samples / pieces.block * kPerBlock +
                         samples / pieces.precinct * kPerPrecinct +
                         c.tiles * (kPerTile + c.components * kPerTileComponent);
  const auto most = static_cast<uint64_t>(most_picture_bytes());
  require(bytes <= most, ErrorCode::kInvalidArgument,
          "decoding the JPEG 2000 picture takes some {} bytes, more than the {} that it may", bytes, most);
}

}  // namespace

void check_jpeg2000_cost(Encoded stream) {
  // The library finds the headers among boxes and unknown segments; whatever looks like one has to be
  // acceptable.
  Pieces pieces;
  std::optional<Claims> claims;
  for (size_t i = 0; i + 1 < stream.size(); ++i) {
    if (stream[i] != 0xFF) continue;
    const ByteReader in(stream.subspan(i + 2));
    if (stream[i + 1] == kCoding || stream[i + 1] == kComponentCoding)
      read_coding(in, stream[i + 1] == kComponentCoding, pieces);
    if (stream[i + 1] != kSize) continue;
    const std::optional<Claims> found = read_size(in);
    if (!found) continue;
    if (!claims) claims = found;
    claims->width = std::max(claims->width, found->width);
    claims->height = std::max(claims->height, found->height);
    claims->tiles = std::max(claims->tiles, found->tiles);
    claims->components = std::max(claims->components, found->components);
  }
  if (claims) check(*claims, pieces, stream.size());
}

}  // namespace assay
