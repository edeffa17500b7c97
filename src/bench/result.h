// Results of `assay bench`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/runtime.h"
#include "bench/measure.h"
#include "bench/statistics.h"

namespace assay::bench {

/// A backend that can run the model.
struct Ready {
  enum class How : uint8_t { kBuilt, kLoaded, kOpened };
  std::string name;
  How how = How::kOpened;
  double seconds = 0;                              ///< to build the engine, load the plan or open a session
  size_t plan_bytes = 0;                           ///< of the file that was loaded or saved; 0: none was
  std::shared_ptr<Engine> engine;                  ///< null for a backend that is not ours
  std::vector<std::unique_ptr<Session>> sessions;  ///< one for each stream
};

/// A backend at one set of shapes. Times in milliseconds.
struct Row {
  std::string shapes, backend;
  double first_ms = 0;    ///< to make the contexts and run the first time
  double throughput = 0;  ///< runs in a second
  Summary latency, enqueue, compute;
  double wall_seconds = 0;
  double ratio = 1;       ///< of the median latency to the first backend's: above 1 is slower
  double difference = 0;  ///< from the first backend's outputs, relative to the largest magnitude
  std::vector<RunTimes> runs;
  size_t warm_up_runs = 0;
  double warm_up_ms = 0;
  TensorList outputs;
  int64_t peak_bytes = 0;  ///< of the process so far
};

/// Times of an engine's layers at one set of shapes.
struct LayerTimes {
  struct Layer {
    std::string name;
    std::vector<double> milliseconds;  ///< of each run
    double total() const;
  };
  std::string shapes;
  size_t runs = 0;
  std::vector<RunTimes> times;  ///< of the runs
  std::vector<Layer> layers;
  double total() const;
};

/// The work of a layer, and a lower bound of its time.
struct LayerFloor {
  std::string name, tactic;
  double milliseconds = 0;               ///< it took: the median
  std::optional<int64_t> multiply_adds;  ///< as the nodes' definitions count them; nothing: not known
  int64_t weight_bytes = 0;              ///< of the packed constants that it reads
  int64_t value_bytes = 0;               ///< of other operands and results, where their shapes are known
  double floor = 0;                      ///< milliseconds
};

struct Roofline {
  std::string shapes;
  double multiply_adds_per_second = 0, memory_bytes_per_second = 0;
  double int8_per_second = 0, bfloat16_per_second = 0;  ///< multiply-adds; 0: no layer computes in them
  std::vector<LayerFloor> layers;
  double milliseconds() const;
  double floor() const;
};

struct Result {
  std::string command, processor;
  int threads = 0;
  std::vector<Ready> backends;
  std::vector<Row> rows;
  std::vector<LayerTimes> profiles;
  std::vector<Roofline> rooflines;
};

/// Derives the times of a row from those of its runs.
void summarize_runs(Row& row, const Lane& lane, const std::vector<double>& percentiles);

/// The largest difference between elements, relative to the largest
/// magnitude of `b`; the maximum over numeric outputs that both have
/// in equal shapes. Infinity where one is NaN and the other is not.
double relative_difference(const TensorList& a, const TensorList& b);

}  // namespace assay::bench
