// Activation functions that are half of x and something even, by pieces: for results that become 8 bits.
// Included by requantize_function.cpp for AVX-512.
#if defined(ASSAY_KERNELS_INT8_QUICK_FUNCTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_INT8_QUICK_FUNCTION_INL_H_
#undef ASSAY_KERNELS_INT8_QUICK_FUNCTION_INL_H_
#else
#define ASSAY_KERNELS_INT8_QUICK_FUNCTION_INL_H_
#endif

#include "kernels/int8/quotient-inl.h"
#include "kernels/int8/requantize.h"
#include "kernels/vector_math-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// A function as x / 2 + g(|x|): g(i * width + r) is a polynomial in r on [-width / 2, width / 2], lowest
/// power first, for i < 32, the last of which goes on: Chebyshev fits, within 6.2e-7 of the larger of g and
/// 1/2.
struct FunctionPieces {
  float width;  ///< a power of two
  const float (*pieces)[32];
};

inline constexpr int kPieceTerms = 5;
alignas(64) inline constexpr float kSiluPieces[5][32] = {
    {1.5720078e-08F, 0.061229672F, 0.23105857F, 0.4763617F, 0.7615942F, 1.0603546F, 1.3577224F, 1.6474072F,
     1.9280552F,     2.2005587F,   2.4665358F,  2.7276142F, 2.9851642F, 3.2402422F, 3.4936225F, 3.7458541F,
     3.9973173F,     4.248271F,    4.4988894F,  4.749289F,  4.999546F,  5.249711F,  5.4998164F, 5.7498837F,
     5.999926F,      6.2499533F,   6.4999704F,  6.7499814F, 6.9999886F, 7.249993F,  7.499995F,  7.75F},
    {-1.2677199e-17F, 0.23995523F, 0.4276648F, 0.5412922F,  0.59078497F, 0.5994025F,  0.5881052F, 0.570274F,
     0.55266494F,     0.53791124F, 0.5265475F, 0.5182245F,  0.5123264F,  0.50824183F, 0.5054605F, 0.50359076F,
     0.5023465F,      0.50152534F, 0.500987F,  0.50063616F, 0.50040853F, 0.5002616F,  0.500167F,  0.50010633F,
     0.5000676F,      0.50004286F, 0.5000271F, 0.50001717F, 0.5000108F,  0.5000068F,  0.5000043F, 0.5F},
    {0.24999547F,     0.22061263F,     0.15118483F,     0.078101F,
     0.025032029F,    -0.0042310664F,  -0.016160974F,   -0.018420938F,
     -0.01639212F,    -0.013045628F,   -0.009749649F,   -0.0070030224F,
     -0.00489643F,    -0.0033579627F,  -0.002269746F,   -0.0015170082F,
     -0.0010048117F,  -6.6065e-04F,    -4.3168958e-04F, -2.8059832e-04F,
     -1.8156206e-04F, -1.1701513e-04F, -7.5151824e-05F, -4.811562e-05F,
     -3.072012e-05F,  -1.9564535e-05F, -1.2431641e-05F, -7.882936e-06F,
     -4.989134e-06F,  -3.1521529e-06F, -1.988354e-06F,  0.0F},
    {1.4870342e-16F, -0.036425885F,  -0.050949104F,  -0.043318607F,
     -0.02707524F,   -0.012899296F,  -0.0040508914F, 3.2991002e-04F,
     0.0019931924F,  0.0022963928F,  0.002037301F,   0.0016154308F,
     0.001204023F,   8.633019e-04F,  6.029535e-04F,  4.132396e-04F,
     2.792207e-04F,  1.8658531e-04F, 1.2357713e-04F, 8.12484e-05F,
     5.309083e-05F,  3.4510034e-05F, 2.233066e-05F,  1.4392493e-05F,
     9.243815e-06F,  5.918545e-06F,  3.7789225e-06F, 2.4067435e-06F,
     1.5293356e-06F, 9.69785e-07F,   6.1379683e-07F, 0.0F},
    {-0.020639453F,   -0.013796696F,   -8.173944e-04F,  0.007194416F,
     0.0081670545F,   0.005785548F,    0.0031597093F,   0.0013706295F,
     4.0196473e-04F,  -3.643674e-05F,  -1.9209173e-04F, -2.1680463e-04F,
     -1.9026676e-04F, -1.49919e-04F,   -1.1131906e-04F, -7.963656e-05F,
     -5.554382e-05F,  -3.8035476e-05F, -2.5686817e-05F, -1.715937e-05F,
     -1.1362534e-05F, -7.4695913e-06F, -4.8805205e-06F, -3.1722586e-06F,
     -2.052621e-06F,  -1.3229158e-06F, -8.496487e-07F,  -5.43998e-07F,
     -3.473331e-07F,  -2.2120936e-07F, -1.405642e-07F,  0.0F},
};
alignas(64) inline constexpr float kGeluPieces[5][32] = {
    {1.1850779e-09F, 0.024676582F, 0.09573123F, 0.20502949F, 0.34134474F, 0.49293777F, 0.6497892F, 0.8048965F,
     0.9544997F,     1.097495F,    1.2344759F,  1.3668057F,  1.4959503F,  1.6231247F,  1.7491858F, 1.8746685F,
     1.9998733F,     2.1249545F,   2.2499847F,  2.3749952F,  2.4999986F,  2.6249995F,  2.75F,      2.875F,
     3.0F,           3.125F,       3.25F,       3.375F,      3.5F,        3.625F,      3.75F,      3.875F},
    {5.452214e-18F, 0.1953723F, 0.36749342F, 0.49922398F, 0.58331424F, 0.6226611F, 0.6274694F, 0.61092675F,
     0.5852325F,    0.5591903F, 0.5376114F,  0.5220277F,  0.51194566F, 0.5060173F, 0.5028217F, 0.50123376F,
     0.5005036F,    0.5001921F, 0.50006855F, 0.5000229F,  0.50000715F, 0.5000021F, 0.5000006F, 0.5000001F,
     0.50000006F,   0.5F,       0.5F,        0.5F,        0.5F,        0.5F,       0.5F,       0.5F},
    {0.39894092F,     0.37458363F,     0.30805674F,     0.21644287F,
     0.12098619F,     0.039955407F,    -0.01618903F,    -0.04583455F,
     -0.053991027F,   -0.048601583F,   -0.037247907F,   -0.02529167F,
     -0.015511576F,   -0.0086868955F,  -0.004472492F,   -0.0021265715F,
     -9.3679124e-04F, -3.8322594e-04F, -1.4584322e-04F, -5.170532e-05F,
     -1.7095315e-05F, -5.2758965e-06F, -1.5209273e-06F, -4.0980424e-07F,
     -1.0325747e-07F, -2.4340597e-08F, -5.3698193e-09F, -1.1090119e-09F,
     -2.1436948e-10F, -3.8670768e-11F, -6.5401855e-12F, 0.0F},
    {-6.067275e-16F, -0.063165985F, -0.10958273F,    -0.12895003F,   -0.1206707F,    -0.09263043F,
     -0.05671683F,   -0.023745961F, -1.7539505e-04F, 0.0125062335F,  0.016349377F,   0.014815416F,
     0.011079504F,   0.0072269156F, 0.0042163124F,   0.0022306321F,  0.0010791867F,  4.8013593e-04F,
     1.9721223e-04F, 7.499876e-05F, 2.6465024e-05F,  8.680143e-06F,  2.6497603e-06F, 7.536842e-07F,
     1.9992625e-07F, 4.949675e-08F, 1.144395e-08F,   2.4720381e-09F, 4.9858173e-10F, 9.330782e-11F,
     1.6424934e-11F, 0.0F},
    {-0.066257134F,   -0.057272132F,   -0.03385158F,    -0.00481093F,
     0.020022826F,    0.034060087F,    0.035975236F,    0.028922372F,
     0.018007385F,    0.007723098F,    5.4773845e-04F,  -0.0030934098F,
     -0.0040443307F,  -0.0035137527F,  -0.0024851903F,  -0.0015214861F,
     -8.2875864e-04F, -4.076919e-04F,  -1.8279368e-04F, -7.515582e-05F,
     -2.8457896e-05F, -9.955351e-06F,  -3.2253224e-06F, -9.695606e-07F,
     -2.7084582e-07F, -7.039955e-08F,  -1.7051182e-08F, -3.8540984e-09F,
     -8.221531e-10F,  -1.7524616e-10F, -3.381572e-11F,  0.0F},
};
alignas(64) inline constexpr float kGeluTanhPieces[5][32] = {
    {1.2120762e-09F, 0.024675352F, 0.09571401F, 0.20496055F, 0.34119198F, 0.4927142F, 0.6495716F, 0.8047954F,
     0.9545977F,     1.0977987F,   1.2349157F,  1.3672769F,  1.4963626F,  1.6234313F, 1.7493838F, 1.8747808F,
     1.9999298F,     2.12498F,     2.2499948F,  2.3749988F,  2.4999998F,  2.625F,     2.75F,      2.875F,
     3.0F,           3.125F,       3.25F,       3.375F,      3.5F,        3.625F,     3.75F,      3.875F},
    {-9.219608e-19F, 0.19535302F, 0.36736816F, 0.49893653F, 0.5829629F,  0.6224922F, 0.627711F,   0.61159754F,
     0.5860999F,     0.55991507F, 0.5379519F,  0.52194905F, 0.51158416F, 0.5055643F, 0.5024226F,  0.5009513F,
     0.5003351F,     0.50010526F, 0.5000293F,  0.5000072F,  0.50000155F, 0.5000003F, 0.50000006F, 0.5F,
     0.5F,           0.5F,        0.5F,        0.5F,        0.5F,        0.5F,       0.5F,        0.5F},
    {0.3989409F,      0.37447318F,     0.30775306F,     0.21615411F,
     0.12107495F,     0.040591393F,    -0.015258475F,   -0.04513918F,
     -0.05393759F,    -0.049189284F,   -0.038122937F,   -0.026033204F,
     -0.015883949F,   -0.008698504F,   -0.0042747296F,  -0.001880084F,
     -7.3700596e-04F, -2.5625338e-04F, -7.860594e-05F,  -2.1153852e-05F,
     -4.96538e-06F,   -1.010571e-06F,  -1.7725958e-07F, -2.6632996e-08F,
     -3.4064782e-09F, -3.6853487e-10F, -3.342125e-11F,  -2.4810386e-12F,
     -6.8974835e-14F, 1.0220352e-13F,  8.0988696e-14F,  0.0F},
    {-1.7135506e-16F, -0.063421145F,  -0.10975901F,   -0.1286876F,
     -0.119980074F,   -0.09198279F,   -0.056658518F,  -0.024395885F,
     -0.0011211911F,  0.011841017F,   0.016264908F,   0.015202142F,
     0.011609046F,    0.007621125F,   0.004379553F,   0.0022162073F,
     9.88086e-04F,    3.8731287e-04F, 1.3300896e-04F, 3.9844967e-05F,
     1.0362079e-05F,  2.3273678e-06F, 4.4904388e-07F, 7.401155e-08F,
     1.0361457e-08F,  1.2247535e-09F, 1.2089559e-10F, 9.655917e-12F,
     2.5412774e-14F,  -8.311276e-13F, -4.472372e-13F, 0.0F},
    {-0.06658091F,     -0.057399474F,   -0.033560213F,   -0.0042899325F,
     0.020274745F,     0.033707697F,    0.035225566F,    0.028350024F,
     0.018015385F,     0.008225729F,    0.0011347674F,   -0.002774294F,
     -0.0040669306F,   -0.0037294484F,  -0.0027064593F,  -0.0016485581F,
     -8.602594e-04F,   -3.8734922e-04F, -1.507269e-04F,  -5.062324e-05F,
     -1.4634195e-05F,  -3.627696e-06F,  -7.678063e-07F,  -1.380957e-07F,
     -2.0999906e-08F,  -2.690072e-09F,  -2.9673838e-10F, -3.1493662e-11F,
     -1.00957775e-11F, -1.035949e-11F,  -6.87144e-12F,   0.0F},
};

inline constexpr FunctionPieces kSilu{0.5F, kSiluPieces}, kGelu{0.25F, kGeluPieces},
    kGeluTanh{0.25F, kGeluTanhPieces};

/// Quantizes such a function of numbers, where that is certain to be what the function itself and a division
/// give; elsewhere these have to decide.
class QuickFunction {
 public:
  QuickFunction(const FunctionPieces& p, const Requantization& r)
      : last_(constant(31 * p.width)),
        lowest_(constant(-31.5F * p.width)),
        // The addend rounds to multiples of the width, which are the last bits then.
        rounds_to_pieces_(constant(12582912.0F * p.width)),
        half_(constant(0.5F * inverse_of(r.scale))),
        rounder_(constant(kRounder + static_cast<float>(r.zero_point))) {
    const float inverse = inverse_of(r.scale), zero_point = static_cast<float>(r.zero_point);
    const float least = r.is_signed ? -128 : 0, most = r.is_signed ? 127 : 255;
    for (int k = 0; k < kPieceTerms; ++k)
      for (int h = 0; h < 2; ++h)
        terms_[k][h] = hn::Mul(hn::LoadU(F(), p.pieces[k] + 16 * h), constant(inverse));
    // In steps: the error of the pieces, and some roundings of numbers of up to 256 of them on both ways.
    const float distance = 0.4996F - 6e-7F * inverse;
    tie_ = constant(distance);
    const bool has_bounds = std::isfinite(r.low) || std::isfinite(r.high);
    is_certain_ = std::isfinite(inverse) && r.scale > 0 && distance > 0.49F && !has_bounds;
    first_ = constant(least - zero_point);
    most_ = constant(most - zero_point);
  }

  /// Whether sums times `scale` plus `bias` are numbers that it can be given: nothing overflows.
  HWY_INLINE bool takes(VF scale, VF bias) const {
    const auto usual =
        hn::And(hn::Lt(hn::Abs(scale), constant(1e20F)), hn::Lt(hn::Abs(bias), constant(1e29F)));
    return is_certain_ && hn::AllTrue(F(), usual);
  }

  /// False, and nothing is stored, where a number is not certain. Vectors go `pitch` bytes apart.
  HWY_INLINE bool store(const Vectors& numbers, uint8_t* q, int64_t pitch) const {
    // Numbers further below give zero. The maximum is the second number where one is NaN.
    const Vectors x = each([this](VF v) HWY_ATTR { return VF{_mm512_max_ps(lowest_.raw, v.raw)}; }, numbers);
    const Vectors a = absolute(x);
    const Vectors t = each(
        [this](VF v) HWY_ATTR { return hn::Add(VF{_mm512_min_ps(v.raw, last_.raw)}, rounds_to_pieces_); }, a);
    const Vectors r =
        each([this](VF v, VF place) HWY_ATTR { return hn::Sub(v, hn::Sub(place, rounds_to_pieces_)); }, a, t);
    Vectors y = term(t, kPieceTerms - 1);
    ASSAY_UNROLL
    for (int k = kPieceTerms - 2; k >= 0; --k) y = mul_add(y, r, term(t, k));
    y = mul_add(x, half_, y);
    Vectors rounded;
    auto apart = hn::Lt(hn::Zero(F()), tie_);
    ASSAY_UNROLL
    for (size_t i = 0; i < kTogether; ++i) {
      const VF level = hn::Min(hn::Max(y.v[i], first_), most_);
      rounded.v[i] = hn::Add(level, rounder_);
      apart = hn::And(apart, hn::Lt(hn::Abs(hn::Sub(level, hn::Sub(rounded.v[i], rounder_))), tie_));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(F(), apart))) return false;
    ASSAY_UNROLL
    for (size_t i = 0; i < kTogether; ++i) store_quantized(rounded.v[i], q + static_cast<int64_t>(i) * pitch);
    return true;
  }

 private:
  HWY_INLINE Vectors term(const Vectors& place, int k) const {
    return each(
        [&](VF t) HWY_ATTR {
          return VF{_mm512_permutex2var_ps(terms_[k][0].raw, _mm512_castps_si512(t.raw), terms_[k][1].raw)};
        },
        place);
  }

  VF terms_[kPieceTerms][2];
  VF last_, lowest_, rounds_to_pieces_, half_, rounder_, tie_, first_, most_;
  bool is_certain_;
};

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();
#endif

#endif  // ASSAY_KERNELS_INT8_QUICK_FUNCTION_INL_H_
