// Who is right: the results of each backend against the float64 reference, with the error that rounding
// explains (docs/internals/numerics.md).
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
  /// Noisy evaluations where the first ones leave it open whether rounding explains a result.
  int most_samples = 15;
  uint64_t seed = 1;
  std::vector<std::string> no_excuses = {};  ///< names of excuses that do not count (excuse_rules())
};

/// What may excuse a result beside the rounding that bounds explain.
struct ExcuseRule {
  std::string_view name;
  std::string_view sentence;  ///< what it says happened
};

/// All excuses in the order in which they are asked. docs/internals/numerics.md has their conditions and
/// sources.
std::span<const ExcuseRule> excuse_rules();

/// Throws Error (kInvalidArgument), which lists the names, where one of these is no excuse's.
void require_excuses(std::span<const std::string> names);

/// Types narrower than the model's that a runner was asked to compute in, or that its engine says it holds.
struct NarrowTypes {
  bool float16 = false, bfloat16 = false;  ///< float32 numbers may be rounded to them before they are used
  bool int8 = false;  ///< inputs and constant weights of Conv, Gemm and MatMul may be rounded to 8 bits
  /// int8: one step by the name of the tensor; others stay as they are. Empty: all may be rounded, by steps
  /// that show their largest number.
  std::map<std::string, float> scales = {};
  /// int8: names of nodes that it does not concern.
  std::set<std::string> float_nodes = {};

  bool any() const { return float16 || bfloat16 || int8; }
  /// "float16 and int8".
  std::string str() const;
  bool operator==(const NarrowTypes&) const = default;
};

enum class Verdict : uint8_t {
  kAgrees,      ///< every element is the correctly rounded exact value
  kRounding,    ///< every error is within what rounding explains
  kOpen,        ///< differs where ONNX leaves the result open
  kInherited,   ///< follows from the runner's own inputs, in which somebody before made an error
  kUnclear,     ///< rounding could explain it: it is beyond what was to be expected, but not by much
  kCannotTell,  ///< rounding explains it, and would explain an error that is seen, too: little can be checked
  kNotJudged,   ///< the reference has nothing to compare it with
  kWrong,       ///< some error is not explained
};

/// What a result was compared with.
enum class Basis : uint8_t {
  kNode,     ///< its node alone, on the runner's own inputs
  kRegion,   ///< the nodes from the nearest values of the runner that are known
  kNetwork,  ///< the network, from what is fed
};

/// One output of one runner, or a tensor of one that is a container (NAME[i], NAME['key']). Indices are
/// row-major positions.
struct ArbiterVerdict {
  std::string runner, output;
  std::string node;     ///< label of the node that computes it; empty for what is fed
  std::string op_type;  ///< of that node
  std::vector<std::string>
      inputs;  ///< that node's, as far as they are not constant; what its bodies use included
  /// Where the node is in the body of another: "iteration 3 of 'loop' (Loop)"; empty in the main graph. The
  /// inputs are then those of the main graph's node around it.
  std::string body;
  std::string enclosing;  ///< an output of that node
  /// kWrong on the basis of a region: the nodes between the values that are known, this one's included.
  std::vector<std::string> region;
  /// kNotJudged: label of the node whose operator the reference does not know, where that is why.
  std::string lacking;
  bool from_feed = false;  ///< all that the node uses is fed or constant
  Verdict verdict = Verdict::kAgrees;
  Basis basis = Basis::kNetwork;
  bool certain = false;  ///< kWrong: no order of the node's additions can excuse it
  std::string problem;   ///< a difference that no error measures: shape, type, integers; empty otherwise
  std::string note;      ///< what else excuses or explains it
  /// Names of the excuses that decided: by the bounds alone it would have been judged otherwise. Others,
  /// asked later, may explain it as well.
  std::vector<std::string> excuses;
  double max_error = 0;    ///< largest |result - exact|, exact in the network without anybody's errors
  double exact = 0;        ///< the exact value there
  double own_error = 0;    ///< the same on the basis of the verdict
  double worst_ratio = 0;  ///< largest |result - exact| / explained, on the basis of the verdict, as the rest
  double worst_error = 0, worst_explained = 0, worst_exact = 0, worst_result = 0;
  int64_t worst_at = -1;  ///< where
  int64_t beyond = 0;     ///< elements that are not explained
  int64_t elements = 0;
  std::string pattern;  ///< what the wrong elements have in common
  /// The narrower types that the runner was asked for, as far as they concern it: "int8". Empty: none.
  std::string computed_in;
  /// How many decimal digits of its largest numbers are checked, where more is not known than the network's
  /// inputs: what is explained, in proportion to the result. Negative: not asked for.
  double digits = -1;
  int64_t overflows = 0;  ///< elements that are infinite because the type cannot hold the exact value
  int64_t follows = 0;    ///< elements that are no number because something before is infinite
  int64_t untold =
      0;  ///< elements that cannot be judged: whether it overflows on the way is the backend's choice
  DType dtype = DType::kUndefined;
  Shape shape;
};

/// How much of a runner's final error a node is to blame for.
struct ErrorShare {
  std::string runner, node, op_type, output;
  std::string computed_in;  ///< as in ArbiterVerdict
  double share = 0;         ///< of the squares of the errors of the last results, all of them together 1
  double own_error = 0;     ///< what the node adds: its error on its own inputs, in proportion to the result
};

/// Where what was judged lies; empty where that is no file.
struct RunFiles {
  std::string model;
  std::string inputs, results;  ///< fed, and given by all that ran, every layer among them
};

struct Arbitration {
  std::vector<ArbiterVerdict> outputs;  ///< by output in topological order, then by runner
  int samples = 0;                      ///< noisy evaluations that were made
  int lanes_lost = 0;                   ///< of nodes that the noise led astray
  /// Of runners that were asked for narrow types, whose layers are known; the largest first.
  std::vector<ErrorShare> shares;
  std::vector<std::string> unsteady;  ///< runners whose results are others when they run again
  std::string processor;              ///< where the runners ran; empty: not known
  int threads = 0;                    ///< of the runners; 0: as many as they please
  RunFiles files;                     ///< for the commands that a report names
  /// The same for a second run that gave out every layer, of the runners that seemed wrong; null when there
  /// was none.
  std::shared_ptr<const Arbitration> traced;

  /// Nothing is wrong; something may be unclear, or not judged.
  bool all_right() const;
  bool any(Verdict verdict) const;
  /// Nodes inside others have been looked at.
  bool any_in_body() const;
};

/// What a runner gave for one set of inputs. The more of a model's tensors are among the outputs
/// (ModifyOutputs of loaders.h marks them), the more exactly it is known where an error begins.
struct JudgedResults {
  std::string runner;
  TensorList outputs;
  NarrowTypes asked = {};
};

/// Judges results of one's own. `feed` by the names of the model's inputs; results whose names the model does
/// not know are left out. Functions are inlined and types inferred in a copy. Throws Error (kInvalidArgument)
/// for an input that is missing, and when the reference cannot evaluate the model.
Arbitration arbitrate(const std::shared_ptr<const Model>& model, const TensorList& feed,
                      std::span<const JudgedResults> results, const ArbiterOptions& options = {});

/// Logs an arbitration: first who made an error and what is known of it, then a line per output and runner
/// (the inconspicuous ones only at -v, or when there are few outputs and nobody made an error), and a
/// summary.
void report(const Arbitration& result, const ArbiterOptions& options = {});

/// agrees, rounding only, WRONG, ...: as in the JSON of --save-verdict.
std::string_view verdict_name(Verdict v);

}  // namespace assay
