#pragma once

#include "buoy/analysis/core/state_archive.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/rounded_moments.h"

namespace buoy::analysis {

// Of moments whose means alone are used when the sample is over.
inline void archive_means(StateArchive& archive, stats::Moments& moments) {
  moments.visit([&](auto& count, auto& sum, auto& /*square*/) {
    archive.counts(count);
    archive.numbers(sum);
  });
}

// Of moments of whole numbers, which take little room.
inline void archive_whole(StateArchive& archive, stats::Moments& moments) {
  moments.visit([&](auto& count, auto& sum, auto& square) {
    archive.counts(count);
    archive.counts(sum);
    archive.counts(square);
  });
}

inline void archive_rounded(StateArchive& archive, stats::RoundedMoments& moments) {
  archive.counts(moments.count);
  archive.numbers(moments.mean);
  archive.numbers(moments.spread);
}

}  // namespace buoy::analysis
