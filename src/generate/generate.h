// Generates tokens on several backends, and says where they part and which of them float64 confirms.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "generate/parting.h"
#include "generate/prompts.h"
#include "generate/sampling.h"
#include "generate/sequence.h"

namespace assay::generate {

/// A backend that takes part.
struct Participant {
  std::string name;  ///< unique
  std::function<std::shared_ptr<Session>()> open;
};

struct Options {
  std::vector<Tokens> prompts;
  int64_t max_tokens = 32;    ///< for each prompt
  std::vector<int64_t> ends;  ///< tokens that end a sequence
  Sampling sampling = {};
  InterfaceNames names = {};
  /// Evaluated in float64 where backends part; null: nothing is judged.
  std::shared_ptr<const Model> model = {};
};

/// One token, and what it took.
struct GeneratedToken {
  int64_t token = 0;
  double seconds = 0;     ///< of the step that it was chosen by
  int64_t positions = 0;  ///< in the cache, or in the sequence where there is none, after that step
  size_t plans = 0;       ///< of the network that the backend has built for that step, where it counts them
  size_t parts = 0;       ///< of parts of it, for the shapes of that step
};

/// The sequence that one backend generated for one prompt.
struct GeneratedSequence {
  Tokens prompt;
  std::vector<GeneratedToken> tokens;
  bool ended = false;  ///< by a token that ends sequences

  Tokens all() const;
};

struct BackendResult {
  std::string name;
  double open_seconds = 0;
  std::vector<GeneratedSequence> sequences;  ///< by prompt
  int64_t peak_bytes = 0;                    ///< of the process, while it ran
  bool counts_plans = false;

  double first_token_seconds() const;  ///< of the first prompt
  double tokens_per_second() const;    ///< without first tokens; 0 where there are no others
  double median_step_seconds() const;  ///< the same
  size_t plans() const;
  /// Those built for tokens behind the first kSettled of a sequence.
  size_t late_plans() const;
  static constexpr size_t kSettled = 4;
  size_t part_plans() const;
};

/// A backend against the first one.
struct Agreement {
  std::string first, second;
  size_t equal_tokens = 0;        ///< of all prompts, up to the parting
  double largest_difference = 0;  ///< of logits, in the steps on the same tokens
  std::vector<Parting> partings;  ///< at most one a prompt
};

struct Report {
  Interface interface;
  std::vector<BackendResult> backends;
  std::vector<Agreement> agreements;  ///< of each but the first
  /// Nothing parts, or rounding explains it.
  bool all_right() const;
};

/// Sees a generation as it goes on. By default nothing happens.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_interface(const Interface&) {}
  virtual void on_begin(const std::string& /*backend*/) {}
  virtual void on_token(const std::string& /*backend*/, size_t /*prompt*/, const GeneratedToken&) {}
  virtual void on_end(const BackendResult&) {}
  /// Float64 is evaluated, which may take long.
  virtual void on_judge(const Parting&) {}
};

/// Runs one backend after the other, each prompt alone, in batches of 1. Throws Error for prompts and
/// settings that cannot be, and for a backend that fails, which it names with the token.
Report generate(const Options& options, const std::vector<Participant>& participants, Observer& observer);

std::string report_json(const Report& report);

}  // namespace assay::generate
