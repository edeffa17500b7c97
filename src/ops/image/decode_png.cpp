// PNG by libpng. Samples of 16 bits keep their high byte.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "base/bounds.h"
#include "ops/image/picture.h"

namespace assay {
namespace {

/// libpng leaves a function that fails with longjmp: what runs in steps() holds nothing that has a
/// destructor.
template <typename Steps>
bool succeeds(png_structp png, Steps steps) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  steps();
  return true;
}

class Reader {
 public:
  explicit Reader(Encoded stream) : left_(stream) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool read_header() {
    return info_ != nullptr && succeeds(png_, [&] {
             png_set_read_fn(png_, this, read);
             png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_picture_size() has its own
             png_read_info(png_, info_);
           });
  }
  int64_t width() const { return png_get_image_width(png_, info_); }
  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t pixel_bits() const {
    return int64_t{png_get_bit_depth(png_, info_)} * png_get_channels(png_, info_);
  }
  bool has_palette() const { return png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE; }

  /// Colours or, with a palette, its indices, into rows of a byte a sample.
  bool read_rows(png_bytepp rows) {
    return succeeds(png_, [&] {
      if (has_palette()) {
        png_set_packing(png_);
      } else {
        png_set_strip_16(png_);
        png_set_strip_alpha(png_);
        png_set_expand_gray_1_2_4_to_8(png_);
        png_set_gray_to_rgb(png_);
      }
      png_read_image(png_, rows);
      png_read_end(png_, nullptr);
    });
  }

  std::span<const png_color> palette() const {
    png_colorp entries = nullptr;
    int count = 0;
    png_get_PLTE(png_, info_, &entries, &count);
    return {entries, static_cast<size_t>(count)};
  }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp) { png_longjmp(png, 1); }
  static void ignore(png_structp, png_const_charp) {}
  static void read(png_structp png, png_bytep to, size_t size) {
    auto& left = static_cast<Reader*>(png_get_io_ptr(png))->left_;
    if (size > left.size()) png_error(png, "cut off");
    std::memcpy(to, left.data(), size);
    left = left.subspan(size);
  }

  Encoded left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

std::vector<png_bytep> rows_of(uint8_t* pixels, int64_t height, int64_t row_bytes) {
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < height; ++y) rows.push_back(pixels + y * row_bytes);
  return rows;
}

}  // namespace

std::optional<Picture> decode_png(Encoded stream) {
  Reader reader(stream);
  if (!reader.read_header()) return std::nullopt;
  const int64_t width = reader.width(), height = reader.height();
  const auto bits = checked_product({static_cast<uint64_t>(width), static_cast<uint64_t>(height),
                                     static_cast<uint64_t>(reader.pixel_bits())});
  if (!bits || !can_inflate_to(stream.size(), *bits / 8)) return std::nullopt;
  check_picture_size(width, height, 4 + (reader.pixel_bits() + 7) / 8);
  std::optional<Picture> picture = make_picture(width, height);
  if (!picture) return std::nullopt;
  if (!reader.has_palette()) {
    if (!reader.read_rows(rows_of(picture->pixels.data(), height, 3 * width).data())) return std::nullopt;
    return picture;
  }
  std::vector<uint8_t> indices(static_cast<size_t>(width * height));
  if (!reader.read_rows(rows_of(indices.data(), height, width).data())) return std::nullopt;
  const std::span<const png_color> palette = reader.palette();
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= palette.size()) return std::nullopt;
    const png_color& c = palette[indices[i]];
    const auto at = static_cast<int64_t>(i);
    picture->set(at % width, at / width, c.red, c.green, c.blue);
  }
  return picture;
}

}  // namespace assay
