#include "assay/timing_cache.h"

#include <cmath>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/mapped_file.h"

namespace assay {
namespace {

constexpr std::string_view kFormat = "assay timing cache";
constexpr int64_t kFormatVersion = 1;
/// No step takes longer; what says so is damaged.
constexpr double kMaxNanoseconds = 1e15;

}  // namespace

std::optional<double> TimingCache::find(const std::string& problem) const {
  const std::lock_guard lock(mutex_);
  const auto times = times_.find(environment_);
  if (times == times_.end()) return std::nullopt;
  const auto it = times->second.find(problem);
  return it == times->second.end() ? std::nullopt : std::optional(it->second);
}

void TimingCache::set(const std::string& problem, double seconds) {
  const std::lock_guard lock(mutex_);
  // As the file has it, so that a choice from memory is the choice from the file.
  times_[environment_][problem] = std::round(seconds * 1e9) * 1e-9;
}

size_t TimingCache::size() const {
  const std::lock_guard lock(mutex_);
  const auto times = times_.find(environment_);
  return times == times_.end() ? 0 : times->second.size();
}

size_t TimingCache::foreign_size() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [environment, times] : times_) count += environment == environment_ ? 0 : times.size();
  return count;
}

void TimingCache::merge(const TimingCache& other) {
  if (&other == this) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& [environment, times] : other.times_)
    for (const auto& [problem, seconds] : times) times_[environment][problem] = seconds;
}

namespace {

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

/// Caches of TensorRT are binary.
[[noreturn]] void refuse_foreign_cache(const std::string& name) {
  Error e(ErrorCode::kInvalidArgument,
          fmt::format("{} is not a timing cache of assay, which is a JSON document", name));
  throw e.set_remedy(
      "Those of TensorRT hold times of its own kernels. Name another file; it is made if it does not exist.");
}

}  // namespace

void TimingCache::read(const std::string& text, const std::string& name) {
  if (is_blank(text)) return;
  if (text[text.find_first_not_of(" \t\r\n")] != '{') refuse_foreign_cache(name);
  TimingCache given(environment_);
  JsonReader json(text, name);
  const auto check = [&](bool condition, std::string_view what) {
    require(condition, ErrorCode::kInvalidArgument, "{}: not a timing cache of this version: {}", name, what);
  };
  bool has_format = false, has_version = false;
  json.expect(JsonEvent::kBeginObject, "the timing cache");
  while (json.next_key()) {
    const std::string key(json.string());
    if (key == "format") {
      check(json.expect_string("'format'") == kFormat, "its 'format' is another one");
      has_format = true;
    } else if (key == "version") {
      check(json.expect_int64("'version'") == kFormatVersion, "its 'version' is another one");
      has_version = true;
    } else if (key == "nanoseconds") {
      check(has_format && has_version, "'format' and 'version' do not come first");
      json.expect(JsonEvent::kBeginObject, "'nanoseconds'");
      while (json.next_key()) {
        Times& times = given.times_[std::string(json.string())];
        json.expect(JsonEvent::kBeginObject, "the times of an environment");
        while (json.next_key()) {
          const std::string problem(json.string());
          const auto ns = static_cast<double>(json.expect_int64("a time"));
          check(ns >= 0 && ns <= kMaxNanoseconds, "a time is negative or longer than any");
          times[problem] = ns * 1e-9;
        }
      }
    } else {
      check(false, "there is an unknown key '" + key + "'");
    }
  }
  json.expect(JsonEvent::kEnd, "the end");
  check(has_format && has_version, "'format' or 'version' is missing");
  merge(given);
}

void TimingCache::load(const std::string& path) {
  const auto file = MappedFile::open(path);
  read(std::string(file->bytes()), path);
}

std::string TimingCache::str() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object()
      .key("format")
      .value(kFormat)
      .key("version")
      .value(kFormatVersion)
      .key("nanoseconds")
      .begin_object();
  for (const auto& [environment, times] : times_) {
    if (times.empty()) continue;
    json.key(environment).begin_object();
    for (const auto& [problem, seconds] : times)
      json.key(problem).value(static_cast<int64_t>(std::llround(seconds * 1e9)));
    json.end_object();
  }
  json.end_object().end_object();
  return text + "\n";
}

void TimingCache::save(const std::string& path) const {
  AtomicFile file(path);
  file.write(str());
  file.commit();
}

}  // namespace assay
