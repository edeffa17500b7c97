#include "debug/iterations.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/mapped_file.h"

namespace assay::debug {
namespace {

namespace fs = std::filesystem;

/// Puts `_skip_current` before a path's extension.
std::string with_suffix(const std::string& path, const std::string& suffix) {
  const fs::path p(path);
  return (p.parent_path() / (p.stem().string() + suffix + p.extension().string())).string();
}

ReplayEntry read_entry(JsonReader& json) {
  ReplayEntry entry;
  json.expect(JsonEvent::kBeginObject, "an iteration");
  while (json.next_key()) {
    const std::string key(json.string());
    if (key == "state" || key == "iteration_info") {
      json.expect(JsonEvent::kBeginObject, key);
      while (json.next_key()) {
        const std::string name(json.string());
        if (json.peek() != JsonEvent::kNumber)
          json.skip_value();
        else if (key == "state")
          entry.state[name] = json.expect_int64(name);
        else
          entry.iteration = json.expect_int64(name);
      }
    } else if (key == "success") {
      const JsonEvent event = json.next();
      if (event != JsonEvent::kTrue && event != JsonEvent::kFalse)
        json.error("success must be true or false");
      entry.success = event == JsonEvent::kTrue;
    } else {
      json.skip_value();
    }
  }
  return entry;
}

}  // namespace

Replay load_replay(const std::string& path) {
  const auto file = MappedFile::open(path);
  JsonReader json(file->bytes(), path);
  Replay replay;
  json.expect(JsonEvent::kBeginObject, "a debug replay");
  while (json.next_key()) {
    const std::string key(json.string());
    if (key.starts_with("_N"))
      replay[key] = read_entry(json);
    else
      json.skip_value();
  }
  json.expect(JsonEvent::kEnd, "the end of the replay");
  return replay;
}

void save_replay(const Replay& replay, const std::string& path) {
  // In the order of the iterations, not of their names as text.
  std::vector<const Replay::value_type*> entries;
  for (const auto& entry : replay) entries.push_back(&entry);
  const auto suffix_of = [](const std::string& key) {
    const size_t at = key.find('_', 2);
    return at == std::string::npos ? std::string() : key.substr(at);
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
    const std::string x = suffix_of(a->first), y = suffix_of(b->first);
    // Outputs are reduced before inputs.
    return x != y ? x > y : a->second.iteration < b->second.iteration;
  });
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object();
  for (const auto* entry : entries) {
    json.key(entry->first).begin_object();
    json.key("state").begin_object();
    for (const auto& [name, value] : entry->second.state) json.key(name).value(value);
    json.end_object();
    json.key("iteration_info").begin_object().key("iteration").value(entry->second.iteration).end_object();
    json.key("success").value(entry->second.success);
    json.key("polygraphy_class").value("IterationContext");
    json.end_object();
  }
  json.end_object();
  file.commit();
}

Iterations::Iterations(IterationOptions options, Check& check, SearchObserver& observer)
    : options_(std::move(options)), check_(check), observer_(observer) {
  std::error_code failed;
  const std::string& candidate = options_.candidate;
  require(candidate.empty() || options_.replaces_candidate || !fs::exists(candidate, failed),
          ErrorCode::kInvalidArgument, "{} already exists, refusing to overwrite", candidate);
  if (!candidate.empty() && !fs::exists(candidate + ".data", failed)) candidate_data_ = candidate + ".data";
  if (!options_.load_replay.empty()) replay_ = load_replay(options_.load_replay);
  const std::time_t now = std::time(nullptr);
  started_ = fmt::format("{:%m-%d-%y_%H-%M-%S}", fmt::localtime(now));
  if (options_.jobs <= 1) return;
  require(options_.iteration_info.empty(), ErrorCode::kInvalidArgument,
          "{} says which iteration runs, and several checks are to run side by side",
          options_.iteration_info);
  pool_ = std::make_unique<CheckPool>(CheckPoolOptions{.jobs = options_.jobs,
                                                       .candidate = options_.candidate,
                                                       .artifacts = options_.artifacts,
                                                       .folder = options_.job_folder},
                                      check_, options_.is_resumed);
  pool_->on_end([this](const std::string& question, CheckRun& run) { keep_early_answer(question, run); });
}

std::string Iterations::key_of(size_t index) const {
  return fmt::format("_N{}{}{}", index, suffix_.empty() ? "" : "_", suffix_);
}

/// So that no check is done twice, whatever comes.
void Iterations::keep_early_answer(const std::string& question, CheckRun& run) {
  // Before a failure was seen, the order of answers says which one is looked for.
  if (journal_ == nullptr || (check_.looks_for_failures() && check_.failure().empty())) return;
  journal_->add(question, run.answer());
}

void Iterations::expect(std::vector<Candidate> candidates) {
  if (pool_ == nullptr) return;
  const auto is_known = [&](size_t i) {
    const std::string& question = candidates[i].question;
    if (journal_ == nullptr) return replay_.contains(key_of(index_ + i));
    return journal_->find(question) != nullptr && !pool_->knows(question);
  };
  // Where the search goes from an answer that is known, it will tell.
  if (candidates.empty() || is_known(0)) return;
  std::vector<CheckPool::Question> questions;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate& c = candidates[i];
    if (!is_known(i)) questions.push_back({std::move(c.question), std::move(c.write)});
  }
  pool_->expect(std::move(questions));
}

void Iterations::seek(const Answer& sought) {
  if (check_.failure().empty()) check_.look_for(sought.failure);
  check_.look_for_rate(sought.failed_runs, sought.runs);
}

void Iterations::begin(std::string suffix) {
  suffix_ = std::move(suffix);
  index_ = passed_ = 0;
}

Iterations::Result Iterations::run(const Candidate& candidate) {
  const auto start = std::chrono::steady_clock::now();
  const std::string key = key_of(index_);
  observer_.begin_iteration(index_, candidate.remaining);
  Result result;
  if (const auto it = replay_.find(key); it != replay_.end() && journal_ == nullptr) {
    result.answer.kind = it->second.success ? AnswerKind::kPass : AnswerKind::kFailure;
    result.state = it->second.state;
    observer_.use_known_answer(result.answer);
  } else if (auto beside = run_beside(candidate, key)) {
    result = std::move(*beside);
  } else if (const Answer* known = journal_ != nullptr ? journal_->find(candidate.question) : nullptr) {
    result.answer = *known;
    if (candidate.state) result.state = candidate.state();
    observer_.use_known_answer(result.answer);
  } else {
    result = run_anew(candidate, key);
  }
  if (result.answer.passed()) ++passed_;
  observer_.end_iteration(index_, result.answer,
                          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  ++index_;
  ++total_;
  return result;
}

/// Nothing where no check can run beside others, or none was made.
std::optional<Iterations::Result> Iterations::run_beside(const Candidate& candidate, const std::string& key) {
  if (pool_ == nullptr || candidate.instead) return std::nullopt;
  if (!pool_->knows(candidate.question)) {
    if (journal_ != nullptr && journal_->find(candidate.question) != nullptr) return std::nullopt;
    expect({candidate});
  }
  if (!pool_->knows(candidate.question)) return std::nullopt;  // it cannot begin; run_anew() says why
  Result result;
  note(key, result, false, "_skip_current");
  const CheckPool::Finished finished = pool_->take(candidate.question);
  ++checks_;
  result.answer = finished.run->answer();
  finished.run->tell(observer_, result.answer);
  if (candidate.state) result.state = candidate.state();
  sort_artifacts(result.answer.passed(), key, {finished.files.own.begin(), finished.files.own.end()});
  pool_->drop(finished);
  if (journal_ != nullptr && journal_->find(candidate.question) == nullptr)
    journal_->add(candidate.question, result.answer);
  note(key, result, result.answer.passed(), "");
  return result;
}

Iterations::Result Iterations::run_anew(const Candidate& candidate, const std::string& key) {
  /// Removes the iteration's files, whatever happens.
  struct Files {
    Iterations& of;
    std::vector<std::string> paths = {};
    ~Files() {
      for (const std::string& path : paths) of.remove_file(path);
      if (of.options_.removes_candidate) of.remove_candidate();
    }
  } files{*this};
  Result result;
  std::optional<Answer> instead = candidate.instead ? candidate.instead() : std::nullopt;
  if (!instead && candidate.write) {
    try {
      candidate.write(options_.candidate);
    } catch (const Error& e) {
      // A full disk ends the search; a candidate that cannot be is one that does not fail in the same way.
      if (e.code() == ErrorCode::kIo || journal_ == nullptr) throw;
      instead = Answer{.kind = AnswerKind::kDidNotRun, .failure = e.what()};
    }
  }
  if (candidate.state) result.state = candidate.state();
  if (!options_.iteration_info.empty()) {
    AtomicFile file(options_.iteration_info);
    JsonWriter(file).begin_object().key("iteration").value(static_cast<int64_t>(index_)).end_object();
    file.commit();
    files.paths.push_back(options_.iteration_info);
  }
  note(key, result, false, "_skip_current");
  if (instead) {
    result.answer = *instead;
  } else {
    ++checks_;
    result.answer = check_.check(options_.candidate, observer_);
    sort_artifacts(result.answer.passed(), key);
  }
  if (journal_ != nullptr) journal_->add(candidate.question, result.answer);
  note(key, result, result.answer.passed(), "");
  return result;
}

void Iterations::note(const std::string& key, const Result& result, bool passed, const std::string& suffix) {
  if (options_.save_replay.empty()) return;
  replay_[key] = {.success = passed, .state = result.state, .iteration = static_cast<int64_t>(index_)};
  const std::string path = suffix.empty() ? options_.save_replay : with_suffix(options_.save_replay, suffix);
  if (suffix.empty()) observer_.save_replay(path);
  save_replay(replay_, path);
}

void Iterations::sort_artifacts(bool passed, const std::string& key,
                                const std::map<std::string, std::string>& own) {
  for (const std::string& artifact : options_.artifacts) {
    const fs::path path(artifact);
    const auto it = own.find(artifact);
    const std::string& from = it == own.end() ? artifact : it->second;
    const fs::path folder = fs::path(options_.artifact_folder) / (passed ? "good" : "bad");
    const std::string to =
        (folder / fmt::format("{}_{}{}{}", path.stem().string(), started_, key, path.extension().string()))
            .string();
    std::error_code failed;
    if (!fs::exists(from, failed)) {
      observer_.miss_artifact(from, "");
      continue;
    }
    if (fs::exists(to, failed)) {
      observer_.miss_artifact(from, fmt::format("{} exists", to));
      continue;
    }
    observer_.move_artifact(from, to);
    fs::create_directories(folder, failed);
    if (!failed) fs::rename(from, to, failed);
    if (failed == std::errc::cross_device_link) {
      fs::copy(from, to, fs::copy_options::recursive, failed);
      if (!failed) fs::remove_all(from, failed);
    }
    if (failed) observer_.miss_artifact(from, failed.message());
  }
}

void Iterations::remove_file(const std::string& path) {
  std::error_code failed;
  if (!fs::remove(path, failed)) observer_.keep_file(path);
}

/// Its data first: a kill in between leaves a model that says whose they are.
void Iterations::remove_candidate() {
  if (options_.candidate.empty()) return;
  std::error_code ignored;
  if (!candidate_data_.empty()) fs::remove(candidate_data_, ignored);
  remove_file(options_.candidate);
}

void Iterations::end() { observer_.end_iterations(index_, passed_); }

}  // namespace assay::debug
