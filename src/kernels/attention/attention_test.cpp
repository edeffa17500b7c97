#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace assay::kernels::attention_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  Attention a;
  std::vector<float> query, key, value, added;
  std::vector<uint8_t> bytes;
  std::vector<const void*> masks;

  int64_t rows() const { return a.batch * a.heads * a.queries; }
  float score(int64_t b, int64_t h, int64_t q, int64_t k) const {
    const int64_t g = h / (a.heads / a.groups);
    double sum = 0;
    for (int64_t i = 0; i < a.size; ++i)
      sum += double{a.scale} *
             query[b * a.query.batch + h * a.query.head + q * a.query.row + i * a.query.element] *
             key[b * a.key.batch + g * a.key.head + k * a.key.row + i * a.key.element];
    auto s = static_cast<float>(sum);
    for (size_t m = 0; m < masks.size(); ++m) {
      const AttentionMask& mask = a.masks[m];
      const int64_t at = (mask.period > 0 ? b % mask.period : b) * mask.batch + h * mask.head +
                         q * mask.query + k * mask.key;
      if (mask.kind == AttentionMask::Kind::kAdded)
        s += added[at];
      else if ((bytes[at] != 0) == mask.when)
        s = mask.fill;
    }
    return s;
  }
  /// A row as the formula says, in float64.
  std::vector<double> expected(int64_t b, int64_t h, int64_t q) const {
    const int64_t g = h / (a.heads / a.groups);
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    std::vector<double> weights;
    for (int64_t k = 0; k < a.keys; ++k) {
      weights.push_back(score(b, h, q, k));
      largest = std::isnan(weights.back()) || weights.back() > largest ? weights.back() : largest;
    }
    for (double& w : weights) total += w = std::exp(w - largest);
    std::vector<double> row(static_cast<size_t>(a.value_size), 0);
    for (int64_t c = 0; c < a.value_size; ++c)
      for (int64_t k = 0; k < a.keys; ++k)
        row[c] += weights[k] / total *
                  value[b * a.value.batch + g * a.value.head + k * a.value.row + c * a.value.element];
    return row;
  }
  std::vector<float> run(int64_t threads) const {
    std::vector<char> scratch(static_cast<size_t>(attention_scratch(a, threads)));
    std::vector<float> result(static_cast<size_t>(rows() * a.value_size + 3), 77);
    attention(a, query.data(), key.data(), value.data(), masks, result.data(), scratch.data(), threads);
    EXPECT_EQ(result.back(), 77);
    return result;
  }
  void check(double tolerance = 2e-5) const {
    const std::vector<float> result = run(2);
    for (int64_t b = 0; b < a.batch; ++b)
      for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t q = 0; q < a.queries; ++q) {
          const std::vector<double> row = expected(b, h, q);
          for (int64_t c = 0; c < a.value_size; ++c) {
            const float y = result[b * a.result.batch + h * a.result.head + q * a.result.row + c];
            const double wanted = row[c];
            if (std::isnan(wanted))
              ASSERT_TRUE(std::isnan(y)) << b << " " << h << " " << q << " " << c;
            else
              ASSERT_NEAR(y, wanted, tolerance)
                  << b << " " << h << " " << q << " " << c << " of " << a.queries << " x " << a.keys << " x "
                  << a.size << " x " << a.value_size;
          }
        }
    // To the bit, NaN too.
    for (const int64_t threads : {1, 5}) {
      const std::vector<float> again = run(threads);
      EXPECT_EQ(std::memcmp(result.data(), again.data(), result.size() * sizeof(float)), 0) << threads;
    }
  }
};

std::vector<float> numbers(std::mt19937& random, int64_t count) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = uniform(random);
  return v;
}

/// Operands dense in the order [batch, heads, positions, size], or with positions before heads.
Case make(std::mt19937& random, int64_t batch, int64_t heads, int64_t groups, int64_t queries, int64_t keys,
          int64_t size, int64_t value_size, bool positions_first = false, bool transposed_keys = false) {
  Case x;
  x.a = {.batch = batch,
         .heads = heads,
         .groups = groups,
         .queries = queries,
         .keys = keys,
         .size = size,
         .value_size = value_size,
         .scale = 1.5F,
         .query = {},
         .key = {},
         .value = {},
         .result = {},
         .masks = {}};
  const auto rows = [&](int64_t n, int64_t positions, int64_t width) {
    return positions_first ? AttentionRows{n * positions * width, width, n * width, 1}
                           : AttentionRows{n * positions * width, positions * width, width, 1};
  };
  x.a.query = rows(heads, queries, size);
  x.a.key = rows(groups, keys, size);
  x.a.value = rows(groups, keys, value_size);
  x.a.result = rows(heads, queries, value_size);
  if (transposed_keys) x.a.key = {groups * keys * size, keys * size, 1, keys};
  x.query = numbers(random, batch * heads * queries * size);
  x.key = numbers(random, batch * groups * keys * size);
  x.value = numbers(random, batch * groups * keys * value_size);
  return x;
}

TEST(Attention, IsTheFormula) {
  std::mt19937 random(1);
  for (const int64_t queries : {1, 3, 5, 49, 97})
    for (const int64_t keys : {1, 2, 17, 513})
      for (const int64_t size : {1, 16, 67})
        for (const int64_t value_size : {1, 16, 37}) {
          if (queries * keys > 20000 && size * value_size > 48) continue;
          make(random, 1, 3, 3, queries, keys, size, value_size, (queries + keys) % 2 == 0).check();
        }
}

TEST(Attention, HeadsShareKeys) {
  std::mt19937 random(2);
  for (const int64_t queries : {1, 2, 13})
    for (const bool positions_first : {false, true})
      for (const bool transposed : {false, true})
        make(random, 2, 6, 2, queries, 19, 20, 24, positions_first, transposed).check();
  make(random, 1, 8, 1, 1, 1100, 16, 64).check();
}

TEST(Attention, AppliesMasksInOrder) {
  std::mt19937 random(3);
  for (const int64_t queries : {1, 4, 50})
    for (const int64_t key_stride : {0, 1})
      for (const bool when : {false, true}) {
        Case x = make(random, 2, 2, 2, queries, 530, 16, 16);
        x.added = numbers(random, 2 * 2 * queries * 530);
        x.bytes.resize(x.added.size());
        for (uint8_t& b : x.bytes) b = random() % 3 == 0 ? 1 : 0;
        x.a.masks.push_back({.kind = AttentionMask::Kind::kHides,
                             .when = when,
                             .fill = -std::numeric_limits<float>::max(),
                             .batch = 0,
                             .head = 0,
                             .query = 530,
                             .key = key_stride});
        x.a.masks.push_back({.batch = 2 * queries * 530, .head = queries * 530, .query = 530, .key = 1});
        x.masks = {x.bytes.data(), x.added.data()};
        x.check();
      }
}

TEST(Attention, MasksRepeatAfterSomeOfTheBatch) {
  std::mt19937 random(7);
  for (const int64_t queries : {1, 7}) {
    Case x = make(random, 6, 2, 2, queries, 9, 8, 8);
    x.a.masks.push_back({.batch = queries * 9, .query = 9, .key = 1, .period = 3});
    x.added = numbers(random, 3 * queries * 9);
    x.masks = {x.added.data()};
    x.check();
  }
}

TEST(Attention, KeysThatAreHiddenByInfinityDoNotCount) {
  std::mt19937 random(4);
  for (const int64_t queries : {2, 60}) {
    Case x = make(random, 1, 2, 2, queries, 1030, 8, 8);
    x.a.masks.push_back({.query = 1030, .key = 1});
    x.added.assign(static_cast<size_t>(queries * 1030), 0);
    for (int64_t k = 0; k < 600; ++k) x.added[k] = -kInfinity;            // the first block and more
    for (int64_t k = 300; k < 1030; ++k) x.added[1030 + k] = -kInfinity;  // the later ones
    x.masks = {x.added.data()};
    x.check();
    for (int64_t k = 0; k < 1030; ++k) x.added[k] = -kInfinity;
    x.check();  // a row of NaN
  }
}

TEST(Attention, NanBesideNothingElseStays) {
  std::mt19937 random(6);
  for (const int64_t queries : {1, 60})
    for (const int64_t at : {0, 3, 511}) {
      Case x = make(random, 1, 1, 1, queries, 1030, 8, 8);
      x.a.masks.push_back({.query = 1030, .key = 1});
      x.added.assign(static_cast<size_t>(queries * 1030), 0);
      for (int64_t k = 0; k < 512; ++k) x.added[k] = -kInfinity;
      x.added[at] = std::numeric_limits<float>::quiet_NaN();
      x.masks = {x.added.data()};
      x.check();
    }
}

TEST(Attention, NanAndInfinityGoWhereTheFormulaPutsThem) {
  std::mt19937 random(5);
  for (const int64_t queries : {1, 60})
    for (const float strange : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      Case x = make(random, 1, 1, 1, queries, 700, 4, 4);
      x.query[0] = 1e30F;
      x.check();
      x.key[650 * 4] = strange;
      const std::vector<float> result = x.run(1);
      for (int64_t q = 0; q < queries; ++q)
        EXPECT_EQ(std::isnan(result[q * 4]), std::isnan(x.expected(0, 0, q)[0])) << q;
      x = make(random, 1, 1, 1, queries, 700, 4, 4);
      x.value[650 * 4 + 1] = strange;
      const std::vector<float> y = x.run(1);
      for (int64_t q = 0; q < queries; ++q) {
        EXPECT_NEAR(y[q * 4], x.expected(0, 0, q)[0], 1e-5);
        EXPECT_TRUE(std::isnan(strange) ? std::isnan(y[q * 4 + 1]) : y[q * 4 + 1] == strange);
      }
    }
}

}  // namespace
}  // namespace assay::kernels::attention_test
