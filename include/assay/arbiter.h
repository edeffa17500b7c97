// Arbitration: compares the results of each backend with the float64 reference, within the error that
// rounding explains (docs/internals/numerics.md).
//
//   auto model = std::shared_ptr<const Model>(load_model("model.onnx"));
//   Arbitration verdict = arbitrate(model, feed, {{{"mine", outputs}}});
//   if (!verdict.all_right()) ...
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/api.h"
#include "assay/graph.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {

struct ArbiterOptions {
  int samples = 3;  ///< noisy evaluations
  /// Noisy evaluations where the first ones do not settle whether rounding explains a result.
  int most_samples = 15;
  uint64_t seed = 1;
  std::vector<std::string> no_excuses = {};  ///< names of excuses that do not count (excuse_rules())
};

/// A reason to accept a result in addition to the rounding that bounds explain.
struct ExcuseRule {
  std::string_view name;
  std::string_view sentence;  ///< its description of what happened
};

/// All excuses in the order in which they are tried. docs/internals/numerics.md has their conditions and
/// sources.
std::span<const ExcuseRule> excuse_rules();

/// Throws Error (kInvalidArgument), listing the valid names, if one of these is not an excuse.
void require_excuses(std::span<const std::string> names);

/// Types narrower than the model's that a runner was asked to compute in, or that its engine reports.
struct NarrowTypes {
  bool float16 = false, bfloat16 = false;  ///< float32 values may be rounded to them before they are used
  bool int8 = false;  ///< inputs and constant weights of Conv, Gemm and MatMul may be rounded to 8 bits
  /// int8: quantization step by tensor name; other tensors are not quantized. Empty: all may be, with steps
  /// that represent their largest magnitude.
  std::map<std::string, float> scales = {};
  /// int8: names of nodes that are excluded from it.
  std::set<std::string> float_nodes = {};
  /// int8: factors of products are rounded by these scales as Builder::quantized_network() writes them, and
  /// weights by one scale for each channel: results in 8 bits are then known up to float32's rounding,
  /// and other ones are wrong. So it is in engines of this library.
  bool known_levels = false;

  bool any() const { return float16 || bfloat16 || int8; }
  /// "float16 and int8".
  std::string str() const;
  bool operator==(const NarrowTypes&) const = default;
};

enum class Verdict : uint8_t {
  kAgrees,      ///< every element is the correctly rounded exact value
  kRounding,    ///< every error is within what rounding explains
  kOpen,        ///< differs where ONNX leaves the result open
  kInherited,   ///< follows from the runner's own inputs, in which an earlier node made an error
  kUnclear,     ///< larger than the expected rounding error, but not by enough to rule rounding out
  kCannotTell,  ///< within bounds that are too wide to detect a real error
  kNotJudged,   ///< the reference has no value to compare it with
  kWrong,       ///< at least one error is not explained
};

/// The basis on which a result was judged.
enum class Basis : uint8_t {
  kNode,     ///< its node alone, on the runner's own inputs
  kRegion,   ///< the nodes between it and the nearest known values of the runner
  kNetwork,  ///< the whole network, from the inputs that were fed
};

/// One output of one runner, or a tensor of one that is a container (NAME[i], NAME['key']). Indices are
/// row-major positions.
struct ArbiterVerdict {
  std::string runner, output;
  std::string node;     ///< label of the node that computes it; empty for network inputs
  std::string op_type;  ///< of that node
  std::vector<std::string>
      inputs;  ///< that node's inputs that are not constant, including those that its bodies use
  /// Where the node is in the body of another: "iteration 3 of 'loop' (Loop)"; empty in the main graph. The
  /// inputs are then those of the main graph's node around it.
  std::string body;
  std::string enclosing;  ///< an output of that node
  /// kWrong on the basis of a region: the nodes between the known values, including this one.
  std::vector<std::string> region;
  /// kNotJudged because of an unknown operator: the label of its node.
  std::string lacking;
  bool from_feed = false;  ///< all that the node uses is fed or constant
  Verdict verdict = Verdict::kAgrees;
  Basis basis = Basis::kNetwork;
  bool certain = false;  ///< kWrong: no order of the node's additions can excuse it
  std::string problem;   ///< a difference without measure: shape, type, integers; else empty
  std::string note;      ///< other excuses or explanations
  /// Names of the decisive excuses: with the bounds alone the judgement would differ. Excuses that come later
  /// in the order may explain it as well.
  std::vector<std::string> excuses;
  double max_error = 0;    ///< largest |result - exact|, where exact is the value of a network without errors
  double exact = 0;        ///< the exact value there
  double own_error = 0;    ///< the same, relative to the basis of the verdict
  double worst_ratio = 0;  ///< largest |result - exact| / explained, on the basis of the verdict, as the rest
  double worst_error = 0, worst_explained = 0, worst_exact = 0, worst_result = 0;
  int64_t worst_at = -1;  ///< where
  int64_t beyond = 0;     ///< elements that are not explained
  int64_t elements = 0;
  std::string pattern;  ///< pattern that the wrong elements share
  /// The narrower types requested of the runner that affect this tensor: "int8". Empty: none.
  std::string computed_in;
  /// How many decimal digits of its largest elements are checked when only the network's inputs are known:
  /// the explained error relative to the result. Negative: not requested.
  double digits = -1;
  int64_t overflows = 0;  ///< elements that are infinite because the type cannot hold the exact value
  int64_t follows = 0;    ///< elements that are NaN because an earlier value is infinite
  int64_t untold = 0;     ///< not judgeable: whether an intermediate
                          ///< overflows is up to the backend
  DType dtype = DType::kUndefined;
  Shape shape;
};

/// The share of a runner's final error that a node contributes.
struct ErrorShare {
  std::string runner, node, op_type, output;
  std::string computed_in;  ///< as in ArbiterVerdict
  double share = 0;         ///< of the squared errors of the final results; all shares add up to 1
  double own_error = 0;     ///< the node's error on its own inputs, relative to the result
};

/// Files that hold what was judged; empty where it is not in a file.
struct RunFiles {
  std::string model;
  std::string inputs, results;  ///< network inputs, and the results of all runners, including every layer
};

struct Arbitration {
  std::vector<ArbiterVerdict> outputs;  ///< by output in topological order, then by runner
  int samples = 0;                      ///< noisy evaluations that were made
  int lanes_lost = 0;                   ///< samples of nodes that diverged under noise
  /// Of runners with narrow types whose layers are known; the largest first.
  std::vector<ErrorShare> shares;
  std::vector<std::string> unsteady;  ///< runners whose results differ between two runs
  std::string processor;              ///< where the runners ran; empty: not known
  int threads = 0;                    ///< of the runners; 0: their own default
  RunFiles files;                     ///< for the commands that a report suggests
  /// The arbitration of a second run of the suspected runners with every layer as an output; null when there
  /// was none.
  std::shared_ptr<const Arbitration> traced;

  /// Nothing is wrong; something may be unclear, or not judged.
  bool all_right() const;
  bool any(Verdict verdict) const;
  /// Nodes in subgraphs have been judged, too.
  bool any_in_body() const;
};

/// The results of a runner for one set of inputs. The more of a model's tensors are outputs (ModifyOutputs of
/// loaders.h marks them), the more precisely the origin of an error is located.
struct JudgedResults {
  std::string runner;
  TensorList outputs;
  NarrowTypes asked = {};
};

/// Judges results that the caller computed. `feed` is keyed by the names of the model's inputs; results whose
/// names the model does not have are ignored. Functions are inlined and types inferred in a copy. Throws
/// Error (kInvalidArgument) for an input that is missing, and when the reference cannot evaluate the model.
Arbitration arbitrate(const std::shared_ptr<const Model>& model, const TensorList& feed,
                      std::span<const JudgedResults> results, const ArbiterOptions& options = {});

/// Logs an arbitration: first the nodes in error with their details, then a line per output and runner
/// (those without findings only at -v, or when there are few outputs and no errors), and a
/// summary.
void report(const Arbitration& result, const ArbiterOptions& options = {});

/// agrees, rounding only, WRONG, ...: as in the JSON of --save-verdict.
std::string_view verdict_name(Verdict v);

}  // namespace assay
