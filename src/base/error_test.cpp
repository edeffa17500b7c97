#include "assay/error.h"

#include <gtest/gtest.h>

namespace assay::error_test {
namespace {

TEST(Error, SaysEveryPlaceOnce) {
  Error e(ErrorCode::kInvalidModel, "it is cut");
  e.set_remedy("Write it again.");
  e.add_context("in a.plan").add_context("in the runner trt").add_context("in a.plan").add_context("in b");
  EXPECT_STREQ(e.what(), "it is cut [in a.plan] [in the runner trt] [in b]. Write it again.");
  try {
    const auto place = [] { return std::string("in a.npz"); };
    with_context(place, [&] { with_context(place, [] { fail(ErrorCode::kIo, "no luck"); }); });
  } catch (const Error& caught) {
    EXPECT_STREQ(caught.what(), "no luck [in a.npz]");
  }
}

}  // namespace
}  // namespace assay::error_test
