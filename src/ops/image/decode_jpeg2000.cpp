// JPEG 2000, as a JP2 file or a bare codestream, by libopenjp2. Components of more than 8 bits keep the high
// ones; smaller components are repeated.
#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/image/image_library.h"
#include "ops/image/jpeg2000_cost.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

/// One colour of a decoded picture, as the library lays it out (ABI 7, OpenJPEG 2.1 and later).
struct Component {
  uint32_t dx, dy, width, height, x0, y0, precision, bits, is_signed, resolutions, factor;
  int32_t* data;
  uint16_t alpha;
};
struct Image {
  uint32_t x0, y0, x1, y1, component_count;
  int32_t colour_space;
  Component* components;
  uint8_t* profile;
  uint32_t profile_size;
};

struct OpenJpeg {
  OpenJpeg() : library("JPEG 2000", "libopenjp2-7", {"libopenjp2.so.7", "libopenjp2.dylib"}) {
    library.find("opj_create_decompress", create);
    library.find("opj_destroy_codec", destroy);
    library.find("opj_set_default_decoder_parameters", default_parameters);
    library.find("opj_setup_decoder", set_up);
    library.find("opj_stream_create", create_stream);
    library.find("opj_stream_destroy", destroy_stream);
    library.find("opj_stream_set_read_function", set_read);
    library.find("opj_stream_set_skip_function", set_skip);
    library.find("opj_stream_set_seek_function", set_seek);
    library.find("opj_stream_set_user_data", set_data);
    library.find("opj_stream_set_user_data_length", set_length);
    library.find("opj_read_header", read_header);
    library.find("opj_decode", decode);
    library.find("opj_end_decompress", end);
    library.find("opj_image_destroy", destroy_image);
  }

  ImageLibrary library;
  void* (*create)(int format);
  void (*destroy)(void* codec);
  void (*default_parameters)(void* parameters);
  int (*set_up)(void* codec, void* parameters);
  void* (*create_stream)(size_t buffer, int is_input);
  void (*destroy_stream)(void* stream);
  void (*set_read)(void* stream, size_t (*)(void* to, size_t size, void* user));
  void (*set_skip)(void* stream, int64_t (*)(int64_t size, void* user));
  void (*set_seek)(void* stream, int (*)(int64_t position, void* user));
  void (*set_data)(void* stream, void* user, void (*release)(void*));
  void (*set_length)(void* stream, uint64_t size);
  int (*read_header)(void* stream, void* codec, Image** image);
  int (*decode)(void* codec, void* stream, Image* image);
  int (*end)(void* codec, void* stream);
  void (*destroy_image)(Image* image);
};

constexpr int kCodestream = 0, kJp2File = 2;
constexpr int32_t kSpaceYcc = 3;
/// The parameters are a structure of some 8300 bytes that only the library fills and reads.
constexpr size_t kParameterBytes = 16384;

struct Stream {
  Encoded bytes;
  size_t at = 0;
};

size_t read(void* to, size_t size, void* user) {
  auto& s = *static_cast<Stream*>(user);
  const size_t n = std::min(size, s.bytes.size() - s.at);
  if (n == 0) return static_cast<size_t>(-1);
  std::memcpy(to, s.bytes.data() + s.at, n);
  s.at += n;
  return n;
}
int64_t skip(int64_t size, void* user) {
  auto& s = *static_cast<Stream*>(user);
  if (size < 0) return -1;
  const size_t n = std::min(static_cast<size_t>(size), s.bytes.size() - s.at);
  s.at += n;
  return static_cast<int64_t>(n);
}
int seek(int64_t position, void* user) {
  auto& s = *static_cast<Stream*>(user);
  if (position < 0 || static_cast<uint64_t>(position) > s.bytes.size()) return 0;
  s.at = static_cast<size_t>(position);
  return 1;
}

/// The component's sample at a place of the picture, as a byte.
uint8_t sample(const Component& c, int64_t x, int64_t y) {
  const auto column = std::min<size_t>(static_cast<size_t>(x) / c.dx, c.width - 1);
  const auto row = std::min<size_t>(static_cast<size_t>(y) / c.dy, c.height - 1);
  int64_t value = c.data[row * c.width + column];
  if (c.is_signed != 0) value += int64_t{1} << (c.precision - 1);
  if (c.precision > 8) value >>= c.precision - 8;
  const uint32_t most = c.precision >= 8 ? 255 : (1u << c.precision) - 1;
  return scaled_to_byte(static_cast<uint32_t>(std::clamp<int64_t>(value, 0, most)), most);
}

uint8_t clamped(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

bool is_usable(const Image& image) {
  for (uint32_t k = 0; k < std::min<uint32_t>(image.component_count, 3); ++k) {
    const Component& c = image.components[k];
    if (c.data == nullptr || c.width == 0 || c.height == 0 || c.dx == 0 || c.dy == 0 || c.precision == 0 ||
        c.precision > 31)
      return false;
  }
  return image.component_count > 0 && image.x1 > image.x0 && image.y1 > image.y0;
}

void copy_pixels(const Image& image, Picture& picture) {
  const bool colour = image.component_count >= 3, ycc = colour && image.colour_space == kSpaceYcc;
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x) {
      const uint8_t a = sample(image.components[0], x, y);
      const uint8_t b = colour ? sample(image.components[1], x, y) : a;
      const uint8_t c = colour ? sample(image.components[2], x, y) : a;
      if (!ycc) {
        picture.set(x, y, a, b, c);
        continue;
      }
      const double blue = b - 128.0, red = c - 128.0;
      picture.set(x, y, clamped(a + 1.402 * red), clamped(a - 0.344136 * blue - 0.714136 * red),
                  clamped(a + 1.772 * blue));
    }
}

}  // namespace

std::optional<Picture> decode_jpeg2000(Encoded bytes) {
  check_jpeg2000_cost(bytes);
  static const OpenJpeg jpeg;
  const bool bare = bytes.size() > 1 && bytes[0] == 0xFF;
  const std::unique_ptr<void, void (*)(void*)> codec(jpeg.create(bare ? kCodestream : kJp2File),
                                                     jpeg.destroy);
  const std::unique_ptr<void, void (*)(void*)> stream(jpeg.create_stream(1 << 20, 1), jpeg.destroy_stream);
  if (!codec || !stream) return std::nullopt;
  Stream source{bytes};
  jpeg.set_read(stream.get(), read);
  jpeg.set_skip(stream.get(), skip);
  jpeg.set_seek(stream.get(), seek);
  jpeg.set_data(stream.get(), &source, nullptr);
  jpeg.set_length(stream.get(), bytes.size());
  std::vector<uint64_t> parameters(kParameterBytes / sizeof(uint64_t));
  jpeg.default_parameters(parameters.data());
  Image* header = nullptr;
  if (jpeg.set_up(codec.get(), parameters.data()) == 0) return std::nullopt;
  const bool begun = jpeg.read_header(stream.get(), codec.get(), &header) != 0;
  const std::unique_ptr<Image, void (*)(Image*)> image(header, jpeg.destroy_image);
  if (!begun || !image || image->x1 <= image->x0 || image->y1 <= image->y0) return std::nullopt;
  std::optional<Picture> picture = make_picture(image->x1 - image->x0, image->y1 - image->y0);
  if (jpeg.decode(codec.get(), stream.get(), image.get()) == 0 || jpeg.end(codec.get(), stream.get()) == 0 ||
      !is_usable(*image))
    return std::nullopt;
  copy_pixels(*image, *picture);
  return picture;
}

}  // namespace assay
