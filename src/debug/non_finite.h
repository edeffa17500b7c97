// Where NaN and infinities come from, why, and what becomes of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "debug/layer_run.h"
#include "debug/non_finite_count.h"
#include "debug/non_finite_reason.h"

namespace assay::debug {

/// A tensor in which NaN or infinities appear that were not there before.
struct NonFiniteOrigin {
  enum class Kind : uint8_t {
    kMade,            ///< its node makes them of finite operands, some of them or all
    kMadeOfInfinity,  ///< its node makes NaN of operands of which some are infinite
    kGiven,           ///< an input, a constant or the value that a node fills in holds them
  };
  Kind kind = Kind::kMade;
  std::string tensor;
  DType dtype = DType::kUndefined;
  Shape shape;
  NonFiniteCount count;                    ///< in the first iteration that shows them
  std::string node, op_type;               ///< the node by its label; empty for what is given
  std::vector<NonFiniteElement> elements;  ///< one of each kind
  /// In a body of the node: the node there that made the first one, and in which run of the body; nothing
  /// where the node has none, or the reference does not show it.
  struct InBody {
    std::string node, op_type, tensor;
    int64_t run = 0;  ///< from 0
    std::vector<NonFiniteElement> elements;
  };
  std::optional<InBody> in_body;

  int64_t first_iteration = 0, iterations = 0;  ///< that show them
  size_t carriers = 0;                          ///< tensors behind it that hold what became of them
  /// Nodes that had them as operands and gave only numbers, with how: the first of them.
  struct End {
    std::string node, how;
  };
  std::vector<End> ends;
  size_t end_count = 0;
  size_t weighing_ends = 0;  ///< of these, nodes that weigh the elements along an axis, such as Softmax
  /// Outputs of the model that they reach.
  struct Reached {
    std::string output;
    NonFiniteCount count;
  };
  std::vector<Reached> outputs;

  /// A mask, which is meant: -infinity that was given, and of which only numbers are left once elements are
  /// weighed along an axis.
  bool is_mask() const {
    return kind == Kind::kGiven && count.nan == 0 && count.infinite > 0 && !count.first[1] &&
           outputs.empty() && end_count > 0 && weighing_ends == end_count;
  }
};
/// `made`, `made of infinity`, `given`.
const char* origin_kind_name(NonFiniteOrigin::Kind kind);

struct NonFiniteReport {
  std::string model, backend;
  int64_t iterations = 0;
  size_t tensors = 0;                    ///< that were looked at in each
  std::vector<NonFiniteOrigin> origins;  ///< in the order of the graph

  /// The first of those that nodes made of finite operands, or else of infinite ones; of them the first that
  /// reaches an output, where one does. Null: none did.
  const NonFiniteOrigin* cause() const;
  /// Whether something that a node made reaches an output.
  bool reaches_outputs() const;
};

/// Looks at the values of one iteration after the other.
class NonFiniteSearch {
 public:
  /// `outputs`: names of the tensors that the model gives out by itself.
  NonFiniteSearch(std::shared_ptr<const Model> model, std::vector<std::string> outputs);

  void look(const LayerValues& values);
  NonFiniteReport& report() { return report_; }

 private:
  using Mask = uint64_t;
  struct State {
    bool has_nan = false, has_infinity = false, is_unknown = false;
    Mask from = 0;  ///< origins
    bool any() const { return has_nan || has_infinity; }
  };
  using States = std::unordered_map<const Value*, State>;

  State state_of(const Value& v, const LayerValues& values, States& states);
  State of_operands(const Node& n, const LayerValues& values, States& states);
  void look_at(const Node& n, const LayerValues& values, States& states);
  Mask found(const NonFiniteOrigin::Kind kind, const Value& v, const Tensor& t, const NonFiniteCount& count,
             const LayerValues& values);
  void describe(NonFiniteOrigin& origin, const Value& v, const Tensor& t, const LayerValues& values);
  void look_into_body(NonFiniteOrigin& origin, const Node& n, const LayerValues& values);
  /// Those that the node made by itself, without those that came of its operands.
  NonFiniteCount made_by(const Node& n, const Tensor& output, const NonFiniteCount& count,
                         const State& before, const LayerValues& values) const;
  void carry(const Value& v, const NonFiniteCount& count, Mask from);
  void note_output(const Value& v, const NonFiniteCount& count, NonFiniteOrigin& origin);
  void end(const Node& n, Mask from);
  template <typename Body>
  void for_each_origin(Mask mask, Body&& body);

  std::shared_ptr<const Model> model_;
  std::vector<std::string> outputs_;
  NonFiniteReport report_;
  States constants_;
  std::unordered_map<std::string, size_t> index_;  ///< of origins, by tensor
};

/// As JSON.
std::string non_finite_json(const NonFiniteReport& report);

}  // namespace assay::debug
