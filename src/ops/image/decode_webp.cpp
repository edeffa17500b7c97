// WebP, by libwebp. Animations are not decoded.
#include "ops/image/image_library.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

struct WebP {
  WebP() : library("WebP", "libwebp7", {"libwebp.so.7", "libwebp.so.6", "libwebp.dylib"}) {
    library.find("WebPGetInfo", read_header);
    library.find("WebPDecodeRGBInto", decode);
  }

  ImageLibrary library;
  int (*read_header)(const uint8_t*, size_t, int* width, int* height);
  uint8_t* (*decode)(const uint8_t*, size_t, uint8_t* to, size_t size, int stride);
};

}  // namespace

std::optional<Picture> decode_webp(Encoded stream) {
  static const WebP webp;
  int width = 0, height = 0;
  if (webp.read_header(stream.data(), stream.size(), &width, &height) == 0) return std::nullopt;
  std::optional<Picture> picture = make_picture(width, height);
  if (!picture) return std::nullopt;
  if (webp.decode(stream.data(), stream.size(), picture->pixels.data(), picture->pixels.size(), width * 3) ==
      nullptr)
    return std::nullopt;
  return picture;
}

}  // namespace assay
