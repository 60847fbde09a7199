#include "buoy/run/live/watched_questions.h"

#include <chrono>
#include <future>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/observe/whole_rows.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/tracer.h"

namespace buoy::run {
namespace {

// Questions whose last records may be on their way while the model goes on. Each keeps a few megabytes at the
// size of an 8B model.
constexpr std::size_t kMostEnded = 8;

class FeatureSink final : public LiveSink {
 public:
  explicit FeatureSink(const analysis::SampleFacts& sample) : features_(sample) {}

  void take(const analysis::LayerView& layer) override { features_.take(layer); }
  void end(const analysis::ObservedSample& sample) override {
    outcome_.features = features_.features(sample);
  }
  void fail(const analysis::ObservedSample&, const std::string& error) override { outcome_.error = error; }

  WatchedOutcome& outcome() { return outcome_; }

 private:
  AttentionFeatures features_;
  WatchedOutcome outcome_;
};

class Seconds {
 public:
  explicit Seconds(double& sum) : sum_(sum) {}
  ~Seconds() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Seconds(const Seconds&) = delete;
  Seconds& operator=(const Seconds&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& sum_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

class WatchedQuestions::Watched {
 public:
  std::size_t number = 0;
  StoredTypes types;
  std::optional<LiveSample> sample;         // none: nothing of it is to be seen yet
  std::optional<observe::WholeRows> whole;  // shows it forwards of blocks
  FeatureSink* sink = nullptr;
  std::shared_ptr<LiveStream::Work> work;
  analysis::ObservedSample ran;  // when it has ended

  probe::Probe& probe() { return whole ? static_cast<probe::Probe&>(*whole) : *sample; }
};

WatchedQuestions::WatchedQuestions(const Context& context, const ModelConfig& config, const Request& request,
                                   const std::optional<text::Tokenizer>& tokenizer, Settled settled)
    : config_(config),
      request_(request),
      plan_(request.plan()),
      tokenizer_(tokenizer),
      settled_(std::move(settled)),
      blocks_(decode::decodes_blocks(config, request.decode)),
      // The model's own thread is busy; on a GPU little else is.
      stream_(config.layers, context.threads.size() - 1, {}) {}

WatchedQuestions::~WatchedQuestions() = default;

std::optional<decode::FinalLook> WatchedQuestions::begin(const Beginning& question,
                                                         const std::set<std::string>& as_f32) {
  auto made = std::make_unique<Watched>();
  Watched& watched = *made;
  watched.number = question.number;
  watched.types = {request_.float16 ? trace::Storage::kF16 : trace::Storage::kF32, as_f32};
  const bool diffusion = decode::decodes_masks(config_, request_.decode);
  std::optional<decode::FinalLook> look;
  if (diffusion) {
    look_on(watched, question);
    if (request_.final_row) look = {watched.sample->layout().subject().steps - 1, nullptr};
  } else {
    // One pass over the finished row holds every step's attention, and only then is its length known.
    // What cannot be observed is refused now.
    const observe::RecordLayout check(plan_, subject_of(config_, request_, question.prompt,
                                                        std::ssize(question.machine.row()), tokenizer_));
    look = {0, [this, &watched, number = question.number,
                &prompt = question.prompt](const decode::StepMachine& ended) {
              look_on(watched, {number, prompt, ended});
            }};
  }
  under_way_[static_cast<std::int64_t>(question.number)] = std::move(made);
  return look;
}

void WatchedQuestions::look_on(Watched& watched, const Beginning& question) const {
  const bool diffusion = decode::decodes_masks(config_, request_.decode);
  const decode::StepMachine& machine = question.machine;
  const std::int64_t tokens =
      question.blocks ? std::ssize(question.blocks->tokens) : std::ssize(machine.row());
  const auto subject = subject_of(config_, request_, question.prompt, tokens, tokenizer_, question.blocks);
  watched.sample.emplace(observe::RecordLayout(plan_, subject),
                         LivePrompt{question.prompt, watched.number, diffusion,
                                    decode::mask_of(config_, request_.decode), request_.final_row},
                         tokenizer_, [this, &watched](LiveRecord& record) {
                           const Seconds measured(times_.handing_on);
                           stream_.push(watched.work, record);
                         });
  watched.sample->follow(machine);
  if (question.blocks) {
    watched.whole.emplace(*watched.sample, config_.hidden, [&machine, tokens, mask = subject.mask_token] {
      auto row = machine.row();
      row.resize(static_cast<std::size_t>(tokens), mask);
      return row;
    });
  }
  auto sink = std::make_unique<FeatureSink>(watched.sample->facts());
  watched.sink = sink.get();
  std::promise<std::unique_ptr<LiveSink>> made;
  made.set_value(std::move(sink));
  watched.work = stream_.begin(*watched.sample, watched.types, made.get_future());
}

void WatchedQuestions::end(std::size_t number) {
  const auto found = under_way_.find(static_cast<std::int64_t>(number));
  BUOY_CHECK(found != under_way_.end() && found->second->sample);
  found->second->ran = found->second->sample->finish();
  ended_.push_back(std::move(found->second));
  under_way_.erase(found);
  while (!ended_.empty() && (ended_.size() > kMostEnded || LiveStream::is_settled(*ended_.front()->work)))
    settle_first();
}

void WatchedQuestions::settle_first() {
  const auto watched = std::move(ended_.front());
  ended_.pop_front();
  {
    const Seconds measured(times_.waiting);
    stream_.settle(watched->work);
  }
  WatchedOutcome& outcome = watched->sink->outcome();
  outcome.exceeding = LiveStream::exceeding_f16(*watched->work);
  if (const auto& error = LiveStream::error(*watched->work); !error.empty()) {
    watched->sink->fail(watched->ran, error);
  } else if (outcome.exceeding.empty()) {
    watched->sink->end(watched->ran);
  }
  settled_(watched->number, std::move(outcome));
}

void WatchedQuestions::drop() {
  for (auto& [number, watched] : under_way_) {
    if (watched->work) stream_.drop(watched->work);
  }
  under_way_.clear();
}

void WatchedQuestions::finish() {
  while (!ended_.empty()) settle_first();
}

WatchedQuestions::Watched* WatchedQuestions::find(const probe::Address& address) const {
  const auto found = under_way_.find(address.sequence);
  return found != under_way_.end() && found->second->sample ? found->second.get() : nullptr;
}

probe::LayerRequest WatchedQuestions::request(const probe::Address& address,
                                              const probe::LayerExtent& extent) {
  Watched* const watched = find(address);
  return watched != nullptr ? watched->probe().request(address, extent) : probe::LayerRequest{};
}

probe::PredictionRequest WatchedQuestions::predictions(const probe::Address& address,
                                                       const probe::LayerExtent& extent) {
  Watched* const watched = find(address);
  return watched != nullptr ? watched->probe().predictions(address, extent) : probe::PredictionRequest{};
}

void WatchedQuestions::take(const probe::Address& address, probe::LayerRecord&& record) {
  find(address)->probe().take(address, std::move(record));
}

void WatchedQuestions::take_later(const probe::Address& address,
                                  std::unique_ptr<probe::PendingRecord> record) {
  find(address)->probe().take_later(address, std::move(record));
}

}  // namespace buoy::run
