#include "view/tensor_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/numbers.h"

namespace assay {
namespace {

struct Moments {
  int64_t finite = 0, nan = 0, infinite = 0;
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0, squares = 0;

  void add(double v) {
    if (std::isnan(v)) {
      ++nan;
    } else if (std::isinf(v)) {
      ++infinite;
    } else {
      ++finite;
      min = std::min(min, v);
      max = std::max(max, v);
      sum += v;
      squares += v * v;
    }
  }
};

/// Calls visit(element, index) for every element.
template <typename Visit>
void each_number(const Numbers& numbers, Visit visit) {
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, 0, numbers.block_count(), [&](const T* p, int64_t count, int64_t first) {
      for (int64_t i = 0; i < count; ++i) visit(static_cast<double>(p[i]), first + i);
      return true;
    });
  });
}

/// The averages of the cells of a matrix.
class Cells {
 public:
  Cells(const Shape& shape, int64_t elements, TensorPicture& picture)
      : picture_(picture), width_(elements / std::max<int64_t>(1, shape.rank() < 2 ? 1 : shape[0])) {
    const int64_t height = elements / width_;
    picture.rows = std::min(height, TensorPicture::kMaxRows);
    picture.columns = std::min(width_, TensorPicture::kMaxColumns);
    per_row_ = static_cast<double>(picture.rows) / static_cast<double>(height);
    per_column_ = static_cast<double>(picture.columns) / static_cast<double>(width_);
    picture.cells.assign(static_cast<size_t>(picture.rows * picture.columns), 0.0);
    counts_.assign(picture.cells.size(), 0);
  }

  void add(double v, int64_t index) {
    const auto row = static_cast<int64_t>(static_cast<double>(index / width_) * per_row_);
    const auto column = static_cast<int64_t>(static_cast<double>(index % width_) * per_column_);
    const auto cell = static_cast<size_t>(std::min(row, picture_.rows - 1) * picture_.columns +
                                          std::min(column, picture_.columns - 1));
    picture_.cells[cell] += v;
    ++counts_[cell];
  }

  void finish() {
    for (size_t i = 0; i < counts_.size(); ++i)
      picture_.cells[i] = counts_[i] > 0 ? picture_.cells[i] / static_cast<double>(counts_[i])
                                         : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  TensorPicture& picture_;
  int64_t width_;
  double per_row_ = 0, per_column_ = 0;
  std::vector<int64_t> counts_;
};

size_t bin_of(double v, const TensorPicture& p) {
  // Halves, because the range of finite numbers may not be one.
  const double part = (v / 2 - p.min / 2) / (p.max / 2 - p.min / 2);
  return static_cast<size_t>(
      std::clamp(static_cast<int>(part * TensorPicture::kBins), 0, TensorPicture::kBins - 1));
}

void write_number(JsonWriter& json, std::string_view key, double number) { json.key(key).value(number); }

}  // namespace

bool can_picture(const Tensor& tensor) {
  return tensor.defined() && !tensor.is_container() && tensor.numel() > 0 &&
         tensor.dtype() != DType::kString && !is_complex(tensor.dtype());
}

TensorPicture picture_of(const Tensor& tensor, std::string of) {
  const TensorNumbers numbers(tensor);
  TensorPicture picture;
  picture.of = std::move(of);
  picture.elements = numbers.size();
  Moments moments;
  each_number(numbers, [&](double v, int64_t) { moments.add(v); });
  picture.nan = moments.nan;
  picture.infinite = moments.infinite;
  Cells cells(numbers.shape(), numbers.size(), picture);
  if (moments.finite > 0) {
    const auto n = static_cast<double>(moments.finite);
    picture.min = moments.min;
    picture.max = moments.max;
    picture.mean = moments.sum / n;
    picture.deviation = std::sqrt(std::max(0.0, moments.squares / n - picture.mean * picture.mean));
    picture.counts.assign(TensorPicture::kBins, 0);
    each_number(numbers, [&](double v, int64_t index) {
      if (!std::isfinite(v)) return;
      ++picture.counts[picture.max > picture.min ? bin_of(v, picture) : TensorPicture::kBins / 2];
      cells.add(v, index);
    });
  }
  cells.finish();
  return picture;
}

void write_picture(JsonWriter& json, const TensorPicture& p) {
  json.begin_object();
  json.key("of").value(p.of);
  json.key("elements").value(p.elements);
  json.key("nan").value(p.nan);
  json.key("infinite").value(p.infinite);
  if (!p.counts.empty()) {
    write_number(json, "min", p.min);
    write_number(json, "max", p.max);
    write_number(json, "mean", p.mean);
    write_number(json, "deviation", p.deviation);
    json.key("histogram").begin_object();
    write_number(json, "low", p.min);
    write_number(json, "high", p.max);
    json.key("counts").begin_array();
    for (const int64_t n : p.counts) json.value(n);
    json.end_array().end_object();
  }
  json.key("map").begin_object();
  json.key("rows").value(p.rows);
  json.key("columns").value(p.columns);
  json.key("values").begin_array();
  for (const double v : p.cells) json.value(v);
  json.end_array().end_object();
  json.end_object();
}

}  // namespace assay
