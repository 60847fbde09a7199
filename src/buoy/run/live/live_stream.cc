#include "buoy/run/live/live_stream.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/probe/own_states.h"
#include "buoy/probe/record_numbers.h"
#include "buoy/trace/sample_file.h"

namespace buoy::run {
namespace {

// Records on their way: a few steps of an 8B model at 1,024 tokens, a few layers at 8,192.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMostUsed = 96;

}  // namespace

class LiveStream::Work {
 public:
  Work(const LiveSample& sample, StoredTypes types, std::future<std::unique_ptr<LiveSink>> sink)
      : sample(sample), types(std::move(types)), made_(std::move(sink)) {}

  const LiveSample& sample;
  const StoredTypes types;
  std::unique_ptr<LiveSink> sink;  // once await_sink() was called
  std::atomic<bool> dropped = false;
  std::atomic<std::int64_t> waiting = 0;  // records not yet taken
  std::atomic<std::int64_t> lanes_left = 0;
  analysis::ObservedSample outcome;

  std::mutex mutex;
  std::condition_variable taken;
  std::set<std::string> exceeding;
  std::exception_ptr not_made;  // why there is no sink
  std::string error;            // why records could not be taken: of the first place, by step, then by layer

  // Whichever layer is ahead in time, an error of an earlier place takes its place: those are still looked
  // at.
  bool failed_before(const probe::Address& at) const { return failed_at_ < place_of(at); }
  bool failed() const { return failed_at_ != kNowhere; }
  void fail(const probe::Address& at, const char* why) {
    const std::lock_guard lock(mutex);
    if (place_of(at) >= failed_at_) return;
    failed_at_ = place_of(at);
    error = at.layer == probe::kWholeForward ? fmt::format("step {}: {}", at.step, why)
                                             : fmt::format("step {}, layer {}: {}", at.step, at.layer, why);
  }

  // Null when it could not be made.
  LiveSink* await_sink() {
    std::call_once(awaited_, [this] {
      try {
        sink = made_.get();
      } catch (...) {
        not_made = std::current_exception();
      }
    });
    return sink.get();
  }
  void done_with_one() {
    if (waiting.fetch_sub(1) != 1) return;
    const std::lock_guard lock(mutex);
    taken.notify_all();
  }

 private:
  static constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();
  // A forward as a whole comes behind its layers.
  static std::int64_t place_of(const probe::Address& at) {
    constexpr std::int64_t kBehindLayers = (std::int64_t{1} << 32) - 1;
    return (at.step << 32) + (at.layer == probe::kWholeForward ? kBehindLayers : at.layer);
  }

  std::future<std::unique_ptr<LiveSink>> made_;
  std::once_flag awaited_;
  std::atomic<std::int64_t> failed_at_ = kNowhere;
};

LiveStream::LiveStream(std::int64_t layers, int threads, const analysis::RuleOptions& rules)
    : rules_(rules), scratch_(static_cast<size_t>(std::max(threads, 1))), executor_(threads, kMostBytes) {
  for (std::int64_t l = 0; l <= layers; ++l) lanes_.push_back(std::make_unique<LaneExecutor::Lane>());
}

std::shared_ptr<LiveStream::Work> LiveStream::begin(const LiveSample& sample, StoredTypes types,
                                                    std::future<std::unique_ptr<LiveSink>> sink) {
  return std::make_shared<Work>(sample, std::move(types), std::move(sink));
}

probe::LayerRecord LiveStream::used_record() {
  const std::lock_guard lock(used_mutex_);
  if (used_.empty()) return {};
  probe::LayerRecord record = std::move(used_.back());
  used_.pop_back();
  return record;
}

void LiveStream::keep_used(probe::LayerRecord&& record) {
  const std::lock_guard lock(used_mutex_);
  if (used_.size() < kMostUsed) used_.push_back(std::move(record));
}

void LiveStream::push(const std::shared_ptr<Work>& work, LiveRecord& given) {
  if (work->dropped) require_sink(*work);  // there is no use in running on without one
  struct Item {
    LiveRecord record;
    probe::OwnStates states;
  };
  const auto item = std::make_shared<Item>();
  item->record = {given.forward, given.address, std::move(given.record), std::move(given.pending)};
  const auto& pending = item->record.pending;
  if (!pending) {
    item->states.copy(item->record.record.states);
    given.record = used_record();
  }
  const std::uint64_t bytes =
      pending ? pending->bytes() : probe::bytes_of(item->record.record) + item->states.bytes();
  const bool of_forward = given.address.layer == probe::kWholeForward;
  const std::int64_t l = of_forward ? 0 : work->sample.layout().layer_index(given.address);
  ++work->waiting;
  const auto take = [this, work, item, l, of_forward](int thread) {
    LiveSink* const sink = work->await_sink();
    if (sink == nullptr) work->dropped = true;
    if (!work->dropped && !work->failed_before(item->record.address)) {
      if (item->record.pending) {
        item->record.record = used_record();
        item->record.pending->fill(item->record.record);
      }
      LiveLayer values(work->sample.layout(), work->types);
      values.look_at(item->record.address, item->record.record);
      try {
        const auto& facts = item->record.forward->facts();
        if (of_forward)
          sink->take_forward({work->sample.facts(), facts, values});
        else
          sink->take({work->sample.facts(), facts, l, values, rules_, scratch_[static_cast<size_t>(thread)]});
      } catch (const trace::ExceedsF16& found) {
        const std::lock_guard lock(work->mutex);
        work->exceeding.insert(found.arrays().begin(), found.arrays().end());
      } catch (const InputError& wrong) {
        work->fail(item->record.address, wrong.what());
      }
    }
    keep_used(std::move(item->record.record));
    work->done_with_one();
  };
  auto& lane = of_forward ? lanes_.back() : lanes_[static_cast<size_t>(given.address.layer)];
  executor_.post(*lane, take, bytes);
}

void LiveStream::require_sink(Work& work) {
  work.await_sink();
  if (work.not_made) std::rethrow_exception(work.not_made);
}

void LiveStream::settle(const std::shared_ptr<Work>& work) {
  std::unique_lock lock(work->mutex);
  while (work->waiting > 0) {
    work->taken.wait_for(lock, std::chrono::milliseconds(50));
    if (executor_.failed()) {
      lock.unlock();
      executor_.wait();  // throws
    }
  }
}

bool LiveStream::is_settled(const Work& work) {
  return work.waiting == 0;
}

const std::string& LiveStream::error(const Work& work) {
  return work.error;
}

std::set<std::string> LiveStream::exceeding_f16(const Work& work) {
  auto exceeding = work.exceeding;
  exceeding.merge(work.sink->exceeding_f16());
  return exceeding;
}

void LiveStream::end(const std::shared_ptr<Work>& work, analysis::ObservedSample sample) {
  work->outcome = std::move(sample);
  const auto& layers = work->sample.layout().layers();
  work->lanes_left = std::ssize(layers) + 1;
  // Behind the last record of a sample comes its end, behind that the end of the next.
  const auto lane_done = [this, work] {
    if (work->lanes_left.fetch_sub(1) != 1) return;
    executor_.post(ends_, [work](int) {
      if (!work->error.empty()) return work->sink->fail(work->outcome, work->error);
      work->sink->finish(work->outcome);
      work->sink->end(work->outcome);
    });
  };
  for (std::int64_t l = 0; l < std::ssize(layers); ++l) {
    executor_.post(*lanes_[static_cast<size_t>(layers[static_cast<size_t>(l)])], [work, l, lane_done](int) {
      if (!work->dropped && !work->failed()) work->sink->finish_layer(work->outcome, l);
      lane_done();
    });
  }
  executor_.post(*lanes_.back(), [lane_done](int) { lane_done(); });
}

void LiveStream::drop(const std::shared_ptr<Work>& work) {
  work->dropped = true;
  LiveSink* const sink = work->await_sink();  // first: what makes it may end with the sample
  settle(work);
  if (sink != nullptr) sink->drop();
}

}  // namespace buoy::run
