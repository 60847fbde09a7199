#include "buoy/run/live/watched_questions.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/observe/whole_rows.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/held/held_forwards.h"
#include "buoy/run/tracer.h"

namespace buoy::run {
namespace {

// Questions whose last records may be on their way while the model goes on. Each keeps a few megabytes at the
// size of an 8B model.
constexpr std::size_t kMostEnded = 8;
// Bytes of records that wait for the ends of their questions, if every forward were one of the whole row:
// what is held, without zeros, is a fraction of it.
constexpr std::uint64_t kMostHeld = std::uint64_t{1} << 34;

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
  std::optional<observe::WholeRows> whole;  // shows it forwards of blocks that are known
  const ItemPrompt* prompt = nullptr;       // until it ends
  const decode::StepMachine* machine = nullptr;
  std::optional<HeldForwards> held;  // of blocks that are not: until the last forward but the look
  std::shared_ptr<const observe::BlockRun> again;  // had to be known
  FeatureSink* sink = nullptr;
  std::shared_ptr<LiveStream::Work> work;
  analysis::ObservedSample ran;  // when it has ended
  bool behind_held = false;

  bool looks_on() const { return sample || held; }
  bool settled() const { return again || LiveStream::is_settled(*work); }
  probe::Probe& probe() {
    if (held) return *held;
    return whole ? static_cast<probe::Probe&>(*whole) : *sample;
  }
  // The look at the final row comes behind forwards whose number was not known when it was asked for.
  probe::Address shown(probe::Address address) const {
    if (behind_held) address.step = sample->layout().subject().steps - 1;
    return address;
  }
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
  if (blocks_ && !question.blocks) {
    require_observable(request_.decode, question.machine);
    watched.held.emplace(plan_,
                         longest_subject(config_, request_, question.prompt, question.machine, tokenizer_),
                         question.machine, held_in_);
    watched.prompt = &question.prompt;
    watched.machine = &question.machine;
    if (request_.final_row) look = {0, [this, &watched](const decode::StepMachine&) { hand_on(watched); }};
  } else if (diffusion) {
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

std::size_t WatchedQuestions::most_at_once(const ItemPrompt& prompt, const decode::StepMachine& machine,
                                           int beside) const {
  if (!blocks_) return std::numeric_limits<std::size_t>::max();
  const observe::RecordLayout longest(plan_, longest_subject(config_, request_, prompt, machine, tokenizer_));
  const std::uint64_t bytes = longest.expected_bytes().all * static_cast<std::uint64_t>(beside);
  return std::max<std::size_t>(1, kMostHeld / std::max<std::uint64_t>(1, bytes));
}

void WatchedQuestions::ran(std::size_t number, const decode::StepRecord& record) {
  const auto found = under_way_.find(static_cast<std::int64_t>(number));
  if (found != under_way_.end() && found->second->held) found->second->held->ran(record);
}

// The loop has ended: how long its row is, and how many forwards there were, is known.
void WatchedQuestions::hand_on(Watched& watched) const {
  auto blocks = std::make_shared<const observe::BlockRun>(watched.held->run(request_.final_row));
  const auto subject =
      subject_of(config_, request_, *watched.prompt, std::ssize(blocks->tokens), tokenizer_, blocks);
  if (!watched.held->fits(subject)) {
    watched.again = std::move(blocks);
    watched.held.reset();
    return;
  }
  look_on(watched, {watched.number, *watched.prompt, *watched.machine, blocks});
  watched.whole.reset();  // only the look is to come
  watched.held->hand_on(subject, *watched.sample);
  watched.behind_held = true;
  watched.held.reset();
}

void WatchedQuestions::end(std::size_t number) {
  const auto found = under_way_.find(static_cast<std::int64_t>(number));
  BUOY_CHECK(found != under_way_.end());
  Watched& watched = *found->second;
  if (watched.held) hand_on(watched);
  BUOY_CHECK(watched.sample || watched.again);
  if (watched.sample) watched.ran = watched.sample->finish();
  ended_.push_back(std::move(found->second));
  under_way_.erase(found);
  while (!ended_.empty() && (ended_.size() > kMostEnded || ended_.front()->settled())) settle_first();
}

void WatchedQuestions::settle_first() {
  const auto watched = std::move(ended_.front());
  ended_.pop_front();
  if (watched->again) {
    WatchedOutcome once_more;
    once_more.blocks = watched->again;
    return settled_(watched->number, std::move(once_more));
  }
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
  return found != under_way_.end() && found->second->looks_on() ? found->second.get() : nullptr;
}

probe::LayerRequest WatchedQuestions::request(const probe::Address& address,
                                              const probe::LayerExtent& extent) {
  Watched* const watched = find(address);
  return watched != nullptr ? watched->probe().request(watched->shown(address), extent)
                            : probe::LayerRequest{};
}

probe::PredictionRequest WatchedQuestions::predictions(const probe::Address& address,
                                                       const probe::LayerExtent& extent) {
  Watched* const watched = find(address);
  return watched != nullptr ? watched->probe().predictions(watched->shown(address), extent)
                            : probe::PredictionRequest{};
}

void WatchedQuestions::take(const probe::Address& address, probe::LayerRecord&& record) {
  Watched* const watched = find(address);
  watched->probe().take(watched->shown(address), std::move(record));
}

void WatchedQuestions::take_later(const probe::Address& address,
                                  std::unique_ptr<probe::PendingRecord> record) {
  find(address)->probe().take_later(address, std::move(record));
}

}  // namespace buoy::run
