// The product in integers for one instruction set. Whoever includes it, several times, has defined in the
// namespace the vectors Ints and Floats with kLanes lanes, their operations, and ASSAY_NBITS, the attribute
// of the instruction set; hence no guard.

constexpr int64_t kVector = kLanes * 4;
/// Numbers that are rounded at a time.
constexpr int64_t kPart = 512;

/// Columns of a tile for so many rows.
constexpr int64_t kFewRows = 1, kManyRows = 4, kFewColumns = 4, kManyColumns = 2;

/// Below it a block's numbers divided by its scale could overflow.
constexpr float kTiny = 1e-30F;

/// The largest magnitude of a block. `finite` becomes NaN where an element is not finite.
ASSAY_NBITS inline float largest_of(const float* x, int64_t count, Floats& finite) {
  Floats largest = zero_floats();
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats v = load_some(x + i, count - i);
    largest = max_magnitude(largest, v);
    finite = multiply_add(v, zero_floats(), finite);
  }
  return largest_lane(largest);
}

/// Levels [0, count) of a row, whose first is number `first` of the row, in the order of streams.
template <int kBits>
ASSAY_NBITS void place_levels(const int8_t* levels, int64_t first, int64_t count, int8_t* to) {
  constexpr int64_t kStreams = 8 / kBits;
  for (int64_t i = 0; i < count; i += kStreams) {
    const int64_t byte = (first + i) / kStreams, chunk = byte / kVector;
    int8_t* const at = to + chunk * kStreams * kVector + byte % kVector;
    for (int64_t s = 0; s < kStreams; ++s) at[s * kVector] = levels[i + s];
  }
}

/// A row in the order of streams. False where it cannot be rounded.
template <int kBits>
ASSAY_NBITS bool round_row(const NbitsWeights& w, const RoundedRows& rows, const float* x, void* scratch, int64_t r) {
  int8_t* const levels = rows.levels(scratch, r);
  float *const scales = rows.scales(scratch, r), *const terms = rows.terms(scratch, r);
  std::fill_n(levels + (rows.chunks - 1) * rows.streams * kVector, rows.streams * kVector, int8_t{0});
  std::fill_n(scales, rows.chunks * kLanes, 0.0F);
  std::fill_n(terms, rows.blocks, 0.0F);
  Floats finite = zero_floats();
  const int64_t lanes = w.block_bytes() / 4, part = std::min(w.block, kPart);
  for (int64_t b = 0; b < w.blocks(); ++b) {
    const int64_t first = b * w.block;
    const float largest = largest_of(x + first, std::min(w.block, w.k - first), finite);
    if (largest != 0 && !(largest >= kTiny)) return false;
    const Floats inverse = all_lanes(largest == 0 ? 0 : 127 / largest);
    Floats sum = zero_floats();
    for (int64_t at = first; at < first + w.block; at += part) {
      alignas(64) int8_t list[kPart];
      for (int64_t i = 0; i < part; i += kLanes) {
        const Ints level = nearest(multiply(load_some(x + at + i, w.k - at - i), inverse));
        sum = add(sum, to_floats(level));
        store_bytes(list + i, level);
      }
      place_levels<kBits>(list, at, part, levels);
    }
    const float scale = largest / 127;
    terms[b] = scale * sum_of_lanes(sum);
    std::fill_n(scales + b * lanes, lanes, scale);
  }
  return sum_of_lanes(finite) == 0;
}

/// The scales of the lanes of chunk `c` of a column.
struct ScaleReader {
  int64_t per_chunk, chunks_per_block;
  Ints index;

  ASSAY_NBITS explicit ScaleReader(int64_t block_bytes)
      : per_chunk(std::max<int64_t>(1, kVector / block_bytes)),
        chunks_per_block(std::max<int64_t>(1, block_bytes / kVector)),
        index(lane_numbers(static_cast<int>(kLanes / per_chunk))) {}

  ASSAY_NBITS Floats read(const float* scales, int64_t c, int64_t blocks) const {
    if (per_chunk == 1) return all_lanes(scales[c / chunks_per_block]);
    return spread(load_some(scales + c * per_chunk, std::min(per_chunk, blocks - c * per_chunk)), index);
  }
};

/// Zero points of the blocks from `b` on, of a column.
template <int kBits>
ASSAY_NBITS inline Floats zeros_of(const NbitsWeights& w, int64_t column, int64_t b) {
  if (w.zero_points == nullptr) return all_lanes(static_cast<float>(1 << (kBits - 1)));
  const int64_t at = b * kBits / 8;
  return first_bytes(
      unpacked<kBits>(load_part(w.zero_points + column * w.zero_bytes() + at, w.zero_bytes() - at)));
}

/// For each row the sum over the blocks of a column of scale, zero point and the row's term.
template <int kBits, int64_t R>
ASSAY_NBITS inline void zero_sums(const NbitsWeights& w, int64_t column, const float* const (&terms)[R],
                                  float (&to)[R]) {
  const int64_t blocks = w.blocks();
  const float* const scales = w.scales + column * blocks;
  Floats sums[R];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) sums[r] = zero_floats();
  for (int64_t b = 0; b < blocks; b += kLanes) {
    const Floats zeros = multiply(load_some(scales + b, blocks - b), zeros_of<kBits>(w, column, b));
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) sums[r] = multiply_add(zeros, load_floats(terms[r] + b), sums[r]);
  }
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) to[r] = sum_of_lanes(sums[r]);
}

template <int kBits, int64_t R, int64_t C>
ASSAY_NBITS inline void rounded_tile(const NbitsWeights& w, const RoundedRows& rows, const ScaleReader& reader,
                                     void* scratch, int64_t row, int64_t column, const float* bias, float* y) {
  constexpr int64_t kStreams = 8 / kBits;
  const int64_t blocks = w.blocks();
  const int8_t* levels[R];
  const float *scales[R], *terms[R];
  for (int64_t r = 0; r < R; ++r) {
    levels[r] = rows.levels(scratch, row + r);
    scales[r] = rows.scales(scratch, row + r);
    terms[r] = rows.terms(scratch, row + r);
  }
  Floats sums[R][C];
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) ASSAY_UNROLL
  for (int64_t c = 0; c < C; ++c) sums[r][c] = zero_floats();
  for (int64_t chunk = 0; chunk < rows.chunks; ++chunk) {
    const int64_t at = chunk * kVector;
    ASSAY_UNROLL
    for (int64_t c = 0; c < C; ++c) {
      const Ints bytes = load_bytes(w.levels + (column + c) * rows.row_bytes + at, rows.row_bytes - at);
      const Floats scale = reader.read(w.scales + (column + c) * blocks, chunk, blocks);
      Ints parts[kStreams];
      ASSAY_UNROLL
      for (int64_t s = 0; s < kStreams; ++s) parts[s] = stream_of<kBits>(bytes, static_cast<int>(s));
      ASSAY_UNROLL
      for (int64_t r = 0; r < R; ++r) {
        Ints sum = zero_ints();
        ASSAY_UNROLL
        for (int64_t s = 0; s < kStreams; ++s)
          sum = dot(sum, parts[s], load_vector(levels[r] + (chunk * kStreams + s) * kVector));
        sums[r][c] = multiply_add(multiply(to_floats(sum), scale), load_floats(scales[r] + chunk * kLanes), sums[r][c]);
      }
    }
  }
  for (int64_t c = 0; c < C; ++c) {
    float zeros[R];
    zero_sums<kBits, R>(w, column + c, terms, zeros);
    for (int64_t r = 0; r < R; ++r) {
      const float sum = sum_of_lanes(sums[r][c]) - zeros[r];
      y[(row + r) * w.n + column + c] = bias == nullptr ? sum : sum + bias[column + c];
    }
  }
}

template <int kBits, int64_t R, int64_t C>
ASSAY_NBITS void rounded_columns(const NbitsWeights& w, const RoundedRows& rows, void* scratch, int64_t row,
                                 int64_t first, int64_t last, const float* bias, float* y) {
  const ScaleReader reader(w.block_bytes());
  for (; first + C <= last; first += C) rounded_tile<kBits, R, C>(w, rows, reader, scratch, row, first, bias, y);
  for (; C > 1 && first < last; ++first) rounded_tile<kBits, R, 1>(w, rows, reader, scratch, row, first, bias, y);
}

template <int kBits>
bool rounded_product_of(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                        void* scratch) {
  /// Columns whose weights stay in a cache while all rows are multiplied by them; products of a thread at least.
  constexpr int64_t kColumns = 64, kGrain = 1 << 17;
  const RoundedRows rows(w, kVector);
  for (int64_t r = 0; r < m; ++r)
    if (!round_row<kBits>(w, rows, x + r * w.k, scratch, r)) return false;
  parallel_for(w.n, std::max<int64_t>(kFewColumns, kGrain / w.k), [&](int64_t first, int64_t last) {
    for (int64_t column = first; column < last; column += kColumns) {
      const int64_t end = std::min(column + kColumns, last);
      int64_t r = 0;
      for (; r + kManyRows <= m; r += kManyRows)
        rounded_columns<kBits, kManyRows, kManyColumns>(w, rows, scratch, r, column, end, bias, y);
      for (; r < m; ++r) rounded_columns<kBits, kFewRows, kFewColumns>(w, rows, scratch, r, column, end, bias, y);
    }
  });
  return true;
}

inline bool rounded_product(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                            void* scratch) {
  if (w.bits == 2) return rounded_product_of<2>(w, x, m, bias, y, scratch);
  if (w.bits == 4) return rounded_product_of<4>(w, x, m, bias, y, scratch);
  return rounded_product_of<8>(w, x, m, bias, y, scratch);
}
