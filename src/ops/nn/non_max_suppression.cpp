// NonMaxSuppression: for every image and class, boxes by descending score, each kept unless it overlaps a
// kept one by more than a threshold. Rows of the result are [image, class, box].
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eval_util.h"
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_onnx_NonMaxSuppression {
namespace {

enum Input { kBoxes, kScores, kMaxBoxes, kIouThreshold, kScoreThreshold };

void check_shapes(const OpContext& c, const Dims* boxes, const Dims* scores) {
  c.check(boxes == nullptr || (boxes->size() == 3 && (!(*boxes)[2].is_known() || (*boxes)[2].value() == 4)),
          "the boxes have shape {} where (images, boxes, 4) is needed", boxes ? dims_str(*boxes) : "");
  c.check(scores == nullptr || scores->size() == 3, "the scores have {} dimensions where 3 are needed",
          scores ? scores->size() : 0);
  if (boxes == nullptr || scores == nullptr) return;
  const auto differ = [](const Dim& a, const Dim& b) {
    return a.is_known() && b.is_known() && a.value() != b.value();
  };
  c.check(!differ((*boxes)[0], (*scores)[0]) && !differ((*boxes)[1], (*scores)[2]),
          "boxes of shape {} do not go with scores of shape {}", dims_str(*boxes), dims_str(*scores));
}

void infer(InferContext& c) {
  check_shapes(c, c.input_dims(kBoxes), c.input_dims(kScores));
  c.set_output(0, DType::kInt64, {Dim(), Dim(3)});
}

struct Box {
  Box(double left, double top, double right, double bottom)
      : x1(left), y1(top), x2(right), y2(bottom), area((right - left) * (bottom - top)) {}

  double x1, y1, x2, y2, area;
};

Box read_box(const double* p, bool by_center) {
  if (by_center) return {p[0] - p[2] / 2, p[1] - p[3] / 2, p[0] + p[2] / 2, p[1] + p[3] / 2};
  return {std::min(p[1], p[3]), std::min(p[0], p[2]), std::max(p[1], p[3]), std::max(p[0], p[2])};
}

bool overlap(const Box& a, const Box& b, double threshold) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1),
               height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0 || a.area <= 0 || b.area <= 0) return false;
  const double shared = width * height, all = a.area + b.area - shared;
  return all > 0 && shared / all > threshold;
}

/// Divides the horizontal axis into columns that are about as wide as a box: boxes without a common column
/// do not overlap. Detectors that choose among the boxes of all classes together move each class to its own
/// place, so that few of very many boxes can overlap.
class Columns {
 public:
  explicit Columns(const std::vector<Box>& boxes) {
    double low = std::numeric_limits<double>::infinity(), high = -low, widths = 0;
    for (const Box& b : boxes) {
      low = std::min(low, b.x1);
      high = std::max(high, b.x2);
      widths += std::max(b.x2 - b.x1, 0.0);
    }
    const double wanted = static_cast<double>(boxes.size()) * (high - low) / widths;
    // Anything that is not finite, or no number, leaves one column.
    if (!(std::isfinite(widths) && std::isfinite(high - low) && wanted >= 2)) return;
    count_ = static_cast<size_t>(std::min(wanted, kMax));
    low_ = low;
    per_unit_ = static_cast<double>(count_) / (high - low);
    if (!std::isfinite(per_unit_)) count_ = 1;
  }

  size_t count() const { return count_; }
  /// Never falls where `x` grows, so that boxes with a common place have a common column.
  size_t at(double x) const {
    if (count_ == 1) return 0;
    const double column = (x - low_) * per_unit_;
    return column <= 0 ? 0 : static_cast<size_t>(std::min(column, static_cast<double>(count_ - 1)));
  }

 private:
  static constexpr double kMax = 1024;
  size_t count_ = 1;
  double low_ = 0, per_unit_ = 0;
};

/// The boxes that were kept, by their columns.
class Kept {
 public:
  explicit Kept(const Columns& columns) : columns_(columns), at_(columns.count()) {}

  bool overlaps(const Box& box, double threshold) const {
    const auto clashes = [&](const Box& k) { return overlap(box, k, threshold); };
    const size_t first = columns_.at(box.x1), last = columns_.at(box.x2);
    size_t near = 0;
    for (size_t c = first; c <= last; ++c) near += at_[c].size();
    if (near > all_.size()) return std::any_of(all_.begin(), all_.end(), clashes);
    for (size_t c = first; c <= last; ++c)
      if (std::any_of(at_[c].begin(), at_[c].end(), clashes)) return true;
    return false;
  }
  void add(const Box& box) {
    all_.push_back(box);
    for (size_t c = columns_.at(box.x1); c <= columns_.at(box.x2); ++c) at_[c].push_back(box);
  }

 private:
  const Columns& columns_;
  std::vector<std::vector<Box>> at_;
  std::vector<Box> all_;
};

/// A box that has not been examined yet. Higher scores come first, of equal ones the lower number.
struct Waiting {
  double score;
  int64_t box;
  bool operator<(const Waiting& other) const {
    return score != other.score ? score < other.score : box > other.box;
  }
};

/// The kept boxes of one image and class, in the order in which they were chosen.
std::vector<int64_t> select(const std::vector<Box>& boxes, const Columns& columns, const double* scores,
                            int64_t most, double iou, const double* least_score) {
  std::vector<Waiting> waiting;
  for (int64_t i = 0; i < static_cast<int64_t>(boxes.size()); ++i)
    if (least_score == nullptr ? scores[i] == scores[i] : scores[i] > *least_score)
      waiting.push_back({scores[i], i});
  // A heap: most boxes are never needed.
  std::make_heap(waiting.begin(), waiting.end());
  std::vector<int64_t> chosen;
  Kept kept(columns);
  while (!waiting.empty() && static_cast<int64_t>(chosen.size()) < most) {
    std::pop_heap(waiting.begin(), waiting.end());
    const Box& box = boxes[static_cast<size_t>(waiting.back().box)];
    if (!kept.overlaps(box, iou)) {
      kept.add(box);
      chosen.push_back(waiting.back().box);
    }
    waiting.pop_back();
  }
  return chosen;
}

/// The number in an optional input: a scalar or one element; null when it is left out.
template <typename T>
const T* optional_scalar(const EvalContext& c, size_t i) {
  if (!c.has_input(i) || c.input(i).numel() == 0) return nullptr;
  c.check(c.input(i).numel() == 1, "input {} has shape {} where a scalar is needed", i, c.shape(i).str());
  return c.input(i).data<T>();
}

void eval(EvalContext& c) {
  const Dims box_dims = to_dims(c.shape(kBoxes)), score_dims = to_dims(c.shape(kScores));
  check_shapes(c, &box_dims, &score_dims);
  const int64_t images = c.shape(kBoxes)[0], count = c.shape(kBoxes)[1], classes = c.shape(kScores)[1];
  const int64_t by_center = c.attr_int("center_point_box");
  c.check(by_center == 0 || by_center == 1, "attribute 'center_point_box' is {}; it must be 0 or 1",
          by_center);
  const int64_t* most = optional_scalar<int64_t>(c, kMaxBoxes);
  const double* iou = optional_scalar<double>(c, kIouThreshold);
  c.check(iou == nullptr || (*iou >= 0 && *iou <= 1), "the iou_threshold is {}; it must be in [0, 1]",
          iou ? *iou : 0);
  const double* least_score = optional_scalar<double>(c, kScoreThreshold);
  std::vector<int64_t> rows;
  for (int64_t image = 0; most != nullptr && image < images; ++image) {
    std::vector<Box> boxes;
    for (int64_t i = 0; i < count; ++i)
      boxes.push_back(read_box(c.input(kBoxes).data<double>() + (image * count + i) * 4, by_center == 1));
    const Columns columns(boxes);
    std::vector<std::vector<int64_t>> kept(static_cast<size_t>(classes));
    parallel_for(
        classes, std::max<int64_t>(1, kElementGrain / (count + 1)), [&](int64_t first, int64_t last) {
          for (int64_t k = first; k < last; ++k)
            kept[static_cast<size_t>(k)] =
                select(boxes, columns, c.input(kScores).data<double>() + (image * classes + k) * count, *most,
                       iou ? *iou : 0.0, least_score);
        });
    for (int64_t k = 0; k < classes; ++k)
      for (const int64_t box : kept[static_cast<size_t>(k)]) {
        rows.push_back(image);
        rows.push_back(k);
        rows.push_back(box);
      }
  }
  c.set_output(0, Tensor::from<int64_t>({static_cast<int64_t>(rows.size()) / 3, 3}, rows));
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  boxes: float
in  scores: float
in  max_output_boxes_per_class: int64 ?
in  iou_threshold: float ?
in  score_threshold: float ?
out selected_indices: int64
attr center_point_box: int = 0)",
     infer, eval},
    {11, "same as NonMaxSuppression-10", infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "NonMaxSuppression",
    .versions = kVersions,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll, .infinities = true}}},
            .extra_steps = box_pair_steps,
        },
};

}  // namespace assay::op_onnx_NonMaxSuppression
