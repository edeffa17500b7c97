// A graph that is drawn at random, its constants, and what it is fed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "fuzz/random.h"

namespace assay::fuzz {

/// How closely an edited graph must give what the original gives.
enum class Closeness : uint8_t {
  kExact,      ///< the same numbers
  kStored,     ///< the same numbers as the stored types round: the pass itself computes in these
  kSharp,      ///< a few roundings of results and inputs, whatever constants are in between
  kRounding,   ///< differences that the original's own rounding explains
  kQuantized,  ///< as kRounding, and integers by a step: quantized values near a tie
};

/// Where numbers come from.
enum class Numbers : uint8_t { kPlain, kSpecial, kLarge, kTiny, kWhole, kAny };

class Draft {
 public:
  explicit Draft(uint64_t seed);

  Random r;
  int64_t opset = 17;
  Closeness closeness = Closeness::kExact;
  /// The pass says that what is computed on the way may leave the range of the type where the original's does
  /// not.
  bool may_overflow = false;
  /// The pass makes constants out of others, rounded to their type, by which terms are multiplied.
  bool rounds_constants = false;
  /// The pass says that infinite inputs may give infinity where they meet as NaN in the original.
  bool joins_infinities = false;
  /// Passes that run behind the one that is tried: they are not what is counted.
  std::vector<std::string> after;
  /// Passes that run on the graph before it is the original.
  std::vector<std::string> before;

  Model& model() { return *model_; }
  Graph& graph() { return *model_->graph; }
  std::shared_ptr<Model> take();
  /// In the order of the graph's inputs.
  const std::vector<Tensor>& feed() const { return feed_; }
  /// The largest magnitude of a finite number among it.
  double largest_input() const;

  /// An input that is fed such numbers; extents may be open, with one symbol for each number.
  Value* input(DType dtype, const Shape& shape, Numbers numbers = Numbers::kAny, bool may_be_open = true);
  Value* input(Tensor fed, bool may_be_open = true);
  Value* constant(Tensor t);
  Value* constant(DType dtype, const Shape& shape, Numbers numbers = Numbers::kPlain);
  /// All elements are this number.
  Value* number(DType dtype, double x, const Shape& shape = {});
  Value* ints(const std::vector<int64_t>& list);
  /// Null for an input that is left out.
  Value* node(std::string op, std::vector<Value*> inputs, AttributeList attributes = {},
              std::string domain = {});
  std::vector<Value*> nodes(std::string op, std::vector<Value*> inputs, AttributeList attributes,
                            size_t outputs, std::string domain = {});
  void output(Value* v) { graph().outputs.push_back(v); }

  /// Instead of all this: a graph in ONNX's text form, from its name on, and what its next input is fed.
  void parse(const std::string& text);
  void give(Tensor fed) { feed_.push_back(std::move(fed)); }
  bool calls_functions = false;

  Tensor tensor(DType dtype, const Shape& shape, Numbers numbers);
  double draw(DType dtype, Numbers numbers);
  Shape shape(int rank, int64_t least = 1, int64_t most = 3);
  /// One element, most often of no dimensions.
  Shape single();
  bool chance(int percent) { return r.chance(percent); }
  /// `a`, or with a small chance another number.
  double nearly(double a);
  /// Axes of a rank, from the front or the end, at least one.
  std::vector<int64_t> axes(int rank);
  /// Axes and steps in the form of the opset.
  Value* reduce(const std::string& op, Value* x, const std::vector<int64_t>& axes, bool keeps);
  /// Another operator behind it at times.
  Value* follow(Value* x);

 private:
  std::shared_ptr<Model> model_;
  std::vector<Tensor> feed_;
  std::vector<double> seen_;  ///< numbers of the constants
  int names_ = 0;
};

/// float16, bfloat16, float32, float64, float32 most often.
DType some_float(Random& r);
DType some_integer(Random& r);

}  // namespace assay::fuzz
