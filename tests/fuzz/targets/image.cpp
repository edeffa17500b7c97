// Encoded pictures. JPEG, JPEG 2000, TIFF and WebP need their libraries, or are refused.
#include <zlib.h>

#include "assay/error.h"
#include "base/base64.h"
#include "fuzz/targets/target.h"
#include "ops/image/picture.h"

namespace assay::fuzz::target_image {
namespace {

void run(std::string_view input) {
  const std::optional<Picture> picture =
      decode_picture({reinterpret_cast<const uint8_t*>(input.data()), input.size()});
  if (!picture) return;
  require(picture->width > 0 && picture->height > 0 &&
              picture->pixels.size() == static_cast<size_t>(picture->width * picture->height * 3),
          ErrorCode::kInternal, "a picture of {} x {} has {} bytes", picture->width, picture->height,
          picture->pixels.size());
}

void append(std::string& out, uint32_t value, int bytes, bool little) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * (little ? i : bytes - 1 - i));
}

std::string bmp(uint32_t width, uint32_t height, uint32_t bits, uint32_t compression, std::string_view rest) {
  std::string b = "BM";
  for (const uint32_t v : {0u, 0u, 54u + (bits <= 8 ? 8u : 0u), 40u, width, height}) append(b, v, 4, true);
  append(b, 1, 2, true);
  append(b, bits, 2, true);
  for (const uint32_t v : {compression, 0u, 0u, 0u, 2u, 0u}) append(b, v, 4, true);
  return b.append(rest);
}

void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append(png, static_cast<uint32_t>(data.size()), 4, false);
  const size_t from = png.size();
  png.append(type).append(data);
  append(
      png,
      static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(png.data()) + from, png.size() - from)),
      4, false);
}

std::string png(uint32_t width, uint32_t height, int depth, int type, bool interlaced,
                const std::string& rows) {
  std::string header, out = "\x89PNG\r\n\x1A\n", packed(compressBound(rows.size()), '\0');
  append(header, width, 4, false);
  append(header, height, 4, false);
  for (const int v : {depth, type, 0, 0, interlaced ? 1 : 0}) header += static_cast<char>(v);
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
           rows.size());
  packed.resize(size);
  append_chunk(out, "IHDR", header);
  if (type == 3) append_chunk(out, "PLTE", std::string_view("\1\2\3\4\5\6", 6));
  append_chunk(out, "IDAT", packed);
  append_chunk(out, "IEND", {});
  return out;
}

std::string random_png(Random& r) {
  const auto extent = [&] { return static_cast<uint32_t>(r.chance(5) ? r.next() : r.below(12)); };
  std::string rows;
  for (size_t n = r.below(300); n > 0; --n) rows += static_cast<char>(r.chance(40) ? r.below(6) : r.next());
  return png(extent(), extent(), r.one_of({1, 2, 4, 8, 16}), r.one_of({0, 2, 3, 4, 6}), r.chance(40), rows);
}

/// A PNG whose checksums are right after a change within a chunk.
void repair_png(std::string& s) {
  const auto big = [&](size_t at) {
    uint32_t v = 0;
    for (size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<unsigned char>(s[at + i]);
    return v;
  };
  for (size_t at = 8; at + 12 <= s.size();) {
    const size_t size = big(at);
    if (size > s.size() - at - 12) return;
    std::string sum;
    append(sum,
           static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(s.data()) + at + 4, size + 4)), 4,
           false);
    s.replace(at + 8 + size, 4, sum);
    at += size + 12;
  }
}

/// A bare JPEG 2000 codestream's SIZ segment for this many components.
std::string jpeg2000_of(uint32_t extent, uint32_t tile, uint32_t components) {
  std::string s = "\xFF\x4F\xFF\x51";
  append(s, 38 + 3 * components, 2, false);
  append(s, 0, 2, false);
  for (const uint32_t v : {extent, extent, 0u, 0u, tile, tile, 0u, 0u}) append(s, v, 4, false);
  append(s, components, 2, false);
  for (uint32_t i = 0; i < components; ++i) s += "\x07\x01\x01";
  s.append(std::string_view("\xFF\x52\0\x0C\0\0\0\1\0\1\4\4\0\1\xFF\x5C\0\4\x40\x40", 20));
  return s;
}

constexpr std::string_view kJpeg2000 =
    "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABgAAAAgAAwcHAAAAAAAPY29scgEAAAAA"
    "ABAAAADEanAyY/9P/1EALwAAAAAACAAAAAYAAAAAAAAAAAAAAAgAAAAGAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAAIEBAAB"
    "/1wACkBASEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAARgAB/5PPtBQJFVS938+0"
    "FAZBuTU/z7QQAdeJQ8faCAANAv9/oD4QwAj/f4DB84QAG+2nf6H1AgAMvygegP/Z";
constexpr std::string_view kTiff =
    "SUkqAHgAAACABQFMgZQMoQM3QNGQNVQNkQNzQMKDKCRQoRQ3RRGRRVRSCMhzRQKFqCSQoSQ3SRGSRVSRkSRzSQKIKCTQoTQ3TRGT"
    "RVTRkTRzTQKKqCUQoUQ3URGURVURkURzUQKNKCVQoVQ3VRGVRVVRkVRzVSAgCgAAAQMAAQAAAAgAAAABAQMAAQAAAAYAAAACAQMA"
    "AwAAAPYAAAADAQMAAQAAAAUAAAAGAQMAAQAAAAIAAAARAQQAAQAAAAgAAAAVAQMAAQAAAAMAAAAWAQMAAQAAAAYAAAAXAQQAAQAA"
    "AHAAAAAcAQMAAQAAAAEAAAAAAAAACAAIAAgA";

std::vector<std::string> seeds() {
  return {
      "P1 # bitmap\n2 1\n10", "P2\n2 # wide\n1 4\n0 3\n", "P3 1 1 255 1 2 16777216",
      std::string("P4 9 1\n\x80\x80", 9), std::string("P5 1 1 65535 \x80\x00", 15), "P6 1 1 255\nabc",
      bmp(2, 2, 24, 0, std::string_view("\1\2\3\4\5\6\0\0\7\10\11\12\13\14\0\0", 16)),
      bmp(3, 2, 8, 1, std::string_view("\1\2\3\0\12\13\14\0\2\1\1\0\0\0\0\3\0\1\0\0\0\1", 22)),
      bmp(3, 1, 4, 2, std::string_view("\1\2\3\0\12\13\14\0\3\1\0\1", 12)),
      bmp(0x7FFFFFFF, 0x80000000, 32, 0, "x"),
      bmp(10000, 10000, 8, 1, std::string_view("\1\2\3\0\12\13\14\0\0\1", 10)),
      png(2, 2, 8, 2, false, std::string(14, '\0')), png(5, 5, 1, 3, true, std::string(20, '\0')),
      png(3, 1, 16, 6, false, std::string(25, '\4')),
      png(0x7FFFFFFF, 0x7FFFFFFF, 16, 6, true, std::string(25, '\0')),
      base64_decode("UklGRjAAAABXRUJQVlA4TCMAAAAvB0ABALmM6H/sIore/wCRts3wlMy/xqMrOIfHIMcEKO26AQA="),
      base64_decode(kTiff), base64_decode(kJpeg2000), jpeg2000_of(8, 8, 3),
      // Found: many components and tiles, for each of which the library takes memory before it has read any.
      jpeg2000_of(8, 8, 1300), jpeg2000_of(65535, 256, 3)};
}

void mutate(std::string& input, Random& r) {
  if (r.chance(15)) {
    input = random_png(r);
  } else if (r.chance(10)) {
    input = jpeg2000_of(static_cast<uint32_t>(1 + r.below(64)), static_cast<uint32_t>(1 + r.below(64)),
                        static_cast<uint32_t>(r.below(20)));
  } else {
    mutate_bytes(input, r, {});
    if (input.starts_with("\x89PNG") && r.chance(80)) repair_png(input);
  }
}

constexpr std::string_view kWords[] = {
    "P1 ",  "P6 ",  "BM",   "II*\0", "MM\0*", "RIFF",     "WEBPVP8L", "WEBPVP8X", "IDAT",     "PLTE",
    "IEND", "IHDR", "jp2c", "pclr",  "cdef",  "\xFF\x51", "\xFF\x52", "\xFF\x90", "\xFF\x93", "\xFF\xD9"};

}  // namespace

constinit const Target def = {
    .name = "image", .run = run, .seeds = seeds, .mutate = mutate, .words = kWords, .most_bytes = 5000};

}  // namespace assay::fuzz::target_image
