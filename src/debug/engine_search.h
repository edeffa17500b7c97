// Engines of one network, built in different ways and checked: the candidates of searches for what in a build
// is to blame.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "debug/engine_check.h"
#include "debug/iterations.h"
#include "run/engine_building.h"

namespace assay::debug {

/// One way to build the engine.
struct EngineTrial {
  std::string question;  ///< tells it from all others of the search
  /// Makes the trial's changes to the user's configuration; may be empty.
  std::function<void(BuilderConfig& config)> change = {};
  /// The passes that it is built with; null: the runtime's.
  std::shared_ptr<const PassSet> passes = nullptr;
  /// Tactics are timed as the configuration says. False: estimates decide, so that every build chooses the
  /// same, and is done soon.
  bool is_timed = false;
};

struct EngineSearchOptions {
  RuntimeOptions runtime;
  std::shared_ptr<const Model> model;
  EngineBuildOptions building;
  /// Where plans are saved for a check that reads them; empty: they are checked in this process.
  std::string candidate;
};

class EngineSearch {
 public:
  /// `check`: that of the iterations where engines are checked in this process, else null. All outlive it.
  EngineSearch(EngineSearchOptions options, Iterations& iterations, EngineCheck* check);

  const Model& model() const { return *options_.model; }
  const BuilderConfig& config() const { return options_.building.config; }
  const RuntimeOptions& runtime() const { return options_.runtime; }

  /// Builds and checks, unless the answer is known from before. An engine that cannot be built did not run.
  Answer ask(const EngineTrial& trial, std::optional<size_t> remaining = {});
  /// The trials that ask() will be called with next, as Iterations::expect(). What trials refer to must live
  /// as long as they: they begin now or later.
  void expect(std::vector<EngineTrial> trials);
  /// From here on the failure of the whole is looked for.
  void seek(const Answer& sought) { iterations_.seek(sought); }
  size_t foresight() const { return iterations_.foresight(); }
  /// Builds alone, in a child process as all of these builds, and returns what `look` says there once it is
  /// done. Throws Error.
  std::string build(const EngineTrial& trial, const std::function<std::string()>& look);

 private:
  std::shared_ptr<Engine> build_here(const EngineTrial& trial) const;
  Iterations::Candidate candidate(EngineTrial trial);
  /// Once for all engines.
  void calibrate();

  EngineSearchOptions options_;
  Iterations& iterations_;
  EngineCheck* check_;
};

}  // namespace assay::debug
