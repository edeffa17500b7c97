// A network in the making, for the differential fuzzer of networks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "fuzz/random.h"

namespace assay::fuzz {

/// The kind of numbers fed to a network.
enum class FedNumbers : uint8_t { kPlain, kSpecial, kDenormal, kLarge, kEqual };

/// Pieces (pieces.def) add nodes to it. All that it hands on is float32, of a known shape.
class GrowingNetwork {
 public:
  using Ints = std::vector<int64_t>;
  /// Values larger than this are not made. Elements.
  static constexpr int64_t kMaxElements = 1 << 15;

  explicit GrowingNetwork(FedNumbers numbers);

  std::shared_ptr<Model> model = std::make_shared<Model>();
  std::vector<Tensor> feed;
  Random r{0};  ///< a piece's choices depend on nothing but its seed and the network so far

  /// An input of one of the ranks 1 to 5, with numbers as the constructor was told.
  void add_input();

  /// A value to go on with, mostly a late one; null when none has the rank.
  Value* pick();
  Value* pick(int rank);
  Value* pick_like(const Value& other);
  /// Its shape.
  static Shape shape(const Value& v);
  /// An extent that is no multiple of anything, or one that is; rarely 0 (where `may_be_empty`).
  int64_t extent(bool may_be_empty = false);
  /// A number of groups that divides both.
  int64_t groups_of(int64_t a, int64_t b);

  /// A node and its first output, whose type is inferred. Throws Error when the node breaks a rule of its
  /// operator.
  Value* op(std::string type, std::vector<Value*> inputs, AttributeList attributes = {});
  std::vector<Value*> ops(std::string type, std::vector<Value*> inputs, size_t outputs,
                          AttributeList attributes = {});
  Value* weight(const Shape& shape, double low = -1, double high = 1);
  Value* ints(Ints values);
  Value* number(double x);
  /// Hands a value on; one that is too large, or not float32, is not.
  void hand_on(Value* v);

  /// Makes what nothing uses the network's outputs.
  void finish();

 private:
  FedNumbers numbers_;
  std::vector<Value*> values_;
};

/// A kind of nodes. It returns without having added any where no value suits it.
struct Piece {
  const char* name;
  void (*add)(GrowingNetwork&);
};
const std::vector<Piece>& pieces();

}  // namespace assay::fuzz
