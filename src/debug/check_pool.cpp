#include "debug/check_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "assay/interrupt.h"
#include "base/interrupt_pipe.h"
#include "debug/command_run.h"

namespace assay::debug {
namespace {

namespace fs = std::filesystem;

std::string in_folder(const std::string& folder, const std::string& path) {
  return (fs::path(folder) / fs::path(path).filename()).string();
}

/// Removes what a killed search left there. Throws Error where something else is in it.
void clear_folder(const std::string& folder) {
  std::error_code failed;
  if (!fs::exists(folder, failed)) return;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    require(name.find_first_not_of("0123456789") == std::string::npos && entry.is_directory(),
            ErrorCode::kInvalidArgument, "{} holds {}, which no search has left there", folder, name);
    fs::remove_all(entry.path(), failed);
  }
  require(!failed, ErrorCode::kIo, "cannot clear the folder {}: {}", folder, failed.message());
}

}  // namespace

CheckPool::CheckPool(CheckPoolOptions options, Check& check, bool is_resumed)
    : options_(std::move(options)), check_(check) {
  CheckFiles files{.candidate = options_.candidate};
  if (!options_.candidate.empty()) files.own.emplace_back(options_.candidate, "");
  for (const std::string& path : options_.artifacts) files.own.emplace_back(path, "");
  check_.require_own_files(files);
  std::error_code failed;
  if (is_resumed) clear_folder(options_.folder);
  require(files.own.empty() || is_resumed || !fs::exists(options_.folder, failed),
          ErrorCode::kInvalidArgument, "{} already exists, refusing to overwrite", options_.folder);
}

CheckPool::~CheckPool() {
  for (const Job& job : jobs_) remove(job.check.files);
  std::error_code ignored;
  if (number_ > 0) fs::remove(options_.folder, ignored);  // unless something else is in it
}

CheckFiles CheckPool::new_files() {
  CheckFiles files;
  if (options_.candidate.empty() && options_.artifacts.empty()) return files;
  const std::string folder = (fs::path(options_.folder) / std::to_string(++number_)).string();
  std::error_code failed;
  fs::create_directories(folder, failed);
  require(!failed, ErrorCode::kIo, "cannot make the folder {}: {}", folder, failed.message());
  if (!options_.candidate.empty()) {
    files.candidate = in_folder(folder, options_.candidate);
    files.own.emplace_back(options_.candidate, files.candidate);
  }
  for (const std::string& path : options_.artifacts) files.own.emplace_back(path, in_folder(folder, path));
  return files;
}

void CheckPool::remove(const CheckFiles& files) {
  std::error_code ignored;
  if (!files.own.empty()) fs::remove_all(fs::path(files.own.front().second).parent_path(), ignored);
}

/// Of a check that has ended; what it left stays until it is asked for.
void CheckPool::remove_candidate(const CheckFiles& files) {
  if (options_.artifacts.empty()) return remove(files);
  std::error_code ignored;
  if (!files.candidate.empty()) fs::remove(files.candidate, ignored);
}

void CheckPool::start(const Question& question) {
  const CheckFiles files = new_files();
  try {
    if (question.write) question.write(files.candidate);
    jobs_.push_back({.question = question.name, .check = {check_.begin(files), files}});
  } catch (...) {
    remove(files);
    throw;
  }
}

void CheckPool::expect(std::vector<Question> questions) {
  advance();
  const auto is_wanted = [&](const Job& job) {
    return job.has_ended || std::any_of(questions.begin(), questions.end(),
                                        [&](const Question& q) { return q.name == job.question; });
  };
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (is_wanted(*it)) {
      ++it;
      continue;
    }
    it->check.run.reset();
    remove(it->check.files);
    it = jobs_.erase(it);
  }
  expected_.clear();
  for (Question& q : questions)
    if (!knows(q.name)) expected_.push_back(std::move(q));
  start_expected();
}

void CheckPool::start_expected() {
  const auto is_running = [](const Job& job) { return !job.has_ended; };
  while (!expected_.empty() && std::count_if(jobs_.begin(), jobs_.end(), is_running) < options_.jobs) {
    const Question next = std::move(expected_.front());
    expected_.pop_front();
    try {
      start(next);
    } catch (const Error&) {
      // Whether the search comes there is not known; if it does, it will be told.
      continue;
    }
    advance();
  }
}

std::deque<CheckPool::Job>::iterator CheckPool::find(const std::string& question) {
  return std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.question == question; });
}

bool CheckPool::knows(const std::string& question) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.question == question; }) ||
         std::any_of(expected_.begin(), expected_.end(),
                     [&](const Question& q) { return q.name == question; });
}

void CheckPool::advance() {
  for (Job& job : jobs_) {
    if (job.has_ended || !job.check.run->advance()) continue;
    job.has_ended = true;
    remove_candidate(job.check.files);
    if (ended_) ended_(job.question, *job.check.run);
  }
}

void CheckPool::wait() {
  const InterruptPipe interrupt;
  std::vector<pollfd> fds = {{interrupt.fd(), POLLIN, 0}};
  for (const Job& job : jobs_)
    if (!job.has_ended) job.check.run->watch(fds);
  ::poll(fds.data(), fds.size(), kCommandPause);
  if ((fds[0].revents & POLLIN) != 0 || is_interrupted()) throw Interrupted();
}

CheckPool::Finished CheckPool::take(const std::string& question) {
  if (const auto waiting = std::find_if(expected_.begin(), expected_.end(),
                                        [&](const Question& q) { return q.name == question; });
      waiting != expected_.end()) {
    const Question next = std::move(*waiting);
    expected_.erase(waiting);
    start(next);
  }
  while (true) {
    advance();
    const auto it = find(question);
    if (it->has_ended) {
      Finished finished = std::move(it->check);
      jobs_.erase(it);
      return finished;
    }
    start_expected();
    wait();
  }
}

void CheckPool::drop(const Finished& finished) { remove(finished.files); }

}  // namespace assay::debug
