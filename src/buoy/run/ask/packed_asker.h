#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "buoy/run/ask/prefix_cache.h"
#include "buoy/run/ask/questioner.h"
#include "buoy/run/change/head_change.h"
#include "buoy/run/change/top_keys_probe.h"
#include "buoy/run/live/watched_questions.h"

namespace buoy::run {

// Asks questions several at a time, packed by the token budget, and watches them where the run observes. A
// question that gives no finite numbers becomes a record with an error; the others get the answers they would
// have got without it.
class PackedAsker {
 public:
  using Next = std::function<std::optional<Question>()>;  // nothing at the end

  PackedAsker(const Context& context, model::Model& model, const Questioner& questioner,
              const decode::StreamOptions& batch, TakeAnswer take);

  // Where records lie that are held and too many for memory, see ScratchFile; of how many who ask side by
  // side.
  void hold_in(const std::filesystem::path& folder, int beside) {
    if (watched_) watched_->hold_in(folder);
    beside_ = beside;
  }
  void ask(const Next& next);
  // With a probe that is this question's own.
  void ask_alone(Question question, probe::Probe& probe) {
    ask_alone({std::move(question), {}, {}, {}}, &probe);
  }

  LiveTimes times() const { return watched_ ? watched_->times() : LiveTimes{}; }

 private:
  struct Asked {
    Question question;
    std::set<std::string> as_f32;  // arrays that F16 cannot hold, known from the time before
    std::shared_ptr<const observe::BlockRun> blocks;  // its forwards, where they had to be known before
    AnswerRecord answer;                              // when it has ended
  };

  void ask_alone(Asked asked, probe::Probe* probe);
  decode::StreamJob begin(Asked asked, bool from_prefix);
  std::optional<decode::StreamJob> next_job(const Next& next);
  void finished(std::size_t number, const decode::StepMachine& machine);
  void settled(std::size_t number, WatchedOutcome outcome);
  void failed(std::size_t number, const std::string& error);
  void hand_over(std::size_t number, const AnswerRecord& record);
  probe::Probe* probe();
  std::optional<Question> given(const Next& next);
  void bound_what_is_held(const Next& next);

  const Context& context_;
  model::Model& model_;
  const Questioner& questioner_;
  decode::StreamOptions batch_;
  TakeAnswer take_;
  PrefixCache prefixes_;
  std::optional<HeadChangeProbe> heads_off_;
  std::optional<TopKeysProbe> top_keys_;
  std::optional<WatchedQuestions> watched_;
  std::optional<Question> first_;  // read ahead
  std::map<std::size_t, Asked> under_way_;
  std::map<std::size_t, Asked> ended_;  // until all their records are taken
  std::deque<std::size_t> once_more_;   // of those: they have to be watched otherwise
  int beside_ = 1;
  bool outside_ = false;  // in the hands of whoever gives questions and takes answers
};

}  // namespace buoy::run
