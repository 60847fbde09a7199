#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "buoy/observe/plan.h"
#include "buoy/observe/subject.h"
#include "buoy/probe/probe.h"
#include "buoy/trace/array.h"
#include "buoy/trace/schema.h"

namespace buoy::observe {

// What key_sets() makes of regions. These change when the answer's end is seen, so sets belong to an end.
// They are kept as long as it stays: a device sends them once.
struct SetsOfEnd {
  std::shared_ptr<const KeySets> sets = nullptr;
  std::int64_t answer_end = -1;
};

// What a plan means for one sequence: which forwards and layers are asked for what, and which arrays of a
// trace come from it, with their shapes. It never changes: while one thread asks, others read and copy it.
class RecordLayout {
 public:
  using Shape = std::vector<std::int64_t>;

  // An array of the trace that the plan asks for. Large ones are an array of their own for each step and
  // layer, the others are stacked: [S, L, ...], or [S, ...] where they belong to a forward as a whole.
  struct Part {
    const trace::ArraySchema* schema;
    const ArraySource* source;
    Shape cell;  // of one (step, layer), or of one step
    bool large;
    bool of_forward = false;

    std::int64_t cell_size() const;  // values of one (step, layer), or of one step
  };

  RecordLayout(const Plan& plan, const Subject& subject);

  const Subject& subject() const { return subject_; }
  const std::vector<Part>& parts() const { return parts_; }            // in the order of the schema
  const std::vector<std::int64_t>& steps() const { return steps_; }    // numbers, ascending
  const std::vector<std::int64_t>& layers() const { return layers_; }  // likewise
  const std::vector<std::int32_t>& rows() const { return rows_; }      // query rows that write the answer
  bool looks_closely() const { return looks_closely_; }                // at those rows

  std::int64_t size_of(char letter) const;  // of a shape in the schema
  Shape stacked_shape(const Part& part) const;
  // Those that are stacked, in the order of a sample file: floats by name, then integers. Behind them come
  // the large ones, by step, layer and the order of parts().
  std::vector<const Part*> stacked_parts() const;
  // Steps, layers, rows of tokens [S, T], sizes of query groups [S, G], rows looked at closely.
  std::vector<trace::Array> frame(std::span<const std::int32_t> tokens_by_step,
                                  std::span<const std::int32_t> group_sizes) const;
  std::int64_t addresses() const { return size_of('S') * size_of('L'); }
  std::int64_t cells(const Part& part) const { return part.of_forward ? size_of('S') : addresses(); }
  std::int64_t cell_index(const Part& part, const probe::Address& address) const;
  bool asks_layers() const;  // for anything
  bool predicts() const { return plan_.has(kPredictions); }
  // Records that a sequence hands over: of layers, and of forwards as a whole.
  std::int64_t records() const { return (asks_layers() ? addresses() : 0) + (predicts() ? size_of('S') : 0); }

  bool observes(const probe::Address& address) const;
  std::int64_t step_index(const probe::Address& address) const;
  std::int64_t layer_index(const probe::Address& address) const;
  // Where the answer ends in the row that a forward sees; see trace::answer_end().
  std::int64_t answer_end(std::span<const std::int32_t> row) const;
  // What is asked at an address that is observed. Whoever asks keeps the sets for the next time.
  probe::LayerRequest request(const probe::LayerExtent& extent, SetsOfEnd& sets) const;
  // The same of a forward as a whole: every generated position, masked or not.
  probe::PredictionRequest predictions(std::span<const std::int32_t> row) const;
  // How many queries of that request are in each group; [groups].
  std::vector<std::int32_t> group_sizes(const probe::LayerRequest& request) const;

  // Bytes of float data one sample will hold; of these, what dense matrices and states take.
  struct Bytes {
    std::uint64_t all, large;
  };
  Bytes expected_bytes() const;

 private:
  std::vector<Part> find_parts() const;
  void ask(probe::LayerRequest& request, std::int64_t answer_end, SetsOfEnd& sets) const;

  Plan plan_;
  Subject subject_;
  std::shared_ptr<probe::PreviousStates> previous_;
  std::shared_ptr<probe::PreviousKeys> previous_keys_;
  std::vector<std::int64_t> steps_, layers_;
  std::vector<std::int32_t> rows_;
  std::vector<Part> parts_;
  bool looks_closely_ = false;
};

}  // namespace buoy::observe
