// Generates tokens on several backends, and says where they part and which of them float64 confirms.
//
//   generate::Observer silent;
//   const generate::Report report = generate::generate({.prompts = {{1, 2, 3}}}, {{"engine", open}}, silent);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"
#include "assay/graph.h"

namespace ASSAY_API assay {
namespace generate {

using Tokens = std::vector<int64_t>;

/// The roles that an input or output may have.
enum class Role : uint8_t {
  kTokens,     ///< input: the new tokens, [1, tokens]
  kMask,       ///< input: 1 for each position that is attended to, [1, positions so far]
  kPositions,  ///< input: of the new tokens, [1, tokens] or [tokens]
  kSegments,   ///< input: 0 for each new token, [1, tokens]
  kUseCache,   ///< input of merged decoders: whether the cache is used, which the first step does not
  kLogits,     ///< output: [1, tokens, vocabulary] or [1, vocabulary]
};
/// `tokens`, `mask`, ...: as they are named in a mapping.
std::string_view role_name(Role role);

/// Names given in place of what is found.
struct InterfaceNames {
  std::vector<std::pair<Role, std::string>> roles;
  /// Inputs of the cache, each with the output that it is fed from.
  std::vector<std::pair<std::string, std::string>> caches;
};
/// From words such as `tokens=ids` and `cache=past_0:present_0`. Throws Error (kInvalidArgument).
InterfaceNames parse_interface_names(const std::vector<std::string>& words);

/// An input that gets what an output gave in the step before.
struct CacheSlot {
  size_t input = 0, output = 0;
  DType dtype = DType::kUndefined;
  Shape empty;      ///< its shape before the first step
  size_t axis = 0;  ///< of the positions
};

/// Inputs and outputs by their positions in the model's lists.
struct Interface {
  std::vector<TensorInfo> inputs, outputs;
  size_t tokens = 0, logits = 0;
  std::optional<size_t> mask, positions, segments, use_cache;
  std::vector<CacheSlot> caches;  ///< empty: the whole sequence is fed in every step
  /// Tokens that a step takes; nothing: any number.
  std::optional<int64_t> step_tokens;
  /// The number of tokens that logits are for; nothing where the model leaves it open.
  std::optional<int64_t> vocabulary;

  bool has_cache() const { return !caches.empty(); }
};

/// How the next token is chosen by its logits.
struct Sampling {
  double temperature = 0;  ///< 0: always the most likely token
  int64_t top_k = 0;       ///< of these many most likely ones alone; 0: of all
  double top_p = 1;        ///< of the most likely ones whose probabilities add up to it
  uint32_t seed = 1;

  bool is_greedy() const { return temperature == 0; }
};

/// A token that may follow.
struct RankedToken {
  int64_t token = 0;
  double logit = 0;
};

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

/// One of two that part.
struct Side {
  std::string name;
  int64_t token = 0;
  std::vector<RankedToken> best;  ///< its two most likely ones
  double other_logit = 0;         ///< that it gives the other's token
  double error = 0;               ///< the largest of its logits, in the judgement
};

enum class Explanation : uint8_t {
  kNotJudged,
  kRounding,  ///< both are as near to float64 as rounding lets them be
  kFirstWrong,
  kSecondWrong,
  kBothWrong,
};
std::string_view explanation_name(Explanation e);

/// Where two backends choose different tokens for the first time.
struct Parting {
  size_t prompt = 0;
  size_t index = 0;  ///< of the generated token
  Side first, second;
  Explanation explanation = Explanation::kNotJudged;
  std::string reason;  ///< kNotJudged: why
  /// In float64, on the tokens so far: the logits of both tokens, and how far rounding may move any.
  double exact_first = 0, exact_second = 0, explained = 0;
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

/// With the members `interface`, `backends` and `agreements` (docs/guide/generating.md).
std::string report_json(const Report& report);

}  // namespace generate
}  // namespace assay
