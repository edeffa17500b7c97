// Inception v4 (Szegedy et al., "Inception-v4, Inception-ResNet and the Impact of Residual Connections on
// Learning", 2017), as timm builds it, batch normalization folded.
#include <fmt/core.h>

#include "templates/inception.h"
#include "templates/template_list.h"

namespace assay::template_inception_v4 {
namespace {

using Branches = std::vector<Feature>;

Feature reduced(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return max_pool(b, s, x, {.kernel = 3, .stride = 2});
}

/// Convolutions in sequence, items of a Sequential from `first` on.
Feature chain(TemplateBuilder& b, const Scope& s, Feature x, std::initializer_list<ConvSpec> specs,
              int first = 0) {
  for (const ConvSpec& spec : specs) x = inception_conv(b, s.item(first++), x, spec);
  return x;
}

Feature pool_branch(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs) {
  const Scope branch = s.child("branch3");
  return chain(b, branch, average_pool(b, branch.item(0), x, {.kernel = 3, .stride = 1, .pad = 1}, false),
               {same_conv(outputs)}, 1);
}

Feature stem(TemplateBuilder& b, const Scope& features, const Feature& image) {
  const Feature x = chain(b, features, image, {valid_conv(32, 2), valid_conv(32, 1), same_conv(64, 3, 3)});
  const Scope s3 = features.item(3), s4 = features.item(4), s5 = features.item(5);
  const Feature y =
      concat(b, s3, Branches{reduced(b, s3, x), inception_conv(b, s3.child("conv"), x, valid_conv(96, 2))});
  const Feature z =
      concat(b, s4,
             Branches{chain(b, s4.child("branch0"), y, {same_conv(64), valid_conv(96, 1)}),
                      chain(b, s4.child("branch1"), y,
                            {same_conv(64), same_conv(64, 1, 7), same_conv(64, 7, 1), valid_conv(96, 1)})});
  return concat(b, s5,
                Branches{inception_conv(b, s5.child("conv"), z, valid_conv(192, 2)), reduced(b, s5, z)});
}

Feature block_a(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return concat(
      b, s,
      Branches{inception_conv(b, s.child("branch0"), x, same_conv(96)),
               chain(b, s.child("branch1"), x, {same_conv(64), same_conv(96, 3, 3)}),
               chain(b, s.child("branch2"), x, {same_conv(64), same_conv(96, 3, 3), same_conv(96, 3, 3)}),
               pool_branch(b, s, x, 96)});
}

Feature reduction_a(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return concat(
      b, s,
      Branches{inception_conv(b, s.child("branch0"), x, valid_conv(384, 2)),
               chain(b, s.child("branch1"), x, {same_conv(192), same_conv(224, 3, 3), valid_conv(256, 2)}),
               reduced(b, s.child("branch2"), x)});
}

Feature block_b(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return concat(
      b, s,
      Branches{inception_conv(b, s.child("branch0"), x, same_conv(384)),
               chain(b, s.child("branch1"), x, {same_conv(192), same_conv(224, 1, 7), same_conv(256, 7, 1)}),
               chain(b, s.child("branch2"), x,
                     {same_conv(192), same_conv(192, 7, 1), same_conv(224, 1, 7), same_conv(224, 7, 1),
                      same_conv(256, 1, 7)}),
               pool_branch(b, s, x, 128)});
}

Feature reduction_b(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return concat(
      b, s,
      Branches{chain(b, s.child("branch0"), x, {same_conv(192), valid_conv(192, 2)}),
               chain(b, s.child("branch1"), x,
                     {same_conv(256), same_conv(256, 1, 7), same_conv(320, 7, 1), valid_conv(320, 2)}),
               reduced(b, s.child("branch2"), x)});
}

Feature block_c(TemplateBuilder& b, const Scope& s, const Feature& x) {
  const auto both = [&](const char* first, const char* second, const Feature& y) {
    return concat(b, s,
                  Branches{inception_conv(b, s.child(first), y, same_conv(256, 1, 3)),
                           inception_conv(b, s.child(second), y, same_conv(256, 3, 1))});
  };
  const Feature one = inception_conv(b, s.child("branch1_0"), x, same_conv(384));
  const Feature two = inception_chain(b, s, x,
                                      {{"branch2_0", same_conv(384)},
                                       {"branch2_1", same_conv(448, 3, 1)},
                                       {"branch2_2", same_conv(512, 1, 3)}});
  return concat(b, s,
                Branches{inception_conv(b, s.child("branch0"), x, same_conv(256)),
                         both("branch1_1a", "branch1_1b", one), both("branch2_3a", "branch2_3b", two),
                         pool_branch(b, s, x, 256)});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "inception_v4", {.folds_norms = true});
  const Scope root, features = root.child("features");
  Feature x = stem(b, features, image_input(b, "input", 3, 299, 299));
  int index = 6;
  for (int i = 0; i < 4; ++i) x = block_a(b, features.item(index++), x);
  x = reduction_a(b, features.item(index++), x);
  for (int i = 0; i < 7; ++i) x = block_b(b, features.item(index++), x);
  x = reduction_b(b, features.item(index++), x);
  for (int i = 0; i < 3; ++i) x = block_c(b, features.item(index++), x);
  inception_head(b, root.child("global_pool"), root.child("last_linear"), x);
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "inception-v4",
    .summary = "image classifier: parallel branches, norms folded (Szegedy et al., 2017)",
    .build = build};

}  // namespace assay::template_inception_v4
