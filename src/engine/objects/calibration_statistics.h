// What a calibration has seen of each tensor. Statistics of parts of the data add up, in any order, to those
// of all, so that scales found in parts are those of one process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "assay/int8_calibrator.h"
#include "base/json_value.h"
#include "base/json_writer.h"
#include "engine/planner/tensor_range.h"

namespace assay {

/// Looks at the data themselves: what cannot define a range is an error.
class DataCheck {
 public:
  /// Of one set of inputs. Throws Error for NaNs and for tensors without elements.
  void add(const std::string& input, const Tensor& t);
  void add(const DataCheck& other);
  /// Throws Error for data that are 0 all over, and warns of any other number.
  void finish(const std::function<void(const std::string&)>& warn) const;

  void write(JsonWriter& json) const;
  static DataCheck read(const JsonValue& object, const std::string& name);

 private:
  bool has_several_ = false, varies_ = false;
  std::optional<float> constant_;  ///< the first number
};

/// The first of them, for a message.
std::string first_names(const std::vector<std::string>& names);

class CalibrationStatistics {
 public:
  /// For the float32 tensors among the inputs and outputs of a graph. Throws Error (kInvalidArgument) for a
  /// quantile that is none.
  CalibrationStatistics(const Graph& g, CalibrationAlgorithm algorithm, double quantile);

  /// Before the network meets an input of a set. Throws Error as DataCheck::add().
  void check(const std::string& input, const Tensor& t) { data_.add(input, t); }
  /// A set of inputs and its results: one tensor for each of the constructor, those that are not float32
  /// included.
  void add(const std::vector<const Tensor*>& tensors, int threads);
  /// Those of other sets. Throws Error (kInvalidArgument) for those of another network or algorithm.
  void add(const CalibrationStatistics& other);
  int64_t sets() const { return sets_; }

  /// The scales. Throws Error (kInvalidArgument) without data, and as DataCheck::finish().
  CalibrationTable table(const std::function<void(const std::string&)>& warn) const;

  /// As members of the object that is open.
  void write(JsonWriter& json) const;
  /// `name`: the file in errors. Throws Error (kInvalidArgument) for anything but what write() writes.
  static CalibrationStatistics read(const JsonValue& object, const std::string& name);

 private:
  CalibrationStatistics() = default;
  void add_tensor(const Value& v);

  CalibrationAlgorithm algorithm_ = CalibrationAlgorithm::kEntropy2;
  double quantile_ = 0;
  std::vector<std::string> names_;
  std::vector<engine::TensorRange> ranges_;
  int64_t sets_ = 0;
  DataCheck data_;
};

}  // namespace assay
