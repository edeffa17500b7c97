#include "view/svg.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/visible_text.h"

namespace assay {
namespace {

/// Bytes of the UTF-8 character that the text begins with; 0 if it begins with none, or with one that XML
/// forbids.
size_t xml_character(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned c = byte(0);
  if (c < 0x80) return c >= 0x20 || c == '\t' || c == '\n' || c == '\r' ? 1 : 0;
  if (c >= 0xc2 && c < 0xe0) return continues(1) ? 2 : 0;
  if (c >= 0xe0 && c < 0xf0) {
    const unsigned code = (c & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    const bool allowed = code >= 0x800 && (code < 0xd800 || code > 0xdfff) && code < 0xfffe;
    return continues(1) && continues(2) && allowed ? 3 : 0;
  }
  if (c >= 0xf0 && c < 0xf5) {
    const unsigned code = (c & 7) << 18 | (byte(1) & 0x3f) << 12;
    return continues(1) && continues(2) && continues(3) && code >= 0x10000 && code < 0x110000 ? 4 : 0;
  }
  return 0;
}

/// FNV-1a.
uint64_t hash(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = xml_character(text);
    switch (bytes == 1 ? text[0] : '\0') {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += bytes == 0 ? "?" : text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

std::string picture_file_name(std::string_view title, std::string_view extension) {
  constexpr size_t kMostBytes = 200;
  // What a shell, a file manager or a page that lists the folder could take for more than a name.
  constexpr std::string_view kForbidden = "\\<>\"'`&;$!*?\t";
  std::string name = visible_text(title, Lines::kOne);
  bool is_changed = false;
  for (char& c : name) {
    const bool is_forbidden = kForbidden.find(c) != kForbidden.npos;
    is_changed = is_changed || is_forbidden;
    if (is_forbidden || c == '/') c = '_';
  }
  if (is_changed || name.size() + extension.size() > kMostBytes) {
    const std::string mark = fmt::format("~{:016x}", hash(title));
    size_t keep = std::min(name.size(), kMostBytes - extension.size() - mark.size());
    while (keep > 0 && keep < name.size() && (static_cast<unsigned char>(name[keep]) & 0xc0) == 0x80)
      --keep;  // not inside a character
    name = name.substr(0, keep) + mark;
  }
  return name.append(extension);
}

Svg::Svg(double width, double height)
    : out_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.6g}\" height=\"{1:.6g}\" viewBox=\"0 0 "
          "{0:.6g} {1:.6g}\" font-family=\"sans-serif\">\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          width, height)) {}

void Svg::image(double x, double y, double width, double height, const Image& image,
                std::string_view tool_tip) {
  out_ += fmt::format(
      "<image x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"><title>{}</title></image>\n",
      x, y, width, height, base64_encode(encode_png(image)), xml_text(tool_tip));
}

void Svg::text(double x, double y, double size, Anchor anchor, std::string_view text) {
  const char* anchor_name = anchor == Anchor::kStart ? "start" : anchor == Anchor::kMiddle ? "middle" : "end";
  out_ += fmt::format("<text x=\"{:.6g}\" y=\"{:.6g}\" font-size=\"{:.6g}\" text-anchor=\"{}\">{}</text>\n",
                      x, y, size, anchor_name, xml_text(text));
}

void Svg::line(double x1, double y1, double x2, double y2) {
  out_ += fmt::format("<line x1=\"{:.6g}\" y1=\"{:.6g}\" x2=\"{:.6g}\" y2=\"{:.6g}\" stroke=\"black\"/>\n",
                      x1, y1, x2, y2);
}

std::string Svg::finish() {
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace assay
