// TIFF, by libtiff: the first image of the file, in any of the library's compressions and colour spaces. The
// library multiplies colours by their opacity.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "ops/image/image_library.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

struct Tiff;  // the library's

/// libtiff 4.
struct TiffLibrary {
  using Handler = void (*)(const char*, const char*, va_list);

  TiffLibrary() : library("TIFF", "libtiff6", {"libtiff.so.6", "libtiff.so.5", "libtiff.dylib"}) {
    library.find("TIFFClientOpen", open);
    library.find("TIFFGetField", field);
    library.find("TIFFReadRGBAImageOriented", decode);
    library.find("TIFFClose", close);
    Handler (*set_errors)(Handler), (*set_warnings)(Handler);
    library.find("TIFFSetErrorHandler", set_errors);
    library.find("TIFFSetWarningHandler", set_warnings);
    // By default the library prints what it finds wrong.
    set_errors(nullptr);
    set_warnings(nullptr);
  }

  ImageLibrary library;
  Tiff* (*open)(const char* name, const char* mode, void* stream, int64_t (*read)(void*, void*, int64_t),
                int64_t (*write)(void*, void*, int64_t), uint64_t (*seek)(void*, uint64_t, int),
                int (*close)(void*), uint64_t (*size)(void*), int (*map)(void*, void**, uint64_t*),
                void (*unmap)(void*, void*, uint64_t));
  int (*field)(Tiff*, uint32_t tag, ...);
  int (*decode)(Tiff*, uint32_t width, uint32_t height, uint32_t* pixels, int orientation, int stop_on_error);
  void (*close)(Tiff*);
};

constexpr uint32_t kTagWidth = 256, kTagHeight = 257;
constexpr int kTopLeft = 1;

/// The stream as a file.
struct Stream {
  Encoded bytes;
  uint64_t at = 0;
};

int64_t read(void* stream, void* to, int64_t size) {
  auto& s = *static_cast<Stream*>(stream);
  if (s.at >= s.bytes.size() || size <= 0) return 0;
  const uint64_t n = std::min<uint64_t>(static_cast<uint64_t>(size), s.bytes.size() - s.at);
  std::memcpy(to, s.bytes.data() + s.at, n);
  s.at += n;
  return static_cast<int64_t>(n);
}
int64_t write(void*, void*, int64_t) { return 0; }
uint64_t seek(void* stream, uint64_t offset, int from) {
  auto& s = *static_cast<Stream*>(stream);
  s.at = offset + (from == SEEK_CUR ? s.at : from == SEEK_END ? s.bytes.size() : 0);
  return s.at;
}
int close(void*) { return 0; }
uint64_t size(void* stream) { return static_cast<Stream*>(stream)->bytes.size(); }
int map(void*, void**, uint64_t*) { return 0; }
void unmap(void*, void*, uint64_t) {}

}  // namespace

std::optional<Picture> decode_tiff(Encoded bytes) {
  static const TiffLibrary tiff;
  Stream stream{bytes};
  const std::unique_ptr<Tiff, void (*)(Tiff*)> file(
      tiff.open("stream", "r", &stream, read, write, seek, close, size, map, unmap), tiff.close);
  uint32_t width = 0, height = 0;
  if (!file || tiff.field(file.get(), kTagWidth, &width) == 0 ||
      tiff.field(file.get(), kTagHeight, &height) == 0)
    return std::nullopt;
  if (width == 0 || height == 0) return std::nullopt;
  check_picture_size(width, height, 3 + sizeof(uint32_t));
  std::optional<Picture> picture = make_picture(width, height);
  std::vector<uint32_t> pixels(static_cast<size_t>(width) * height);
  if (tiff.decode(file.get(), width, height, pixels.data(), kTopLeft, 1) == 0) return std::nullopt;
  for (size_t i = 0; i < pixels.size(); ++i)
    for (size_t k = 0; k < 3; ++k) picture->pixels[i * 3 + k] = static_cast<uint8_t>(pixels[i] >> (8 * k));
  return picture;
}

}  // namespace assay
