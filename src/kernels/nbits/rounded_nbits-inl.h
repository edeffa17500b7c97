// The product in integers for one instruction set. The file that includes it, several times, defines in the
// namespace the vectors Ints and Floats with kLanes lanes, their operations, and ASSAY_NBITS, the attribute
// of the instruction set; hence no guard.

constexpr int64_t kVector = kLanes * 4;
/// Numbers that are rounded at a time.
constexpr int64_t kPart = 512;

/// Rows and columns of tiles.
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

/// Rounded numbers [0, count) of a row, whose first is number `first` of the row, in the order of streams.
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
ASSAY_NBITS bool round_row(const NbitsWeights& w, const RoundedRows& rows, const float* x, void* scratch,
                           int64_t r) {
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

/// Finds the scales of a column for the lanes of a chunk.
struct ScaleLanes {
  int64_t per_chunk, chunks_per_block;
  Ints index;

  ASSAY_NBITS explicit ScaleLanes(int64_t block_bytes)
      : per_chunk(std::max<int64_t>(1, kVector / block_bytes)),
        chunks_per_block(std::max<int64_t>(1, block_bytes / kVector)),
        index(lane_numbers(static_cast<int>(kLanes / per_chunk))) {}

  /// `count`: as many scales of the chunk as there are; they are one where a block has whole chunks.
  template <bool kOne>
  ASSAY_NBITS Floats read(const float* scales, int64_t chunk, int64_t count) const {
    if constexpr (kOne) return all_lanes(scales[chunk / chunks_per_block]);
    return spread(load_some(scales + chunk * per_chunk, count), index);
  }
};

/// So many bytes, or as many as there are with zeros behind them.
template <int64_t kBytes>
ASSAY_NBITS inline __m128i load_part(const uint8_t* p, int64_t count) {
  if (kBytes == 16 && count >= 16) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  uint64_t few = 0;
  if (count >= kBytes && kBytes <= 8) {
    std::memcpy(&few, p, kBytes);
    return _mm_set_epi64x(0, static_cast<int64_t>(few));
  }
  alignas(16) uint8_t list[16] = {};
  std::copy_n(p, std::clamp<int64_t>(count, 0, 16), list);
  return _mm_load_si128(reinterpret_cast<const __m128i*>(list));
}

/// Of each byte the quantized value at these bits.
template <int kBits, int kStream>
ASSAY_NBITS inline __m128i levels_at(__m128i v) {
  return _mm_and_si128(_mm_srli_epi16(v, kStream * kBits), _mm_set1_epi8((1 << kBits) - 1));
}

/// The quantized values of the first 16 * kBits / 8 bytes, a byte each.
template <int kBits>
ASSAY_NBITS inline __m128i unpacked(__m128i v) {
  if constexpr (kBits == 8) return v;
  const __m128i pairs = _mm_unpacklo_epi8(levels_at<kBits, 0>(v), levels_at<kBits, 1>(v));
  if constexpr (kBits == 4) return pairs;
  return _mm_unpacklo_epi16(pairs, _mm_unpacklo_epi8(levels_at<kBits, 2>(v), levels_at<kBits, 3>(v)));
}

/// Zero points of the blocks from `b` on, of a column.
template <int kBits>
ASSAY_NBITS inline Floats zeros_of(const NbitsWeights& w, int64_t column, int64_t b) {
  const int64_t at = b * kBits / 8;
  return first_bytes(unpacked<kBits>(
      load_part<kLanes * kBits / 8>(w.zero_points + column * w.zero_bytes() + at, w.zero_bytes() - at)));
}

/// Takes from each row's sums those over the blocks of a column of scale, zero point and the row's term.
template <int kBits, int64_t R>
ASSAY_NBITS inline void subtract_zeros(const NbitsWeights& w, int64_t column, const float* const (&terms)[R],
                                       Floats* sums, int64_t stride) {
  const int64_t blocks = w.blocks();
  const float* const scales = w.scales + column * blocks;
  const Floats half = all_lanes(static_cast<float>(1 << (kBits - 1)));
  for (int64_t b = 0; b < blocks; b += kLanes) {
    const Floats zeros = multiply(load_some(scales + b, blocks - b),
                                  w.zero_points == nullptr ? half : zeros_of<kBits>(w, column, b));
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r)
      sums[r * stride] = subtract_product(zeros, load_floats(terms[r] + b), sums[r * stride]);
  }
}

/// Rows and columns of a tile.
template <int64_t R, int64_t C>
struct RoundedTile {
  const int8_t* levels[R];
  const float *row_scales[R], *terms[R];
  const uint8_t* weights[C];
  const float* scales[C];
  int64_t ahead;  ///< bytes from weights to those that are fetched from memory in the meantime
  Floats sums[R][C];
};

/// The sums of one vector of weights. `bytes` and `scales`: how many of its own a chunk has.
template <int kBits, bool kOne, int64_t R, int64_t C>
ASSAY_NBITS inline void add_chunk(RoundedTile<R, C>& t, const ScaleLanes& lanes, int64_t chunk, int64_t bytes,
                                  int64_t scales) {
  constexpr int64_t kStreams = 8 / kBits;
  ASSAY_UNROLL
  for (int64_t c = 0; c < C; ++c) {
    const uint8_t* const at = t.weights[c] + chunk * kVector;
    __builtin_prefetch(at + t.ahead);
    const Ints levels = load_bytes(at, bytes);
    const Floats scale = lanes.read<kOne>(t.scales[c], chunk, scales);
    Ints parts[kStreams];
    ASSAY_UNROLL
    for (int64_t s = 0; s < kStreams; ++s) parts[s] = stream_of<kBits>(levels, static_cast<int>(s));
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      Ints sum = zero_ints();
      ASSAY_UNROLL
      for (int64_t s = 0; s < kStreams; ++s)
        sum = dot(sum, parts[s], load_vector(t.levels[r] + (chunk * kStreams + s) * kVector));
      t.sums[r][c] = multiply_add(multiply(to_floats(sum), scale),
                                  load_floats(t.row_scales[r] + chunk * kLanes), t.sums[r][c]);
    }
  }
}

template <int kBits, bool kOne, int64_t R, int64_t C>
ASSAY_NBITS inline void rounded_tile(const NbitsWeights& w, const RoundedRows& rows, const ScaleLanes& lanes,
                                     void* scratch, int64_t row, int64_t column, const float* bias,
                                     float* y) {
  const int64_t blocks = w.blocks();
  RoundedTile<R, C> t;
  ASSAY_UNROLL
  for (int64_t r = 0; r < R; ++r) {
    t.levels[r] = rows.levels(scratch, row + r);
    t.row_scales[r] = rows.scales(scratch, row + r);
    t.terms[r] = rows.terms(scratch, row + r);
  }
  t.ahead = kTilesAhead * C * rows.row_bytes;
  ASSAY_UNROLL
  for (int64_t c = 0; c < C; ++c) {
    t.weights[c] = w.levels + (column + c) * rows.row_bytes;
    t.scales[c] = w.scales + (column + c) * blocks;
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) t.sums[r][c] = zero_floats();
  }
  const int64_t full = rows.row_bytes / kVector;
  for (int64_t chunk = 0; chunk < full; ++chunk)
    add_chunk<kBits, kOne, R, C>(t, lanes, chunk, kVector, lanes.per_chunk);
  if (full < rows.chunks)
    add_chunk<kBits, kOne, R, C>(t, lanes, full, rows.row_bytes - full * kVector,
                                 blocks - full * lanes.per_chunk);
  ASSAY_UNROLL
  for (int64_t c = 0; c < C; ++c) {
    subtract_zeros<kBits, R>(w, column + c, t.terms, &t.sums[0][c], C);
    ASSAY_UNROLL
    for (int64_t r = 0; r < R; ++r) {
      const float sum = sum_of_lanes(t.sums[r][c]);
      y[(row + r) * w.n + column + c] = bias == nullptr ? sum : sum + bias[column + c];
    }
  }
}

template <int kBits, bool kOne, int64_t R, int64_t C>
ASSAY_NBITS void rounded_columns_of(const NbitsWeights& w, const RoundedRows& rows, void* scratch,
                                    int64_t row, int64_t first, int64_t last, const float* bias, float* y) {
  const ScaleLanes lanes(w.block_bytes());
  for (; first + C <= last; first += C)
    rounded_tile<kBits, kOne, R, C>(w, rows, lanes, scratch, row, first, bias, y);
  for (; C > 1 && first < last; ++first)
    rounded_tile<kBits, kOne, R, 1>(w, rows, lanes, scratch, row, first, bias, y);
}

template <int kBits, int64_t R, int64_t C>
void rounded_columns(const NbitsWeights& w, const RoundedRows& rows, void* scratch, int64_t row,
                     int64_t first, int64_t last, const float* bias, float* y) {
  if (w.block_bytes() >= kVector)
    rounded_columns_of<kBits, true, R, C>(w, rows, scratch, row, first, last, bias, y);
  else
    rounded_columns_of<kBits, false, R, C>(w, rows, scratch, row, first, last, bias, y);
}

template <int kBits>
bool rounded_product_of(const NbitsWeights& w, const float* x, int64_t m, const float* bias, float* y,
                        void* scratch) {
  /// Columns whose weights stay in a cache while all rows are multiplied by them; products of a thread at
  /// least.
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
      for (; r < m; ++r)
        rounded_columns<kBits, kFewRows, kFewColumns>(w, rows, scratch, r, column, end, bias, y);
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
