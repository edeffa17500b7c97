// Inception v3 (Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2016), as
// torchvision builds it, without the auxiliary classifier that only training uses.
#include "templates/inception.h"
#include "templates/template_list.h"

namespace assay::template_inception_v3 {
namespace {

using Branches = std::vector<Feature>;

/// The map averaged over 3x3, then a 1x1 convolution.
Feature pool_branch(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs) {
  const Feature mean = average_pool(b, s, x, {.kernel = 3, .stride = 1, .pad = 1});
  return inception_conv(b, s.child("branch_pool"), mean, {.outputs = outputs});
}

Feature reduced(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return max_pool(b, s, x, {.kernel = 3, .stride = 2});
}

Feature block_a(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t pool_outputs) {
  return concat(b, s,
                Branches{inception_chain(b, s, x, {{"branch1x1", same_conv(64)}}),
                         inception_chain(
                             b, s, x, {{"branch5x5_1", same_conv(48)}, {"branch5x5_2", same_conv(64, 5, 5)}}),
                         inception_chain(b, s, x,
                                         {{"branch3x3dbl_1", same_conv(64)},
                                          {"branch3x3dbl_2", same_conv(96, 3, 3)},
                                          {"branch3x3dbl_3", same_conv(96, 3, 3)}}),
                         pool_branch(b, s, x, pool_outputs)});
}

Feature block_b(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return concat(b, s,
                Branches{inception_chain(b, s, x, {{"branch3x3", valid_conv(384, 2)}}),
                         inception_chain(b, s, x,
                                         {{"branch3x3dbl_1", same_conv(64)},
                                          {"branch3x3dbl_2", same_conv(96, 3, 3)},
                                          {"branch3x3dbl_3", valid_conv(96, 2)}}),
                         reduced(b, s, x)});
}

Feature block_c(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t inner) {
  return concat(b, s,
                Branches{inception_chain(b, s, x, {{"branch1x1", same_conv(192)}}),
                         inception_chain(b, s, x,
                                         {{"branch7x7_1", same_conv(inner)},
                                          {"branch7x7_2", same_conv(inner, 1, 7)},
                                          {"branch7x7_3", same_conv(192, 7, 1)}}),
                         inception_chain(b, s, x,
                                         {{"branch7x7dbl_1", same_conv(inner)},
                                          {"branch7x7dbl_2", same_conv(inner, 7, 1)},
                                          {"branch7x7dbl_3", same_conv(inner, 1, 7)},
                                          {"branch7x7dbl_4", same_conv(inner, 7, 1)},
                                          {"branch7x7dbl_5", same_conv(192, 1, 7)}}),
                         pool_branch(b, s, x, 192)});
}

Feature block_d(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return concat(b, s,
                Branches{inception_chain(
                             b, s, x, {{"branch3x3_1", same_conv(192)}, {"branch3x3_2", valid_conv(320, 2)}}),
                         inception_chain(b, s, x,
                                         {{"branch7x7x3_1", same_conv(192)},
                                          {"branch7x7x3_2", same_conv(192, 1, 7)},
                                          {"branch7x7x3_3", same_conv(192, 7, 1)},
                                          {"branch7x7x3_4", valid_conv(192, 2)}}),
                         reduced(b, s, x)});
}

Feature block_e(TemplateBuilder& b, const Scope& s, const Feature& x) {
  const auto both = [&](const char* first, const char* second, const Feature& y) {
    return concat(b, s,
                  Branches{inception_conv(b, s.child(first), y, same_conv(384, 1, 3)),
                           inception_conv(b, s.child(second), y, same_conv(384, 3, 1))});
  };
  const Feature single = inception_chain(b, s, x, {{"branch3x3_1", same_conv(384)}});
  const Feature twice = inception_chain(
      b, s, x, {{"branch3x3dbl_1", same_conv(448)}, {"branch3x3dbl_2", same_conv(384, 3, 3)}});
  return concat(b, s,
                Branches{inception_chain(b, s, x, {{"branch1x1", same_conv(320)}}),
                         both("branch3x3_2a", "branch3x3_2b", single),
                         both("branch3x3dbl_3a", "branch3x3dbl_3b", twice), pool_branch(b, s, x, 192)});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "inception_v3");
  const Scope root;
  Feature x = image_input(b, "input", 3, 299, 299);
  x = inception_chain(b, root, x,
                      {{"Conv2d_1a_3x3", valid_conv(32, 2)},
                       {"Conv2d_2a_3x3", valid_conv(32, 1)},
                       {"Conv2d_2b_3x3", same_conv(64, 3, 3)}});
  x = reduced(b, root.child("maxpool1"), x);
  x = inception_chain(b, root, x, {{"Conv2d_3b_1x1", same_conv(80)}, {"Conv2d_4a_3x3", valid_conv(192, 1)}});
  x = reduced(b, root.child("maxpool2"), x);
  x = block_a(b, root.child("Mixed_5b"), x, 32);
  x = block_a(b, root.child("Mixed_5c"), x, 64);
  x = block_a(b, root.child("Mixed_5d"), x, 64);
  x = block_b(b, root.child("Mixed_6a"), x);
  x = block_c(b, root.child("Mixed_6b"), x, 128);
  x = block_c(b, root.child("Mixed_6c"), x, 160);
  x = block_c(b, root.child("Mixed_6d"), x, 160);
  x = block_c(b, root.child("Mixed_6e"), x, 192);
  x = block_d(b, root.child("Mixed_7a"), x);
  x = block_e(b, root.child("Mixed_7b"), x);
  x = block_e(b, root.child("Mixed_7c"), x);
  inception_head(b, root.child("avgpool"), root.child("fc"), x);
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "inception-v3",
    .summary = "image classifier: parallel branches, 1x7 and 7x1 convolutions (Szegedy et al., 2016)",
    .build = build};

}  // namespace assay::template_inception_v3
