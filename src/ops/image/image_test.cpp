#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "base/base64.h"
#include "base/memory_limit.h"
#include "ops/image/jpeg2000_cost.h"
#include "ops/image/picture.h"
#include "ops/op_test_util.h"

namespace assay::image_test {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }
void append(Bytes& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }
void append_number(Bytes& to, uint32_t value, int bytes, bool little) {
  for (int i = 0; i < bytes; ++i)
    to.push_back(static_cast<uint8_t>(value >> 8 * (little ? i : bytes - 1 - i)));
}

/// Every beginning of the stream, and the stream with each byte changed, must decode to something or to
/// nothing.
void expect_no_crash(const Bytes& stream, std::optional<Picture> (*decode)(Encoded)) {
  for (size_t n = 0; n < stream.size(); ++n) decode({stream.data(), n});
  for (size_t i = 0; i < stream.size(); ++i)
    for (const uint8_t flip : {0x01, 0x80, 0xFF}) {
      Bytes broken = stream;
      broken[i] ^= flip;
      try {
        decode(broken);
      } catch (const Error&) {  // an extent that became too large
      }
    }
}

TEST(Pnm, TextAndBytesOfEveryKind) {
  const auto pixels = [](std::string_view text) { return decode_pnm(bytes_of(text))->pixels; };
  EXPECT_EQ(pixels("P1 # bitmap\n2 1\n10"), (Bytes{0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(pixels("P2\n2 # wide\n1 4\n0 3\n"), (Bytes{0, 0, 0, 191, 191, 191}));
  EXPECT_EQ(pixels("P3 1 1 255 1 2 3"), (Bytes{1, 2, 3}));
  EXPECT_EQ(pixels(std::string_view("P4 9 1\n\x80\x80", 9)).size(), 27u);
  EXPECT_EQ(pixels(std::string_view("P5 1 1 65535 \x80\x00", 15)), (Bytes{128, 128, 128}));
  EXPECT_EQ(pixels("P6 1 1 255\nabc"), (Bytes{'a', 'b', 'c'}));
  EXPECT_EQ(pixels("P2 1 1 255 16777216"), (Bytes{255, 255, 255})) << "no sample is brighter than white";
}

TEST(Pnm, DamageGivesNothing) {
  for (const char* text : {"P6 2 1 255\nabc", "P3 1 1 255 1 2", "P1 2 1 12", "P5 0 1 255 a", "P5 1 1 0 a",
                           "P5 1 1 70000 a", "P5 -1 1 255 a", "P5 9999999999 1 255 a", "P5", "P2 1 1 255 x"})
    EXPECT_FALSE(decode_pnm(bytes_of(text))) << text;
}

/// A BMP of 24 bits: 2 x 2, from the bottom, rows padded to 8 bytes.
Bytes small_bmp() {
  Bytes b = bytes_of("BM");
  for (const uint32_t v : {54u + 16u, 0u, 54u, 40u, 2u, 2u}) append_number(b, v, 4, true);
  append_number(b, 1, 2, true);
  append_number(b, 24, 2, true);
  for (int i = 0; i < 6; ++i) append_number(b, 0, 4, true);
  append(b, std::string_view("\x01\x02\x03\x04\x05\x06\0\0", 8));
  append(b, std::string_view("\x07\x08\x09\x0A\x0B\x0C\0\0", 8));
  return b;
}

TEST(Bmp, RowsComeFromTheBottomAndColoursFromTheBlue) {
  const Bytes b = small_bmp();
  EXPECT_EQ(decode_bmp(b)->pixels, (Bytes{9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4}));
  Bytes top = b;
  top[22] = 0xFE;  // height -2
  top[23] = top[24] = top[25] = 0xFF;
  EXPECT_EQ(decode_bmp(top)->pixels, (Bytes{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10}));
  expect_no_crash(b, decode_bmp);
}

TEST(Bmp, RunsOfPaletteColours) {
  Bytes b = bytes_of("BM");
  for (const uint32_t v : {0u, 0u, 54u + 8u, 40u, 3u, 2u}) append_number(b, v, 4, true);
  append_number(b, 1, 2, true);
  append_number(b, 8, 2, true);
  for (const uint32_t v : {1u, 0u, 0u, 0u, 2u, 0u}) append_number(b, v, 4, true);
  append(b, std::string_view("\x01\x02\x03\0\x0A\x0B\x0C\0", 8));
  append(b, std::string_view("\x02\x01\x01\0\0\0", 6));      // bottom: two of colour 1, one of 0
  append(b, std::string_view("\0\x03\0\x01\0\0\0\x01", 8));  // top: the literals 0, 1, 0
  const Bytes zero = {3, 2, 1}, one = {12, 11, 10};
  Bytes wanted;
  for (const Bytes* c : {&zero, &one, &zero, &one, &one, &zero})
    wanted.insert(wanted.end(), c->begin(), c->end());
  EXPECT_EQ(decode_bmp(b)->pixels, wanted);
  expect_no_crash(b, decode_bmp);
}

/// A black BMP of any size in a few bytes.
Bytes bmp_of_runs(uint32_t width, uint32_t height) {
  Bytes b = bytes_of("BM");
  for (const uint32_t v : {0u, 0u, 54u + 8u, 40u, width, height}) append_number(b, v, 4, true);
  append_number(b, 1, 2, true);
  append_number(b, 8, 2, true);
  for (const uint32_t v : {1u, 0u, 0u, 0u, 2u, 0u}) append_number(b, v, 4, true);
  append(b, std::string_view("\0\0\0\0\0\0\0\0\0\1", 10));
  return b;
}

void append_chunk(Bytes& to, std::string_view type, const Bytes& data) {
  append_number(to, static_cast<uint32_t>(data.size()), 4, false);
  const size_t from = to.size();
  append(to, type);
  to.insert(to.end(), data.begin(), data.end());
  append_number(to, static_cast<uint32_t>(crc32(0, to.data() + from, static_cast<uInt>(to.size() - from))), 4,
                false);
}

Bytes png(uint32_t width, uint32_t height, uint8_t depth, uint8_t type, const Bytes& rows,
          const Bytes& palette = {}) {
  Bytes header, b = bytes_of("\x89PNG\r\n\x1A\n"), packed(compressBound(rows.size()));
  append_number(header, width, 4, false);
  append_number(header, height, 4, false);
  header.insert(header.end(), {depth, type, 0, 0, 0});
  uLongf size = packed.size();
  compress(packed.data(), &size, rows.data(), rows.size());
  packed.resize(size);
  append_chunk(b, "IHDR", header);
  if (!palette.empty()) append_chunk(b, "PLTE", palette);
  append_chunk(b, "IDAT", packed);
  append_chunk(b, "IEND", {});
  return b;
}

TEST(Png, TakesTheFiltersOff) {
  // Rows of grey: plain, left, up, mean, Paeth.
  const Bytes rows = {0, 10, 20, 1, 5, 5, 2, 1, 1, 3, 10, 10, 4, 1, 2};
  const std::optional<Picture> p = decode_png(png(2, 5, 8, 0, rows));
  ASSERT_TRUE(p);
  Bytes grey;
  for (size_t i = 0; i < p->pixels.size(); i += 3) grey.push_back(p->pixels[i]);
  EXPECT_EQ(grey, (Bytes{10, 20, 5, 10, 6, 11, 13, 22, 14, 24}));
}

TEST(Png, EveryKindOfPixel) {
  EXPECT_EQ(decode_png(png(1, 1, 8, 6, {0, 1, 2, 3, 0}))->pixels, (Bytes{1, 2, 3}));
  EXPECT_EQ(decode_png(png(1, 1, 16, 2, {0, 1, 99, 2, 99, 3, 99}))->pixels, (Bytes{1, 2, 3}));
  EXPECT_EQ(decode_png(png(1, 1, 8, 4, {0, 7, 0}))->pixels, (Bytes{7, 7, 7}));
  EXPECT_EQ(decode_png(png(2, 1, 2, 0, {0, 0x60}))->pixels, (Bytes{85, 85, 85, 170, 170, 170}));
  EXPECT_EQ(decode_png(png(2, 1, 1, 3, {0, 0x40}, {1, 2, 3, 4, 5, 6}))->pixels, (Bytes{1, 2, 3, 4, 5, 6}));
}

TEST(Png, DamageGivesNothing) {
  const Bytes good = png(2, 2, 8, 2, {0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12});
  for (size_t i = 8; i < good.size(); ++i) {
    Bytes broken = good;
    broken[i] ^= 0x10;
    EXPECT_FALSE(decode_png(broken)) << "byte " << i;  // a checksum tells
  }
  for (size_t n = 8; n < good.size(); ++n) EXPECT_FALSE(decode_png({good.data(), n})) << n << " bytes";
  EXPECT_FALSE(decode_png(png(1, 1, 8, 2, {5, 1, 2, 3})));                // no such filter
  EXPECT_FALSE(decode_png(png(1, 1, 8, 3, {0, 2}, {1, 2, 3, 4, 5, 6})));  // beyond the palette
  EXPECT_FALSE(decode_png(png(1, 1, 3, 0, {0, 0})));                      // no such depth
  EXPECT_FALSE(decode_png(png(2000000000, 2000000000, 8, 2, {0, 1, 2, 3})));
}

/// Pictures of 8 x 6 pixels whose colour grows to the right and down: 30 x + 20, 40 y + 10, 200.
constexpr std::string_view kJpeg =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsICQoK"
    "CgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK"
    "CgoKCgoKCgr/wAARCAAGAAgDAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF"
    "BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW"
    "V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi"
    "4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAEC"
    "AxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVm"
    "Z2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq"
    "8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDrv2XP+CWHw1P2b95Z9v8Almf8K/oni7xezX3tH/XzPlvo7ePGd/ufi6df+Cf/2Q==";
constexpr std::string_view kWebP =
    "UklGRjAAAABXRUJQVlA4TCMAAAAvB0ABALmM6H/sIore/wCRts3wlMy/xqMrOIfHIMcEKO26AQA=";
constexpr std::string_view kTiff =
    "SUkqAHgAAACABQFMgZQMoQM3QNGQNVQNkQNzQMKDKCRQoRQ3RRGRRVRSCMhzRQKFqCSQoSQ3SRGSRVSRkSRzSQKIKCTQoTQ3TRGT"
    "RVTRkTRzTQKKqCUQoUQ3URGURVURkURzUQKNKCVQoVQ3VRGVRVVRkVRzVSAgCgAAAQMAAQAAAAgAAAABAQMAAQAAAAYAAAACAQMA"
    "AwAAAPYAAAADAQMAAQAAAAUAAAAGAQMAAQAAAAIAAAARAQQAAQAAAAgAAAAVAQMAAQAAAAMAAAAWAQMAAQAAAAYAAAAXAQQAAQAA"
    "AHAAAAAcAQMAAQAAAAEAAAAAAAAACAAIAAgA";
constexpr std::string_view kJpeg2000 =
    "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABgAAAAgAAwcHAAAAAAAPY29scgEAAAAA"
    "ABAAAADEanAyY/9P/1EALwAAAAAACAAAAAYAAAAAAAAAAAAAAAgAAAAGAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAAIEBAAB"
    "/1wACkBASEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAARgAB/5PPtBQJFVS938+0"
    "FAZBuTU/z7QQAdeJQ8faCAANAv9/oD4QwAj/f4DB84QAG+2nf6H1AgAMvygegP/Z";

/// Decodes where the library is installed; the picture must be near the colours above.
void expect_gradient(std::string_view base64, int tolerance, std::optional<Picture> (*decode)(Encoded)) {
  const std::string text = base64_decode(base64);
  const Bytes stream = bytes_of(text);
  std::optional<Picture> p;
  try {
    p = decode(stream);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kUnsupported) GTEST_SKIP() << e.what();
    throw;
  }
  ASSERT_TRUE(p);
  ASSERT_EQ(p->width, 8);
  ASSERT_EQ(p->height, 6);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 8; ++x) {
      EXPECT_NEAR(p->row(y)[3 * x], 30 * x + 20, tolerance);
      EXPECT_NEAR(p->row(y)[3 * x + 1], 40 * y + 10, tolerance);
      EXPECT_NEAR(p->row(y)[3 * x + 2], 200, tolerance);
    }
  EXPECT_FALSE(decode({stream.data(), stream.size() / 2}));
  expect_no_crash(stream, decode);
}

TEST(Jpeg, DecodesByItsLibrary) { expect_gradient(kJpeg, 8, decode_jpeg); }
TEST(WebP, DecodesByItsLibrary) { expect_gradient(kWebP, 0, decode_webp); }
TEST(Tiff, DecodesByItsLibrary) { expect_gradient(kTiff, 0, decode_tiff); }
TEST(Jpeg2000, DecodesByItsLibrary) { expect_gradient(kJpeg2000, 0, decode_jpeg2000); }

/// The first segments of a JPEG 2000 codestream.
Bytes jpeg2000_header(uint32_t extent, uint32_t tile, uint32_t components, uint32_t block = 4) {
  Bytes b = {0xFF, 0x4F, 0xFF, 0x51};
  append_number(b, 38 + 3 * components, 2, false);
  append_number(b, 0, 2, false);
  for (const uint32_t v : {extent, extent, 0u, 0u, tile, tile, 0u, 0u}) append_number(b, v, 4, false);
  append_number(b, components, 2, false);
  for (uint32_t i = 0; i < components; ++i) b.insert(b.end(), {7, 1, 1});
  append(b, std::string_view("\xFF\x52\0\x0C\0\0\0\1\0\1", 10));
  append_number(b, block << 8 | block, 2, false);
  append(b, std::string_view("\0\1", 2));
  return b;
}

TEST(Jpeg2000, WhatItClaimsIsCheckedBeforeTheLibraryAllocates) {
  const auto error_of = [](const Bytes& stream) -> std::string {
    try {
      check_jpeg2000_cost(stream);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(jpeg2000_header(8, 8, 3)), "");
  EXPECT_EQ(error_of(bytes_of(base64_decode(kJpeg2000))), "");
  EXPECT_EQ(error_of(jpeg2000_header(8, 8, 16384)),
            "the JPEG 2000 picture has 16384 components; up to 16 are read");
  EXPECT_EQ(error_of(jpeg2000_header(60000, 8, 3)),
            "the JPEG 2000 picture claims 56250000 tiles in 65 bytes");
  EXPECT_EQ(error_of(jpeg2000_header(20000, 20000, 1)),
            "a picture of 20000 x 20000 pixels is larger than 128 million");
  EXPECT_NE(error_of(jpeg2000_header(8000, 8000, 4)).find("takes more than the"), std::string::npos);
  EXPECT_NE(error_of(jpeg2000_header(7000, 7000, 3, 0)).find("decoding the JPEG 2000 picture takes some"),
            std::string::npos);
  // Behind boxes and unknown segments, too.
  Bytes hidden = bytes_of("boxes, and anything at all ");
  for (const uint8_t b : jpeg2000_header(8, 8, 300)) hidden.push_back(b);
  EXPECT_EQ(error_of(hidden), "the JPEG 2000 picture has 300 components; up to 16 are read");
}

TEST(Pictures, KeepTheMemoryLimit) {
  set_memory_limit(1 << 20);
  EXPECT_THROW(decode_bmp(bmp_of_runs(1000, 1000)), Error);
  set_memory_limit(0);
  EXPECT_TRUE(decode_bmp(bmp_of_runs(1000, 1000)));
}

Tensor decode(const Bytes& stream, const std::string& format) {
  return run_op("ImageDecoder", 20, {Tensor::vector(stream)}, {{"pixel_format", format}})[0];
}

TEST(ImageDecoder, OrdersChannels) {
  const Bytes ppm = bytes_of("P3 2 1 255 10 20 30 255 255 255");
  EXPECT_TRUE(
      decode(ppm, "RGB").identical(Tensor::from<uint8_t>({1, 2, 3}, Bytes{10, 20, 30, 255, 255, 255})));
  EXPECT_TRUE(
      decode(ppm, "BGR").identical(Tensor::from<uint8_t>({1, 2, 3}, Bytes{30, 20, 10, 255, 255, 255})));
  EXPECT_TRUE(decode(ppm, "Grayscale").identical(Tensor::from<uint8_t>({1, 2, 1}, Bytes{18, 255})));
  EXPECT_THROW(decode(ppm, "rgb"), Error);
}

TEST(ImageDecoder, WhatItCannotDecodeIsEmpty) {
  EXPECT_EQ(decode(bytes_of("no picture"), "RGB").shape(), (Shape{0, 0, 3}));
  EXPECT_EQ(decode({}, "Grayscale").shape(), (Shape{0, 0, 1}));
  EXPECT_EQ(decode(bytes_of("P6 9 9 255\nab"), "BGR").shape(), (Shape{0, 0, 3}));
  EXPECT_THROW(run_op("ImageDecoder", 20, {Tensor::zeros(DType::kUInt8, {1, 1})}), Error);
}

TEST(ImageDecoder, InfersTheChannels) {
  EXPECT_EQ(infer_op("ImageDecoder", 20, {Type::tensor(DType::kUInt8, Dims{Dim()})}).str(), "uint8[?, ?, 3]");
}

}  // namespace
}  // namespace assay::image_test
