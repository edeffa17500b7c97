#include "onnx/text_place.h"

#include <algorithm>

#include "assay/error.h"
#include "base/utf8.h"

namespace assay::onnx {
namespace {

/// Number of characters that an error shows on either side of the position.
constexpr size_t kShownBefore = 60, kShownAfter = 60;

}  // namespace

void fail_in_text(std::string_view text, size_t at, const std::string& message) {
  at = std::min(at, text.size());
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = std::min(text.find('\n', at), text.size());
  const std::string_view line = text.substr(begin, end - begin);
  const size_t column = 1 + count_characters(line.substr(0, at - begin));
  const auto number = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  size_t from = at - begin > kShownBefore ? at - begin - kShownBefore : 0;
  while (from < line.size() && !begins_character(line[from])) ++from;
  size_t to = std::min(line.size(), at - begin + kShownAfter);
  while (to < line.size() && !begins_character(line[to])) ++to;
  std::string excerpt(line.substr(from, to - from));
  // Control characters are excluded; the signedness of `char` depends on the architecture.
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 127; };
  std::replace_if(excerpt.begin(), excerpt.end(), is_control, ' ');
  Error e(ErrorCode::kInvalidModel, message);
  e.add_context(fmt::format("at line {}, column {}: {}{}{}", number, column, from > 0 ? "..." : "", excerpt,
                            to < line.size() ? "..." : ""));
  throw e;
}

}  // namespace assay::onnx
