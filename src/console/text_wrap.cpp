#include "console/text_wrap.h"

#include <algorithm>

#include "base/utf8.h"

namespace assay {
namespace {

constexpr size_t kPrefix = 4, kHang = 4;  // "[I] "

size_t prefix_of(std::string_view line) {
  return line.starts_with('[') && line.substr(2, 2) == "] " ? kPrefix : 0;
}

/// How far the line's text is indented, its prefix included, and where it goes on.
size_t hanging_indent(std::string_view line, size_t width) {
  const size_t begin = std::min(line.find_first_not_of(' ', prefix_of(line)), line.size());
  return std::min(begin + kHang, width / 3);
}

/// The end of the part of `text` that fits: before a blank, or behind a word that is too wide.
size_t fitting(std::string_view text, size_t width) {
  size_t best = std::string_view::npos, at = text.find_first_not_of(' ');
  while (at != std::string_view::npos) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (count_characters(text.substr(0, end)) > width) return best == std::string_view::npos ? end : best;
    best = end;
    at = text.find_first_not_of(' ', end);
  }
  return text.size();
}

/// With less indentation where the first word would not fit behind it otherwise.
std::string unindented(std::string_view line, size_t width) {
  const size_t prefix = prefix_of(line);
  const size_t begin = std::min(line.find_first_not_of(' ', prefix), line.size());
  const size_t word = std::min(line.find(' ', begin), line.size()) - begin;
  const size_t most = std::max(prefix, width / 3);
  if (begin <= most || begin + word <= width) return std::string(line);
  return std::string(line.substr(0, prefix)) + std::string(most - prefix, ' ') +
         std::string(line.substr(begin));
}

void wrap_line(std::string_view whole, size_t width, std::string& out) {
  const std::string narrow = unindented(whole, width);
  std::string_view line = narrow;
  const std::string indent(hanging_indent(line, width), ' ');
  for (size_t room = width; count_characters(line) > room; room = width - indent.size()) {
    const size_t end = fitting(line, room);
    out += line.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    if (line.empty()) break;
    out += '\n' + indent;
  }
  out += line;
}

}  // namespace

std::string wrapped(std::string_view lines, size_t width) {
  if (width == 0) return std::string(lines);
  std::string out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    wrap_line(lines.substr(0, end), width, out);
    if (end < lines.size()) out += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

}  // namespace assay
