// JPEG 2000, as a JP2 file or a bare codestream, by libopenjp2, of which the build needs the header only.
// Components of more than 8 bits keep the high ones; smaller components are repeated.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/image/image_library.h"
#include "ops/image/jpeg2000_cost.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

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
  decltype(&opj_create_decompress) create;
  decltype(&opj_destroy_codec) destroy;
  decltype(&opj_set_default_decoder_parameters) default_parameters;
  decltype(&opj_setup_decoder) set_up;
  decltype(&opj_stream_create) create_stream;
  decltype(&opj_stream_destroy) destroy_stream;
  decltype(&opj_stream_set_read_function) set_read;
  decltype(&opj_stream_set_skip_function) set_skip;
  decltype(&opj_stream_set_seek_function) set_seek;
  decltype(&opj_stream_set_user_data) set_data;
  decltype(&opj_stream_set_user_data_length) set_length;
  decltype(&opj_read_header) read_header;
  decltype(&opj_decode) decode;
  decltype(&opj_end_decompress) end;
  decltype(&opj_image_destroy) destroy_image;
};

struct Stream {
  Encoded bytes;
  size_t at = 0;
};

OPJ_SIZE_T read(void* to, OPJ_SIZE_T size, void* user) {
  auto& s = *static_cast<Stream*>(user);
  const size_t n = std::min(size, s.bytes.size() - s.at);
  if (n == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, s.bytes.data() + s.at, n);
  s.at += n;
  return n;
}
OPJ_OFF_T skip(OPJ_OFF_T size, void* user) {
  auto& s = *static_cast<Stream*>(user);
  if (size < 0) return -1;
  const size_t n = std::min(static_cast<size_t>(size), s.bytes.size() - s.at);
  s.at += n;
  return static_cast<OPJ_OFF_T>(n);
}
OPJ_BOOL seek(OPJ_OFF_T position, void* user) {
  auto& s = *static_cast<Stream*>(user);
  if (position < 0 || static_cast<uint64_t>(position) > s.bytes.size()) return OPJ_FALSE;
  s.at = static_cast<size_t>(position);
  return OPJ_TRUE;
}

/// The component's sample at a place of the picture, as a byte.
uint8_t sample(const opj_image_comp_t& c, int64_t x, int64_t y) {
  const auto column = std::min<size_t>(static_cast<size_t>(x) / c.dx, c.w - 1);
  const auto row = std::min<size_t>(static_cast<size_t>(y) / c.dy, c.h - 1);
  int64_t value = c.data[row * c.w + column];
  if (c.sgnd != 0) value += int64_t{1} << (c.prec - 1);
  if (c.prec > 8) value >>= c.prec - 8;
  const uint32_t most = c.prec >= 8 ? 255 : (1u << c.prec) - 1;
  return scaled_to_byte(static_cast<uint32_t>(std::clamp<int64_t>(value, 0, most)), most);
}

uint8_t clamped(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

bool is_usable(const opj_image_t& image) {
  for (uint32_t k = 0; k < std::min<uint32_t>(image.numcomps, 3); ++k) {
    const opj_image_comp_t& c = image.comps[k];
    if (c.data == nullptr || c.w == 0 || c.h == 0 || c.dx == 0 || c.dy == 0 || c.prec == 0 || c.prec > 31)
      return false;
  }
  return image.numcomps > 0 && image.x1 > image.x0 && image.y1 > image.y0;
}

void copy_pixels(const opj_image_t& image, Picture& picture) {
  const bool colour = image.numcomps >= 3, ycc = colour && image.color_space == OPJ_CLRSPC_SYCC;
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x) {
      const uint8_t a = sample(image.comps[0], x, y);
      const uint8_t b = colour ? sample(image.comps[1], x, y) : a;
      const uint8_t c = colour ? sample(image.comps[2], x, y) : a;
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
  const std::unique_ptr<opj_codec_t, decltype(jpeg.destroy)> codec(
      jpeg.create(bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2), jpeg.destroy);
  const std::unique_ptr<opj_stream_t, decltype(jpeg.destroy_stream)> stream(
      jpeg.create_stream(1 << 20, OPJ_TRUE), jpeg.destroy_stream);
  if (!codec || !stream) return std::nullopt;
  Stream source{bytes};
  jpeg.set_read(stream.get(), read);
  jpeg.set_skip(stream.get(), skip);
  jpeg.set_seek(stream.get(), seek);
  jpeg.set_data(stream.get(), &source, nullptr);
  jpeg.set_length(stream.get(), bytes.size());
  opj_dparameters_t parameters;
  jpeg.default_parameters(&parameters);
  opj_image_t* header = nullptr;
  if (jpeg.set_up(codec.get(), &parameters) == OPJ_FALSE) return std::nullopt;
  const bool begun = jpeg.read_header(stream.get(), codec.get(), &header) != OPJ_FALSE;
  const std::unique_ptr<opj_image_t, decltype(jpeg.destroy_image)> image(header, jpeg.destroy_image);
  if (!begun || !image || image->x1 <= image->x0 || image->y1 <= image->y0) return std::nullopt;
  std::optional<Picture> picture = make_picture(image->x1 - image->x0, image->y1 - image->y0);
  if (jpeg.decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE ||
      jpeg.end(codec.get(), stream.get()) == OPJ_FALSE || !is_usable(*image))
    return std::nullopt;
  copy_pixels(*image, *picture);
  return picture;
}

}  // namespace assay
