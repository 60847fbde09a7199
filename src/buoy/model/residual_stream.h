#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "buoy/model/observation.h"
#include "buoy/model/packed_batch.h"

namespace buoy::model {

// A stretch of the rows of a pass. `packed` says which row of the batch each is; empty: row i is row i.
struct StreamRows {
  float* values;       // [count, width]
  std::int64_t first;  // number of the first of them among all rows of the pass
  std::int64_t count;
  std::int64_t width;
  std::span<const std::int64_t> packed = {};  // of all rows of the pass

  std::int64_t packed_row(std::int64_t i) const {
    return packed.empty() ? first + i : packed[static_cast<size_t>(first + i)];
  }
};

// Whether a sequence of `count` rows has these, in ascending order and none twice: who changes them on a
// device does so side by side, and who reads them finds each once.
bool are_rows_of(std::span<const std::int32_t> rows, std::int64_t count);

// Makes what was asked for of what was gathered, and drops the rest: lengths, peaks, cosines. `hidden`: width
// of a row.
void finish_residual(const probe::ResidualRequest& request, const probe::Address& address,
                     std::int64_t hidden, probe::ResidualRecord& record);

// The residual stream of one layer while somebody reads or changes it: gathers what was asked for and makes
// the changes, sequence by sequence. Nothing asked: every call returns at once.
class ResidualStream {
 public:
  ResidualStream(std::int64_t hidden, const PackedBatch& batch,
                 std::span<const LayerObservation> observations);

  bool any() const { return reads_ || changes_; }
  // Packed rows that are read behind the attention, ascending in each sequence; all of those whose routers
  // are watched.
  std::vector<std::int64_t> rows_behind_attention() const;
  // No row of the batch needs its MLP.
  bool leaves_out_mlp() const;
  bool reads_routing() const;

  void pass(probe::ResidualPoint point, const StreamRows& rows);  // changes, then reads
  void read_attention_out(const StreamRows& rows);
  void read_head_out(const StreamRows& rows);
  void pass_mlp_out(const StreamRows& rows);  // scales, then reads

  // Looks at states [rows, hidden] through the final norm and the head, for so many likeliest tokens.
  using Lens =
      std::function<void(std::span<const float> states, std::int64_t top, probe::ResidualRecord& record)>;
  // Behind the layer: what was read of a sequence.
  probe::ResidualRecord finish(size_t sequence, const Lens& lens);

 private:
  using Wanted = bool (*)(const probe::ResidualRequest&);
  using Member = std::vector<float> probe::ResidualRecord::*;
  void change(probe::ResidualPoint point, const StreamRows& rows) const;
  void read(Wanted wanted, Member to, const StreamRows& rows);
  void check(size_t sequence) const;

  std::int64_t hidden_;
  const PackedBatch& batch_;
  std::span<const LayerObservation> observations_;
  bool reads_ = false, changes_ = false;
  std::vector<probe::ResidualRecord> records_;  // of each sequence
};

}  // namespace buoy::model
