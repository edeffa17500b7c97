#include "view/svg.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "base/visible_text.h"

namespace assay {
namespace {

/// False for characters that XML forbids.
bool is_xml_character(char32_t point) {
  return point < 0x20 ? point == '\t' || point == '\n' || point == '\r'
                      : point < 0xfffe || (point >= 0x10000 && point != kNotUtf8);
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
    const std::string_view rest = text;
    const char32_t point = take_code_point(text);
    switch (point) {
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
        out += is_xml_character(point) ? rest.substr(0, rest.size() - text.size()) : "?";
    }
  }
  return out;
}

std::string picture_file_name(std::string_view title, std::string_view extension) {
  constexpr size_t kMaxBytes = 200;
  // Characters that a shell, a file manager or a web page could interpret.
  constexpr std::string_view kForbidden = "\\<>\"'`&;$!*?\t";
  std::string name = visible_text(title, Lines::kOne);
  bool is_changed = false;
  for (char& c : name) {
    const bool is_forbidden = kForbidden.find(c) != kForbidden.npos;
    is_changed = is_changed || is_forbidden;
    if (is_forbidden || c == '/') c = '_';
  }
  if (is_changed || name.size() + extension.size() > kMaxBytes) {
    const std::string mark = fmt::format("~{:016x}", hash(title));
    name = std::string(utf8_prefix(name, kMaxBytes - extension.size() - mark.size())) + mark;
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
