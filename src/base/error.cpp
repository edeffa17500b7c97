#include "assay/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

Error& Error::add_context(std::string place) {
  // Two layers that both know the file say it once.
  if (std::find(context_.begin(), context_.end(), place) != context_.end()) return *this;
  context_.push_back(std::move(place));
  render();
  return *this;
}

Error& Error::set_remedy(std::string remedy) {
  remedy_ = std::move(remedy);
  render();
  return *this;
}

void Error::render() {
  text_ = message_;
  for (const std::string& place : context_) {
    text_ += " [";
    text_ += place;
    text_ += ']';
  }
  if (remedy_.empty()) return;
  if (!text_.empty() && text_.back() != '.' && text_.back() != '!' && text_.back() != '?') text_ += '.';
  text_ += ' ';
  text_ += remedy_;
}

void throw_error(ErrorCode code, fmt::string_view format, fmt::format_args args) {
  throw Error(code, fmt::vformat(format, args));
}

}  // namespace assay
