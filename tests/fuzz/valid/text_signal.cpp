// Strings and signals.
#include "fuzz/valid/recipes.h"
#include "tensor/convert.h"

namespace assay::fuzz {

void make_string_normalizer(Draft& d) {
  d.input("X", d.r.chance(70) ? Shape{d.positive(5)} : Shape{1, d.positive(5)});
  d.word("case_change_action", {"NONE", "LOWER", "UPPER"});
  d.flag("is_case_sensitive");
  if (d.r.chance(80)) d.attr("locale", std::string("C"));
  if (d.r.chance(60)) d.attr("stopwords", std::vector<std::string>{"a", "x,y,z"});
}

void make_string_split(Draft& d) {
  d.input("X", d.shape(0, 3));
  if (d.r.chance(60)) d.attr("delimiter", std::string(d.r.one_of({",", "a", "ab", "", " "})));
  if (d.r.chance(50)) d.attr("maxsplit", d.r.between(0, 3));
  d.outputs = 2;
}

void make_regex(Draft& d) {
  d.input("X", d.shape(0, 3));
  d.attr("pattern", std::string(d.r.one_of({"a", "[a-z]+", ".*", "(a|b)*", "\\d+", "-?[0-9.]+", "a b"})));
}

void make_tf_idf(Draft& d) {
  d.choose("T", {DType::kInt32, DType::kInt64});
  d.input("X", d.positive_shape(1, 2), 0, 4);
  const int64_t least = d.positive(2);
  d.attr("mode", std::string(d.r.one_of({"TF", "IDF", "TFIDF"})));
  d.attr("min_gram_length", least);
  d.attr("max_gram_length", d.r.between(least, 2));
  d.attr("max_skip_count", d.r.between(0, 2));
  d.attr("ngram_counts", std::vector<int64_t>{0, 3});
  d.attr("ngram_indexes", std::vector<int64_t>{0, 1, 2, 3, 4, 5});
  d.attr("pool_int64s", std::vector<int64_t>{0, 2, 3, 0, 1, 2, 3, 4, 4});
  if (d.r.chance(60)) d.attr("weights", std::vector<float>{1, 2, 0.5f, 1, 3, 1});
}

void make_dft(Draft& d) {
  Shape s = d.positive_shape(2, 4);
  const bool complex = d.r.chance(50), inverse = d.r.chance(40);
  s[static_cast<size_t>(s.rank() - 1)] = complex ? 2 : 1;
  d.input("input", s);
  const int64_t axis = d.r.between(0, s.rank() - 2);
  if (d.r.chance(70))
    d.integer("axis", d.r.chance(50) ? axis : axis - s.rank());
  else if (d.since < 20 && s.rank() < 3)
    d.integer("axis", 0);
  if (d.r.chance(40)) d.input("dft_length", d.integers(d.input_dtype("dft_length"), {}, 1, 6));
  if (inverse) d.attr("inverse", int64_t{1});
  if (!complex && !inverse && d.r.chance(50)) d.attr("onesided", int64_t{1});
}

void make_stft(Draft& d) {
  const int64_t frame = d.r.between(2, 6), length = frame + d.r.between(0, 9);
  const bool complex = d.r.chance(30);
  d.input("signal", Shape{d.positive(2), length, complex ? 2 : 1});
  d.input("frame_step", d.integers(d.input_dtype("frame_step"), {}, 1, 4));
  const bool window = d.r.chance(60);
  if (window) d.input("window", Shape{frame});
  if (!window || d.r.chance(60))
    d.input("frame_length", d.integers(d.input_dtype("frame_length"), {}, frame, frame));
  if (complex)
    d.attr("onesided", int64_t{0});
  else
    d.flag("onesided");
}

/// BlackmanWindow, HammingWindow, HannWindow.
void make_window(Draft& d) {
  d.input("size", d.integers(d.input_dtype("size"), {}, 2, 9));
  d.flag("periodic");
  // As integers, a window is 0 everywhere but where rounding decides whether its middle is 1.
  d.choose("T2", {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16});
  if (d.r.chance(50)) d.attr("output_datatype", static_cast<int64_t>(d.dtype("T2")));
}

void make_mel(Draft& d) {
  const DType t = d.input_dtype("num_mel_bins");
  d.input("num_mel_bins", d.integers(t, {}, 2, 6));
  d.input("dft_length", d.integers(d.input_dtype("dft_length"), {}, 16, 40));
  d.input("sample_rate", d.integers(d.input_dtype("sample_rate"), {}, 8000, 8000));
  d.input("lower_edge_hertz", d.values(d.input_dtype("lower_edge_hertz"), {}, 0, 100));
  d.input("upper_edge_hertz", d.values(d.input_dtype("upper_edge_hertz"), {}, 2000, 4000));
  if (d.r.chance(50)) d.attr("output_datatype", static_cast<int64_t>(d.dtype("T3")));
}

}  // namespace assay::fuzz
