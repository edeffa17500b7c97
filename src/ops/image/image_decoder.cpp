// ImageDecoder: an encoded picture (BMP, JPEG, JPEG 2000, PNG, PBM, PGM, PPM, TIFF, WebP) as [height, width,
// channels]. What cannot be decoded gives [0, 0, channels], as the specification says.
#include <algorithm>

#include "ops/image/picture.h"
#include "ops/op_context.h"
#include "ops/op_list.h"

namespace assay::op_onnx_ImageDecoder {
namespace {

enum class PixelFormat : uint8_t { kRgb, kBgr, kGrayscale };

PixelFormat read_format(const OpContext& c) {
  const std::string& name = c.attr_string("pixel_format");
  if (name == "RGB") return PixelFormat::kRgb;
  if (name == "BGR") return PixelFormat::kBgr;
  c.check(name == "Grayscale", "attribute 'pixel_format' is '{}'; it must be RGB, BGR or Grayscale", name);
  return PixelFormat::kGrayscale;
}

void infer(InferContext& c) {
  const int64_t channels = read_format(c) == PixelFormat::kGrayscale ? 1 : 3;
  c.check(c.input_rank(0) < 0 || c.input_rank(0) == 1, "the stream has rank {}; it must have one dimension",
          c.input_rank(0));
  c.set_output(0, DType::kUInt8, {Dim(), Dim(), Dim(channels)});
}

/// Rec. 601 luma, rounded.
uint8_t luma(const uint8_t* p) {
  return static_cast<uint8_t>((19595u * p[0] + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16);
}

void eval(EvalContext& c) {
  const PixelFormat format = read_format(c);
  const int64_t channels = format == PixelFormat::kGrayscale ? 1 : 3;
  c.check(c.input(0).rank() == 1, "the stream has shape {}; it must have one dimension", c.shape(0).str());
  c.check(c.input(0).dtype() == DType::kUInt8, "the stream is of {}; it must be of bytes",
          dtype_name(c.input(0).dtype()));
  const std::optional<Picture> picture = decode_picture(c.input(0).span<uint8_t>());
  if (!picture) return c.set_output(0, Tensor::allocate(DType::kUInt8, {0, 0, channels}));
  Tensor y = Tensor::allocate(DType::kUInt8, {picture->height, picture->width, channels});
  const uint8_t* from = picture->pixels.data();
  auto* to = y.mutable_data<uint8_t>();
  for (int64_t i = 0; i < picture->width * picture->height; ++i, from += 3, to += channels) {
    if (format == PixelFormat::kGrayscale)
      *to = luma(from);
    else if (format == PixelFormat::kBgr)
      std::reverse_copy(from, from + 3, to);
    else
      std::copy_n(from, 3, to);
  }
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {20, R"(
in  encoded_stream: T1
out image: T2
attr pixel_format: string = "RGB"
type T1: uint8
type T2: uint8)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {.domain = "", .name = "ImageDecoder", .versions = kVersions};

}  // namespace assay::op_onnx_ImageDecoder
