// What numbers a network has, against what narrower types can hold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"
#include "base/exact_sum.h"
#include "base/json_value.h"
#include "base/json_writer.h"

namespace assay::debug {

/// The effect of a floating type on a tensor's numbers.
struct FormatFit {
  int64_t overflow = 0;   ///< become infinite, or are already
  int64_t flushed = 0;    ///< are not 0, and become it
  int64_t subnormal = 0;  ///< lose digits near 0
};

/// Over all iterations.
struct TensorRange {
  enum class Kind : uint8_t { kInput, kWeight, kResult };
  Kind kind = Kind::kResult;
  std::string tensor, node;  ///< the node by its label; empty where there is none
  DType dtype = DType::kUndefined;
  size_t position = 0;  ///< in the order of the graph
  int64_t elements = 0, zeros = 0, nan = 0, infinite = 0;
  double largest = 0,
         smallest = 0;          ///< magnitudes that are finite; the smallest but 0; 0 where there is none
  ExactSum squares;             ///< of finite elements, summed up for each value as a whole
  std::vector<FormatFit> fits;  ///< by RangeStudy::formats(); of int8 all 0
  /// The number of classes of magnitudes, eight an octave.
  static constexpr int64_t kClasses = int64_t{1} << 14;
  /// Elements by magnitude, in classes: only where int8 is asked for.
  std::map<int, int64_t> magnitudes = {};

  /// Bits between the largest number and that of the type: negative where it does not fit. NaN where all is
  /// 0.
  double headroom(DType format) const;
  /// Bits between the smallest number but 0 and the smallest that the type has: negative where it is below.
  double footroom(DType format) const;
  /// About the share of elements but 0 that become 0 in integers of 8 bits with one scale for the tensor.
  double lost_in_int8() const;
  /// Signal against the noise of rounding to them, in dB.
  double int8_noise_ratio() const;
};
/// `input`, `weight`, `result`.
const char* range_kind_name(TensorRange::Kind kind);

/// Counts as values come, and keeps none. Studies of parts of the data add up, in any order, to that of all.
class RangeStudy {
 public:
  /// Of floating types of at most 16 bits, and int8. Throws Error (kInvalidArgument) for others.
  RangeStudy(std::shared_ptr<const Model> model, std::vector<DType> formats);

  /// Values of the model; those that are not floats, or that it does not have, are ignored.
  void add(const std::string& name, const Tensor& value);
  void end_iteration() { ++iterations_; }
  /// The constants that nodes of the main graph use. Of several parts one has them.
  void add_weights();
  /// Adds the counts of another one, on other data. Throws Error (kInvalidArgument) for one of other types.
  void add(const RangeStudy& other);

  /// As members of the object that is open.
  void write(JsonWriter& json) const;
  /// A study that takes no more values but those of others. `name`: the file in errors. Throws Error
  /// (kInvalidArgument) for anything but what write() writes.
  static RangeStudy read(const JsonValue& object, const std::string& name);

  const std::vector<DType>& formats() const { return formats_; }
  int64_t iterations() const { return iterations_; }
  /// In the order of the graph.
  std::vector<const TensorRange*> ranges() const;
  /// The worst first, in a format: what overflows most, what is lost to 0, what is nearest to an overflow.
  std::vector<const TensorRange*> ranked(DType format) const;

 private:
  explicit RangeStudy(std::vector<DType> formats);
  TensorRange& range_of(const Value& v);
  void count(const Tensor& t, TensorRange& range);

  std::shared_ptr<const Model> model_;
  std::vector<DType> formats_;
  struct Bounds {
    double overflow, flush, normal;
  };
  std::vector<Bounds> bounds_;
  bool wants_magnitudes_ = false;
  std::unordered_map<const Value*, size_t> positions_;
  std::unordered_map<std::string, TensorRange> ranges_;
  std::vector<int64_t> classes_;  ///< scratch
  int64_t iterations_ = 0;
};

std::string ranges_json(const RangeStudy& study, const std::string& model, const std::string& backend,
                        DType ranked_by);
std::string ranges_csv(const RangeStudy& study, DType ranked_by);

}  // namespace assay::debug
