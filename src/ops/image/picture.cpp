#include "ops/image/picture.h"

#include <algorithm>
#include <string_view>

#include "assay/error.h"
#include "base/memory_limit.h"

namespace assay {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 27;

bool begins_with(Encoded stream, std::string_view magic, size_t at = 0) {
  return stream.size() >= at + magic.size() &&
         std::equal(magic.begin(), magic.end(), stream.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

}  // namespace

int64_t most_picture_bytes() { return std::min(int64_t{2} << 30, memory_limit()); }

void check_picture_size(int64_t width, int64_t height, int64_t bytes_per_pixel) {
  require(height <= kMaxPixels / width, ErrorCode::kInvalidArgument,
          "a picture of {} x {} pixels is larger than {} million", width, height, kMaxPixels >> 20);
  const int64_t most = most_picture_bytes();
  require(width * height <= most / bytes_per_pixel, ErrorCode::kInvalidArgument,
          "decoding a picture of {} x {} pixels takes more than the {} bytes that it may", width, height,
          most);
}

std::optional<Picture> make_picture(int64_t width, int64_t height) {
  if (width <= 0 || height <= 0) return std::nullopt;
  check_picture_size(width, height, 3);
  Picture p{.width = width, .height = height, .pixels = {}};
  p.pixels.resize(static_cast<size_t>(width * height * 3));
  return p;
}

std::optional<Picture> decode_picture(Encoded stream) {
  using namespace std::string_view_literals;
  if (begins_with(stream, "\x89PNG\r\n\x1A\n"sv)) return decode_png(stream);
  if (begins_with(stream, "\xFF\xD8\xFF"sv)) return decode_jpeg(stream);
  if (begins_with(stream, "\0\0\0\x0CjP  \r\n\x87\n"sv) || begins_with(stream, "\xFF\x4F\xFF\x51"sv))
    return decode_jpeg2000(stream);
  if (begins_with(stream, "II*\0"sv) || begins_with(stream, "MM\0*"sv) || begins_with(stream, "II+\0"sv) ||
      begins_with(stream, "MM\0+"sv))
    return decode_tiff(stream);
  if (begins_with(stream, "RIFF"sv) && begins_with(stream, "WEBP"sv, 8)) return decode_webp(stream);
  if (begins_with(stream, "BM"sv)) return decode_bmp(stream);
  if (stream.size() > 2 && stream[0] == 'P' && stream[1] >= '1' && stream[1] <= '6')
    return decode_pnm(stream);
  return std::nullopt;
}

}  // namespace assay
