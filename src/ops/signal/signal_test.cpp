#include <cmath>
#include <complex>

#include "ops/nn/test_tensors.h"
#include "ops/signal/fourier.h"

namespace assay::signal_test {
namespace {

using Complex = std::complex<double>;

TEST(Fourier, EqualsTheDefinitionForEveryLength) {
  for (const int64_t n : {1, 2, 3, 4, 5, 6, 8, 9, 12, 13, 16, 25, 30, 49, 64, 97, 100}) {
    const Tensor x = random_tensor({n, 2}, static_cast<unsigned>(n));
    std::vector<Complex> in, out(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) in.emplace_back(x.data<double>()[2 * i], x.data<double>()[2 * i + 1]);
    Fourier(n, false)(in.data(), 1, out.data());
    for (int64_t k = 0; k < n; ++k) {
      Complex sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += in[static_cast<size_t>(j)] *
               std::polar(1.0, -2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n));
      EXPECT_LT(std::abs(out[static_cast<size_t>(k)] - sum), 1e-12 * static_cast<double>(n))
          << n << " at " << k;
    }
  }
}

/// sum over j of in[j] exp(-2 pi i jk / n)
Complex element_of_transform(const std::vector<Complex>& in, int64_t k) {
  const auto n = static_cast<int64_t>(in.size());
  Complex sum = 0;
  for (int64_t j = 0; j < n; ++j)
    sum += in[static_cast<size_t>(j)] *
           std::polar(1.0, -2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n));
  return sum;
}

TEST(Fourier, LargePrimesAreAsExactAsTheDefinition) {
  for (const int64_t n : {131, 257, 2 * 131, 3 * 139, 5 * 7 * 149, 131 * 137, 131 * 131, 80021}) {
    const Tensor x = random_tensor({n, 2}, static_cast<unsigned>(n));
    std::vector<Complex> in, out(static_cast<size_t>(n)), back(out);
    double size = 0;
    for (int64_t i = 0; i < n; ++i) {
      in.emplace_back(x.data<double>()[2 * i], x.data<double>()[2 * i + 1]);
      size += std::norm(in.back());
    }
    Fourier(n, false)(in.data(), 1, out.data());
    for (int64_t k = 0; k < n; k += std::max<int64_t>(1, n / 29))
      EXPECT_LT(std::abs(out[static_cast<size_t>(k)] - element_of_transform(in, k)), 5e-14 * std::sqrt(size))
          << n << " at " << k;
    Fourier(n, true)(out.data(), 1, back.data());
    for (int64_t k = 0; k < n; ++k)
      EXPECT_LT(std::abs(back[static_cast<size_t>(k)] / static_cast<double>(n) - in[static_cast<size_t>(k)]),
                1e-13)
          << n << " back at " << k;
  }
}

TEST(Fourier, WhatIsNotFiniteReachesNoMoreThanByDefinition) {
  const int64_t n = 262;
  std::vector<Complex> in(static_cast<size_t>(n), Complex(0.5, -1)), out(in);
  in[0] = {HUGE_VAL, 0};
  Fourier(n, false)(in.data(), 1, out.data());
  for (const Complex& x : out) EXPECT_EQ(x.real(), HUGE_VAL);
  in[3] = {-HUGE_VAL, 0};
  Fourier(n, false)(in.data(), 1, out.data());
  EXPECT_TRUE(std::isnan(out[0].real())) << "infinities of both signs";
}

TEST(Dft, InverseUndoesForwardAlongAnyAxis) {
  const Tensor x = random_tensor({3, 4, 10, 2}, 1);
  for (const int64_t axis : {0, 1, -2}) {
    const Tensor at = Tensor::scalar(axis);
    const Tensor y = run_op("DFT", 20, {x, Tensor(), at})[0];
    expect_near(run_op("DFT", 20, {y, Tensor(), at}, {{"inverse", int64_t{1}}})[0], x, 1e-14);
  }
}

TEST(Dft, OneSidedHalvesRealSpectra) {
  for (const int64_t n : {7, 8}) {
    const Tensor x = random_tensor({2, n, 1}, 1), length = Tensor::scalar(n);
    const Tensor whole = run_op("DFT", 17, {x})[0],
                 half = run_op("DFT", 17, {x}, {{"onesided", int64_t{1}}})[0];
    expect_near(half, slice(whole, 1, 0, n / 2 + 1), 1e-14);
    expect_near(run_op("DFT", 17, {half, length}, {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}})[0], x,
                1e-14);
  }
}

TEST(Dft, CutsOrPadsToItsLength) {
  const Tensor x = Tensor::from<double>({1, 3, 1}, {1, 2, 3});
  const auto first = [&](int64_t n) { return run_op("DFT", 17, {x, Tensor::scalar(n)})[0]; };
  EXPECT_EQ(first(2).shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(first(2).data<double>()[0], 3);
  EXPECT_EQ(first(5).data<double>()[0], 6);
}

TEST(Dft, InfersShapes) {
  const Type x = Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim::symbol("t"), Dim(1)});
  EXPECT_EQ(infer_op("DFT", 20, {x}, {{"onesided", int64_t{1}}}).str(), "float32[n, t/2+1, 2]");
  EXPECT_EQ(infer_op("DFT", 20, {x, Tensor::scalar<int64_t>(16)}).str(), "float32[n, 16, 2]");
  EXPECT_EQ(infer_op("DFT", 20, {x, InferInput::missing(), Type::tensor(DType::kInt64, Dims())}).str(),
            "float32[n, t, 2]");
}

TEST(DftErrors, NameTheBrokenRule) {
  const Tensor real = random_tensor({2, 4, 1}, 1), complex = random_tensor({2, 4, 2}, 1);
  expect_refused("DFT", 17,
                 {{{real}, {{"axis", int64_t{2}}}, "axis 2 is the one that holds the complex parts"},
                  {{random_tensor({2, 4, 3}, 1)}, {}, "the last dimension has 3 elements"},
                  {{complex}, {{"onesided", int64_t{1}}}, "a one-sided transform needs real numbers"},
                  {{random_tensor({4}, 1)}, {}, "the input has 1 dimensions"}});
  expect_error([&] { run_op("DFT", 17, {real, Tensor::scalar<int64_t>(0)}); }, "the transform's length is 0");
}

TEST(Stft, FramesAreTransformedWindows) {
  const Tensor x = random_tensor({2, 20, 1}, 1), window = random_tensor({8}, 2);
  const Tensor y = run_op("STFT", 17, {x, Tensor::scalar<int64_t>(5), window})[0];
  ASSERT_EQ(y.shape(), (Shape{2, 3, 5, 2}));
  Tensor frame = slice(x, 1, 10, 18);
  for (int64_t i = 0; i < 16; ++i) frame.mutable_data<double>()[i] *= window.data<double>()[i % 8];
  expect_near(slice(y, 1, 2, 3).reshaped({2, 5, 2}),
              run_op("DFT", 17, {frame}, {{"onesided", int64_t{1}}})[0], 1e-14);
  const Tensor step = Tensor::scalar<int64_t>(0);
  expect_error([&] { run_op("STFT", 17, {x, step, window}); }, "frame_step is 0");
  expect_error(
      [&] {
        run_op("STFT", 17, {x, Tensor::scalar<int64_t>(1), window, Tensor::scalar<int64_t>(9)});
      },
      "frame_length is 9, but the window has 8 elements");
  expect_error(
      [&] {
        run_op("STFT", 17, {x, Tensor::scalar<int64_t>(1), random_tensor({21}, 1)});
      },
      "frames of 21 do not fit in a signal of 20");
}

TEST(Windows, AreSymmetricOrPeriodic) {
  for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    const auto window = [&](int64_t n, int64_t periodic) {
      return values(run_op(op, 17, {Tensor::scalar(n)}, {{"periodic", periodic}})[0]);
    };
    const Values whole = window(9, 0), period = window(8, 1);
    EXPECT_NEAR(whole[4], 1, 1e-15) << op;
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(whole[i], whole[8 - i], 1e-15) << op;
      EXPECT_NEAR(whole[i], period[i], 1e-15) << op;
    }
    EXPECT_EQ(window(1, 0), (Values{1})) << op;
    EXPECT_EQ(window(0, 1), (Values{})) << op;
    EXPECT_EQ(infer_op(op, 17, {Tensor::scalar<int64_t>(5)}, {{"output_datatype", int64_t{11}}}).str(),
              "float64[5]");
    expect_error([&] { window(-1, 1); }, "the size is -1");
    expect_error(
        [&] {
          run_op(op, 17, {Tensor::scalar<int64_t>(5)}, {{"output_datatype", int64_t{8}}});
        },
        "not numeric");
  }
}

TEST(MelWeightMatrix, TrianglesPeakAtOneAndMeet) {
  const auto run = [](int64_t bands, int64_t length, int64_t rate, double low, double high) {
    return run_op("MelWeightMatrix", 17,
                  {Tensor::scalar(bands), Tensor::scalar(length), Tensor::scalar(rate), Tensor::scalar(low),
                   Tensor::scalar(high)})[0];
  };
  const Tensor y = run(8, 256, 16000, 0, 8000);
  ASSERT_EQ(y.shape(), (Shape{129, 8}));
  for (int64_t band = 0; band < 8; ++band) {
    double most = 0;
    for (int64_t bin = 0; bin < 129; ++bin) most = std::max(most, y.data<double>()[bin * 8 + band]);
    EXPECT_EQ(most, 1) << band;
  }
  expect_error([&] { run(8, 256, 16000, 0, 12000); }, "outside the 129 bins");
  expect_error([&] { run(0, 256, 16000, 0, 8000); }, "num_mel_bins 0");
}

}  // namespace
}  // namespace assay::signal_test
