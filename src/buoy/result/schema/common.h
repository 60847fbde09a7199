#pragma once

#include "buoy/result/table_schema.h"

namespace buoy::schema {

// The column that tells traces (or runs) apart where a table is of several.
inline constexpr Axis trace{{"trace", "text", "which trace"}};

// How intervals are made.
inline constexpr Ends kOverSamples{"bootstrap interval over samples", "bootstrap interval over samples"};
inline constexpr Ends kEndsOverSamples{"lower end of the bootstrap interval over samples",
                                       "upper end of the bootstrap interval over samples"};
inline constexpr Ends kNewcombe{"lower end of its interval: Newcombe's for shares, else items resampled",
                                "upper end"};
inline constexpr Ends kWilson{"lower end of its interval: Wilson's for shares, else items resampled",
                              "upper end"};
inline constexpr Ends kItsInterval{"lower end of its interval", "upper end"};

// Columns that several producers have.
inline constexpr std::string_view kViewMeaning =
    "head_mean: heads averaged first (published); per_head: each head by itself, then the mean over heads "
    "(calibrated)";
inline constexpr std::string_view kDepthMeaning =
    "which layers: all, a third of the depth, the difference between the last and the first third, or slope: "
    "least squares over relative depth (0 first layer, 1 last), per sample";
inline constexpr std::string_view kStepBinMeaning =
    "eighth of the denoising run: 0 holds its first steps, 7 its last; autoregressive models have 7 only";
inline constexpr std::string_view kMapsMeaning = "maps (steps times samples times heads) with a value";
inline constexpr std::string_view kDeviationMeaning = "population standard deviation over steps and samples";
inline constexpr std::string_view kFloatingShareMeaning =
    "of the floating positions, mean over samples that have any";
inline constexpr std::string_view kRandomBaseMeaning =
    "share of the class among all positions of the same steps: what a random set has";

}  // namespace buoy::schema
