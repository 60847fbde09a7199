#pragma once

#include <cstdio>
#include <cstdlib>

namespace buoy::ops {

// For the measurements that are to choose between these, and gone when they have.
struct FewRowsTuning {
  int cluster = 4;
  int kilobytes = 216;  // of shared memory
  int most_tile = 256;  // rows of the weight
  int in_turn = 0;      // blocks of a cluster take steps in turn
};

// BUOY_FEW_ROWS=cluster,kilobytes,tile,in_turn until somebody writes to it.
inline FewRowsTuning& few_rows_tuning() {
  static FewRowsTuning tuning = [] {
    FewRowsTuning t;
    if (const char* text = std::getenv("BUOY_FEW_ROWS"))
      std::sscanf(text, "%d,%d,%d,%d", &t.cluster, &t.kilobytes, &t.most_tile, &t.in_turn);
    return t;
  }();
  return tuning;
}

}  // namespace buoy::ops
