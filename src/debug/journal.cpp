#include "debug/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "assay/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace assay::debug {
namespace {

constexpr std::string_view kFormat = "assay search journal 1";

std::string header_line(const SearchIdentity& identity) {
  std::string line = "{\"format\": " + json_quoted(kFormat) + ", \"search\": {";
  for (size_t i = 0; i < identity.size(); ++i)
    line += (i > 0 ? ", " : "") + json_quoted(identity[i].first) + ": " + json_quoted(identity[i].second);
  return line + "}}\n";
}

[[noreturn]] void refuse(const std::string& path, std::string_view reason) {
  Error e(ErrorCode::kInvalidArgument, fmt::format("{} {}", path, reason));
  throw e.set_remedy("Begin anew without it, or name another file.");
}

/// Throws what the JSON reader throws for a line that is no header.
SearchIdentity read_header(std::string_view line, const std::string& path) {
  JsonReader json(line, path);
  SearchIdentity identity;
  bool has_format = false;
  json.expect(JsonEvent::kBeginObject, "a journal");
  while (json.next_key()) {
    const std::string key(json.string());
    if (key == "format") {
      has_format = json.expect_string("the format") == kFormat;
    } else if (key == "search") {
      json.expect(JsonEvent::kBeginObject, "a search");
      while (json.next_key()) {
        std::string name(json.string());
        identity.emplace_back(std::move(name), json.expect_string("what identifies a search"));
      }
    } else {
      json.skip_value();
    }
  }
  if (!has_format) refuse(path, "is no journal of a search of this version");
  return identity;
}

void require_same(const SearchIdentity& there, const SearchIdentity& wanted, const std::string& path) {
  for (const auto& [name, value] : wanted) {
    const auto it =
        std::find_if(there.begin(), there.end(), [&](const auto& entry) { return entry.first == name; });
    if (it == there.end() || it->second != value)
      refuse(path, fmt::format("is the journal of another search: {} is '{}' there, and '{}' now", name,
                               it == there.end() ? "" : it->second, value));
  }
}

struct Line {
  std::string question;
  Answer answer;
};

Line read_line(std::string_view text, const std::string& path) {
  JsonReader json(text, path);
  Line line;
  json.expect(JsonEvent::kBeginObject, "an answer");
  while (json.next_key()) {
    const std::string key(json.string());
    if (key == "question")
      line.question = json.expect_string("a question");
    else if (read_answer_member(json, key, line.answer))
      continue;
    else
      json.skip_value();
  }
  return line;
}

}  // namespace

Journal Journal::begin(const std::string& path, const SearchIdentity& identity) {
  Journal journal(path);
  journal.open(true);
  journal.append(header_line(identity));
  return journal;
}

Journal Journal::resume(const std::string& path, const SearchIdentity& identity) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return begin(path, identity);
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  const size_t first = text.find('\n');
  if (first == std::string::npos) {
    // Killed before the first line was whole, or something else.
    if (!text.empty() && !std::string_view("{\"format\": ").starts_with(text.substr(0, 11)))
      refuse(path, "is no journal of a search");
    return begin(path, identity);
  }
  SearchIdentity there;
  try {
    there = read_header(std::string_view(text).substr(0, first), path);
  } catch (const Error& e) {
    if (e.remedy().empty()) refuse(path, "is no journal of a search");
    throw;
  }
  require_same(there, identity, path);
  Journal journal(path);
  size_t at = first + 1;
  for (size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    Line line;
    try {
      line = read_line(std::string_view(text).substr(at, end - at), path);
    } catch (const Error& e) {
      refuse(path, fmt::format("is damaged: {}", e.message()));
    }
    journal.note_failure(line.answer);
    journal.answers_.insert_or_assign(std::move(line.question), std::move(line.answer));
  }
  journal.open(false);
  // What a killed process left of a line goes.
  require(::ftruncate(journal.file_.get(), static_cast<off_t>(at)) == 0 &&
              ::lseek(journal.file_.get(), 0, SEEK_END) >= 0,
          ErrorCode::kIo, "cannot write {}: {}", path, std::strerror(errno));
  return journal;
}

void Journal::open(bool is_new) {
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (is_new ? O_TRUNC : 0), 0666));
  require(static_cast<bool>(file_), ErrorCode::kIo, "cannot write {}: {}", path_, std::strerror(errno));
}

void Journal::append(const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(file_.get(), line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    require(n > 0, ErrorCode::kIo, "cannot write {}: {}", path_, std::strerror(errno));
    done += static_cast<size_t>(n);
  }
}

const Answer* Journal::find(std::string_view question) const {
  const auto it = answers_.find(question);
  return it == answers_.end() ? nullptr : &it->second;
}

void Journal::add(const std::string& question, const Answer& answer) {
  if (file_) append(fmt::format("{{\"question\": {}, {}}}\n", json_quoted(question), answer_members(answer)));
  note_failure(answer);
  answers_.insert_or_assign(question, answer);
}

void Journal::note_failure(const Answer& answer) {
  const bool is_sought = answer.kind == AnswerKind::kFailure || answer.kind == AnswerKind::kFlaky;
  if (failure_.empty() && is_sought) failure_ = answer.failure;
}

std::string Journal::failure() const { return failure_; }

}  // namespace assay::debug
