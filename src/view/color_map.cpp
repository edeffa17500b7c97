#include <algorithm>
#include <array>
#include <cmath>

#include "view/image.h"

namespace assay {
namespace {

/// Every eighth colour of the map, which is in the public domain.
constexpr std::array<Color, 33> kPlasma{
    {{13, 8, 135},   {34, 6, 144},   {49, 5, 151},   {63, 4, 156},   {76, 2, 161},   {89, 1, 165},
     {102, 0, 167},  {114, 1, 168},  {126, 3, 168},  {138, 9, 165},  {149, 17, 161}, {160, 26, 156},
     {170, 35, 149}, {179, 44, 142}, {188, 53, 135}, {196, 62, 127}, {204, 71, 120}, {210, 79, 113},
     {217, 88, 106}, {223, 98, 99},  {229, 107, 93}, {235, 117, 86}, {240, 127, 79}, {244, 137, 72},
     {248, 148, 65}, {251, 159, 58}, {253, 171, 51}, {254, 183, 45}, {253, 195, 40}, {252, 208, 37},
     {249, 221, 37}, {245, 235, 39}, {240, 249, 33}}};

uint8_t mix(uint8_t a, uint8_t b, double t) { return static_cast<uint8_t>(std::lround(a + (b - a) * t)); }

}  // namespace

Color plasma(double t) {
  const double place = std::clamp(t, 0.0, 1.0) * (kPlasma.size() - 1);
  const size_t i = std::min(static_cast<size_t>(place), kPlasma.size() - 2);
  const Color a = kPlasma[i], b = kPlasma[i + 1];
  const double rest = place - static_cast<double>(i);
  return {mix(a.red, b.red, rest), mix(a.green, b.green, rest), mix(a.blue, b.blue, rest)};
}

}  // namespace assay
