#include "ops/contrib/group_normalizer.h"

#include "ops/contrib/channels_last.h"
#include "ops/contrib/gelus.h"
#include "ops/infer_util.h"

namespace assay {
namespace {

int64_t read_groups(const OpContext& c, const Dim& channels) {
  const int64_t groups = c.attr_int("groups");
  c.check(groups >= 1, "attribute 'groups' is {}; it must be at least 1", groups);
  c.check(!channels.is_known() || channels.value() % groups == 0, "{} groups do not divide {} channels",
          groups, channels.str());
  return groups;
}

bool has_activation(const OpContext& c) {
  const int64_t activation = c.attr_int("activation");
  c.check(activation == 0 || activation == 1, "attribute 'activation' is {}; it must be 0 or 1", activation);
  return activation == 1;
}

}  // namespace

void infer_group_norm(InferContext& c) {
  has_activation(c);
  infer_same_as_input(c);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return;
  c.check(in->size() >= 3, "the input has {} dimensions; it needs batch, channels and at least one more",
          in->size());
  read_groups(c, has_channels_last(c) ? in->back() : (*in)[1]);
}

Traced group_norm(const EvalContext& c, Steps& steps, const Traced& x) {
  const bool last = has_channels_last(c);
  const Traced image = last ? Steps::move(x, [](const Tensor& t) { return channels_second(t); }) : x;
  const Shape& shape = image.value.shape();
  c.check(shape.size() >= 3, "the input has shape {}; it needs batch, channels and at least one more",
          c.shape(0).str());
  const int64_t channels = shape[1], groups = read_groups(c, Dim(channels));
  const int64_t inner = shape.numel(2, shape.size());
  c.check(channels > 0 && inner > 0, "an image of shape {} has nothing to normalise", c.shape(0).str());
  Shape per_channel(std::vector<int64_t>(shape.size(), 1));
  per_channel[1] = channels;
  const auto parameter = [&](size_t i) {
    c.check(c.shape(i) == Shape{channels}, "input {} has shape {} for {} channels", i, c.shape(i).str(),
            channels);
    return steps.given(c.input(i).reshaped(per_channel));
  };
  Traced y = steps.normalize(image, channels / groups * inner, c.attr_float("epsilon"));
  y = steps.add(steps.multiply(y, parameter(1)), parameter(2));
  if (has_activation(c)) y = quick_gelu(steps, y, 1);
  return last ? Steps::move(y, [](const Tensor& t) { return channels_last(t); }) : y;
}

}  // namespace assay
