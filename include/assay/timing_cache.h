// Times of candidates, kept across builds.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "assay/api.h"

namespace ASSAY_API assay {

/// Times of the builder's candidates, in seconds by problem, for each environment they were measured in. An
/// environment is a string of everything else that times depend on: processor, instruction sets,
/// threads, versions (Runtime::timing_environment()). As a file: JSON, sorted, the same bytes for the same
/// content. Thread-safe.
class TimingCache {
 public:
  /// An empty cache for measurements here.
  explicit TimingCache(std::string environment) : environment_(std::move(environment)) {}

  const std::string& environment() const { return environment_; }
  /// Nothing when the problem was not measured in this environment.
  std::optional<double> find(const std::string& problem) const;
  void set(const std::string& problem, double seconds);
  /// Entries of this environment.
  size_t size() const;
  /// Entries of other environments, which are kept and saved again.
  size_t foreign_size() const;

  /// Adds the entries of another cache, whose times replace existing ones.
  void merge(const TimingCache& other);

  /// Adds the entries in the text of a file; `name` identifies it in errors. Throws Error (kInvalidArgument)
  /// for damaged or foreign content, and then adds nothing.
  void read(const std::string& text, const std::string& name);
  /// Calls read() on a file. Throws Error (kIo, kInvalidArgument).
  void load(const std::string& path);
  std::string str() const;
  /// Saves atomically. Throws Error (kIo).
  void save(const std::string& path) const;

 private:
  using Times = std::map<std::string, double>;
  std::string environment_;
  mutable std::mutex mutex_;
  std::map<std::string, Times> times_;
};

}  // namespace assay
