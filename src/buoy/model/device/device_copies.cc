// How what was measured of layers gets to the host.
#include <algorithm>

#include "buoy/model/device/device_observer.h"

namespace buoy::model {

// The copies of a few layers are behind one event, and the card writes small pieces to the host by itself:
// between copies and events the bus would rest.
void DeviceObserver::send(const Stream& stream, std::int64_t first, std::int64_t end) {
  constexpr std::int64_t kLayersOfEvent = 4;
  queued_.record(stream);
  queued_.hold(copies_);
  queued_.hold(measuring_);
  std::vector<HostWrite> small;
  for (std::int64_t begin = first; begin < end; begin += kLayersOfEvent) {
    const std::int64_t behind = std::min(begin + kLayersOfEvent, end);
    std::vector<std::shared_ptr<HostBuffer>> buffers;
    for (std::int64_t layer = begin; layer < behind; ++layer) {
      Slot& here = slot(layer);
      buffers.push_back(nullptr);
      if (here.layer != layer) continue;
      buffers.back() = host_buffers_->lend(static_cast<size_t>(here.arriving.copied) * sizeof(float));
      // Whoever held it may have let it go while copies to it were still on their way.
      if (buffers.back()->arrived) buffers.back()->arrived->hold(measuring_);
      copy_results(here, buffers.back()->data(), small);
    }
    if (!small.empty()) {
      write_to_host(measuring_, small);
      written_.record(measuring_);
      written_.hold(copies_);
      small.clear();
    }
    const auto arrived = free_arrival();
    arrived->record(copies_);
    for (std::int64_t layer = begin; layer < behind; ++layer) {
      auto& buffer = buffers[static_cast<size_t>(layer - begin)];
      if (buffer == nullptr) continue;
      buffer->arrived = slot(layer).copied = arrived;
      hand_over(layer, std::move(buffer));
    }
  }
}

std::shared_ptr<Event> DeviceObserver::free_arrival() {
  for (const auto& arrival : arrivals_) {
    if (arrival.use_count() == 1) return arrival;
  }
  return arrivals_.emplace_back(std::make_shared<Event>(Event::Wait::kAsleep));
}

// To a probe that takes records later; for others the buffer stays in its slot.
void DeviceObserver::hand_over(std::int64_t layer, std::shared_ptr<HostBuffer> buffer) {
  Slot& here = slot(layer);
  const LayerWants& wanted = wants(layer);
  if (!probe_->takes_later() || wanted.host_states()) {
    here.host = std::move(buffer);
    return;
  }
  for (size_t n = 0; n < wanted.observations.size(); ++n) {
    if (!wanted.observations[n].request.any()) continue;
    probe_->take_later(wanted.observations[n].address,
                       std::make_unique<DeviceRecord>(buffer, place_of(here, wanted, n)));
  }
  here.layer = -1;
}

// What lies alike here and there goes in one piece, and so do stretches of one length that follow each other.
void DeviceObserver::copy_results(const Slot& from, float* to, std::vector<HostWrite>& small) {
  constexpr size_t kMostWritten = size_t{64} << 10;
  const auto& here = from.layout.sections;
  const auto& there = from.arriving.sections;
  const auto* results = from.device.as<float>();
  const auto bytes = [](std::int64_t numbers) { return static_cast<size_t>(numbers) * sizeof(float); };
  for (size_t n = 0; n < here.size() && here[n].at < from.layout.copied;) {
    const bool alike = here[n].width == there[n].width;
    std::int64_t pieces = here[n].pieces;
    size_t end = n + 1;
    for (; end < here.size() && here[end].at < from.layout.copied; ++end) {
      const bool follows = alike ? here[end].width == there[end].width &&
                                       here[end].at - here[n].at == there[end].at - there[n].at
                                 : here[end].width == here[n].width && there[end].width == there[n].width &&
                                       here[end].at == here[n].at + pieces * here[n].width &&
                                       there[end].at == there[n].at + pieces * there[n].width;
      if (!follows) break;
      pieces += here[end].pieces;
    }
    if (alike) {
      const auto& last = here[end - 1];
      const size_t all = bytes(last.at + last.pieces * last.width - here[n].at);
      if (all <= kMostWritten) {
        small.push_back({to + there[n].at, results + here[n].at, all});
      } else {
        copy_to_host(copies_, to + there[n].at, results + here[n].at, all);
      }
    } else {
      copy_rows_to_host(
          copies_, to + there[n].at, results + here[n].at,
          {static_cast<size_t>(pieces), bytes(there[n].width), bytes(there[n].width), bytes(here[n].width)});
    }
    n = end;
  }
}

}  // namespace buoy::model
