#include "debug/failure_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace assay::debug {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// Whether the line says that something went wrong.
bool tells_of_failure(std::string_view line) {
  if (line.starts_with("[!]") || line.starts_with("[E]")) return true;
  // What a log only informs of, such as how errors are measured.
  static constexpr std::array kInformation = {"[I]", "[V]", "[X]", "[S]", "[U]"};
  if (std::any_of(kInformation.begin(), kInformation.end(),
                  [&](const char* p) { return line.starts_with(p); }))
    return false;
  const std::string words = lower(line);
  static constexpr std::array kWords = {"error",   "exception", "assert",       "abort", "failed",
                                        "failure", "fatal",     "segmentation", "wrong"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* w) { return words.find(w) != std::string::npos; });
}

/// The exception of the last traceback; empty where there is none.
std::string_view last_exception(const std::vector<std::string_view>& lines) {
  std::string_view found;
  bool is_within = false;
  for (const std::string_view line : lines) {
    if (line.starts_with("Traceback (most recent call last)")) {
      is_within = true;
    } else if (is_within && !line.empty() && line.front() != ' ') {
      found = line;
      is_within = false;
    }
  }
  return found;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether a quotation begins at `at`, and not the apostrophe of a word.
bool begins_quotation(std::string_view line, size_t at) {
  return line[at] == '"' || line[at] == '`' || (line[at] == '\'' && (at == 0 || !is_word(line[at - 1])));
}

/// The line with what differs between candidates left out.
std::string without_details(std::string_view line) {
  std::string result;
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    if (begins_quotation(line, i)) {
      const size_t end = line.find(c, i + 1);
      if (end != std::string_view::npos) {
        result += "'...'";
        i = end + 1;
        continue;
      }
    }
    const bool begins_word = i == 0 || !is_word(line[i - 1]);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
        (c == '/' && i + 1 < line.size() && is_word(line[i + 1]) && begins_word)) {
      // A number with its sign, point and exponent, or a path, up to a blank or a bracket.
      while (i < line.size() && line[i] != ' ' &&
             std::string_view("()[]{}:;").find(line[i]) == std::string_view::npos)
        ++i;
      while (!result.empty() && (result.back() == '-' || result.back() == '+')) result.pop_back();
      result += '#';
      continue;
    }
    result += c;
    ++i;
  }
  constexpr size_t kLongest = 200;
  if (result.size() > kLongest) result.resize(kLongest);
  return result;
}

/// The headline of `assay run` up to the runner that is wrong: with fewer nodes more is known of the place.
std::string_view without_place(std::string_view line) {
  constexpr std::string_view kWrong = "[E] Wrong: ";
  return line.starts_with(kWrong) ? line.substr(0, line.find_first_of(", ", kWrong.size())) : line;
}

}  // namespace

std::string_view telling_line(std::string_view output) {
  const std::vector<std::string_view> lines = lines_of(output);
  std::string_view telling = last_exception(lines);
  if (telling.empty())
    if (const auto it = std::find_if(lines.begin(), lines.end(), tells_of_failure); it != lines.end())
      telling = *it;
  return telling;
}

std::string failure_text(std::string_view output) {
  // What a comparison says of one output, it says of others in the same way.
  return without_details(without_place(telling_line(output)));
}

}  // namespace assay::debug
