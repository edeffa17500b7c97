// Times of candidates, kept from build to build.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "assay/api.h"

namespace ASSAY_API assay {

/// What candidates of the builder took, in seconds by problem, for each environment they were measured in. An
/// environment is a text that says all that times depend on besides the problem: processor, instruction sets,
/// threads, versions (Runtime::timing_environment()). As a file: JSON, sorted, the same bytes for the same
/// content. May be used from several threads.
class TimingCache {
 public:
  /// An empty cache for measurements here.
  explicit TimingCache(std::string environment) : environment_(std::move(environment)) {}

  const std::string& environment() const { return environment_; }
  /// Nothing when the problem was not measured in this environment.
  std::optional<double> find(const std::string& problem) const;
  void set(const std::string& problem, double seconds);
  /// Of this environment.
  size_t size() const;
  /// Of other environments, which are kept and written again.
  size_t foreign_size() const;

  /// Adds what another cache knows; where both know a problem, the other's time holds.
  void merge(const TimingCache& other);

  /// Adds what the text of a file holds; `name` is what errors call it. Throws Error (kInvalidArgument) for
  /// damaged or foreign content, and adds nothing then.
  void read(const std::string& text, const std::string& name);
  /// read() of a file. Throws Error (kIo, kInvalidArgument).
  void load(const std::string& path);
  std::string str() const;
  /// Appears whole or not at all. Throws Error (kIo).
  void save(const std::string& path) const;

 private:
  using Times = std::map<std::string, double>;
  std::string environment_;
  mutable std::mutex mutex_;
  std::map<std::string, Times> times_;
};

}  // namespace assay
