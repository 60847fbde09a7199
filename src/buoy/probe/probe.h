#pragma once

#include <memory>

#include "buoy/probe/record.h"
#include "buoy/probe/request.h"

namespace buoy::probe {

// Sizes of the attention at an address, for those who must know them to ask.
struct LayerExtent {
  std::int64_t query_rows;
  std::int64_t key_rows;
  std::int64_t heads;
  std::span<const std::int32_t> tokens;  // of this forward, [query_rows]
  // Of a forward that is shown whole though it is not: the rows that run. -1: all.
  std::int64_t first_run = 0, end_run = -1;

  bool runs(std::int64_t row) const { return end_run < 0 || (row >= first_run && row < end_run); }
};

// A record whose numbers are still on their way from the device.
class PendingRecord {
 public:
  virtual ~PendingRecord() = default;
  // Waits for them and fills the record, whose memory is used again. Once, on any thread.
  virtual void fill(LayerRecord& record) = 0;
  virtual std::uint64_t bytes() const = 0;  // of the record
};

// Ask, then take. For every sequence and layer of a forward the model asks what is wanted and what is to
// be changed, and hands over what it measured. Whatever is asked for, logits and tokens stay the same to
// the bit; only a change changes them.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual LayerRequest request(const Address& address, const LayerExtent& extent) = 0;
  virtual void take(const Address& address, LayerRecord&& record) = 0;
  // Who takes records later is handed those of a device before they have arrived, so that the device goes on
  // meanwhile. Records that hold states or whole matrices come by take() all the same.
  virtual bool takes_later() const { return false; }
  virtual void take_later(const Address& /*address*/, std::unique_ptr<PendingRecord> /*record*/) {}
  // Whether it knows forwards that run some rows of a sequence alone, over keys of a cache.
  virtual bool takes_parts() const { return false; }
  // Once for every sequence of a forward, before its layers; the address's layer is kWholeForward. What was
  // measured comes by take(), behind the last layer.
  virtual PredictionRequest predictions(const Address& /*address*/, const LayerExtent& /*extent*/) {
    return {};
  }
  // The spans must stay valid until the forward is over.
  virtual Change change(const Address& /*address*/, const LayerExtent& /*extent*/) { return {}; }
};

}  // namespace buoy::probe
