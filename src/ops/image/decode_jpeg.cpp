// JPEG, by libturbojpeg: the accurate integer transform, chroma interpolated ("fancy" upsampling), as the
// operator prescribes. Whatever the library warns of counts as damage.
#include <memory>

#include "ops/image/image_library.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

/// TurboJPEG 1.4 and later.
struct TurboJpeg {
  TurboJpeg()
      : library("JPEG", "libturbojpeg0", {"libturbojpeg.so.0", "libturbojpeg.so", "libturbojpeg.dylib"}) {
    library.find("tjInitDecompress", open);
    library.find("tjDecompressHeader3", read_header);
    library.find("tjDecompress2", decode);
    library.find("tjDestroy", close);
  }

  ImageLibrary library;
  void* (*open)();
  int (*read_header)(void*, const unsigned char*, unsigned long, int* width, int* height, int* sampling,
                     int* space);
  int (*decode)(void*, const unsigned char*, unsigned long, unsigned char* to, int width, int pitch,
                int height, int format, int flags);
  int (*close)(void*);
};

constexpr int kSpaceCmyk = 3, kSpaceYcck = 4;
constexpr int kPixelsRgb = 0, kPixelsCmyk = 11;
constexpr int kFlags = 4096 /* accurate */ | 8192 /* stop on warning */ | 32768 /* limit scans */;

/// CMYK as Adobe's programs store it: inverted, so that each colour is a product with the fourth.
void from_cmyk(const std::vector<uint8_t>& cmyk, Picture& picture) {
  for (size_t i = 0; i < cmyk.size() / 4; ++i)
    for (size_t k = 0; k < 3; ++k)
      picture.pixels[i * 3 + k] = static_cast<uint8_t>(cmyk[i * 4 + k] * cmyk[i * 4 + 3] / 255);
}

}  // namespace

std::optional<Picture> decode_jpeg(Encoded stream) {
  static const TurboJpeg jpeg;
  const std::unique_ptr<void, int (*)(void*)> codec(jpeg.open(), jpeg.close);
  int width = 0, height = 0, sampling = 0, space = 0;
  if (!codec ||
      jpeg.read_header(codec.get(), stream.data(), stream.size(), &width, &height, &sampling, &space) != 0)
    return std::nullopt;
  if (width <= 0 || height <= 0) return std::nullopt;
  const bool is_cmyk = space == kSpaceCmyk || space == kSpaceYcck;
  check_picture_size(width, height, is_cmyk ? 7 : 3);
  std::optional<Picture> picture = make_picture(width, height);
  std::vector<uint8_t> cmyk(is_cmyk ? static_cast<size_t>(width) * static_cast<size_t>(height) * 4 : 0);
  uint8_t* to = is_cmyk ? cmyk.data() : picture->pixels.data();
  if (jpeg.decode(codec.get(), stream.data(), stream.size(), to, width, 0, height,
                  is_cmyk ? kPixelsCmyk : kPixelsRgb, kFlags) != 0)
    return std::nullopt;
  if (is_cmyk) from_cmyk(cmyk, *picture);
  return picture;
}

}  // namespace assay
