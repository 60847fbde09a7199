#include "buoy/app/options/shard_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/app/command_line.h"
#include "buoy/app/exit_codes.h"
#include "buoy/base/error.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/say.h"
#include "buoy/shard/decision.h"
#include "buoy/tensor/device.h"

namespace buoy::app {
namespace {

constexpr unsigned kSecondsToStop = 25;

}  // namespace

void add_shard_options(Command& command, ShardOptions& options) {
  const std::string group = "Parts of a run";
  command
      .add_option("--shard", options.shard,
                  "take part I of N, from 0, as in 3/32; or say who decides: array, step, openmpi, pmi,\n"
                  "torchrun, product (array times tasks), none (default: the first that is set)")
      ->type_name("I/N|WHO")
      ->group(group);
  command.add_flag("--steal", options.steal, "parts also take samples of others that nobody has begun")
      ->group(group);
  command
      .add_option("--processes", options.processes,
                  "run in so many processes of this machine and join what they made")
      ->range(0, 4096)
      ->group(group);
}

std::vector<std::string> cards_of(const std::string& device) {
  if (!device.starts_with("cuda:")) return {};
  const auto list = device.substr(5);
  const auto visible = visible_cards();
  if (list == "all") {
    if (visible.empty())
      throw_usage_error({"--device cuda:all", "an NVIDIA GPU this process can use", "none"});
    return visible;
  }
  if (list.find(',') == std::string::npos) return {};
  std::vector<std::string> cards;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    const auto number = list.substr(begin, end - begin);
    begin = end + 1;
    const bool digits =
        !number.empty() && number.size() < 5 && number.find_first_not_of("0123456789") == std::string::npos;
    if (!digits || static_cast<std::size_t>(std::stoi(number)) >= visible.size())
      throw_usage_error({"--device " + device,
                         fmt::format("numbers below {}, the GPUs this process can use", visible.size()),
                         '"' + number + '"'});
    cards.push_back(visible[static_cast<std::size_t>(std::stoi(number))]);
  }
  return cards;
}

bool wants_processes(const ShardOptions& options, const std::string& device) {
  const bool several = options.processes > 0 || !cards_of(device).empty();
  if (several && !options.shard.empty() && options.shard != "none")
    throw_usage_error({"--shard", "without --processes and without several cards", options.shard});
  return several;
}

void say_how_parts_go_on(const PartedCommand& command) {
  if (command.kind == "study") return;  // says so in any case
  say_when_interrupted("buoy: interrupted; the same command goes on behind the last whole sample\n");
}

std::optional<run::Sharding> place_in_run(const ShardOptions& options, const PartedCommand& command) {
  stop_behind_sample(kStopped, kSecondsToStop);
  const auto variables = shard::own_variables();
  // What an ended run says of its parts binds nobody who asks for the whole.
  const auto shard = shard::decide(options.shard, variables, shard::remembered(command.out));
  if (!shard) {
    if (options.steal) throw_usage_error({"--steal", "a run in parts (--shard I/N)", "a run in one part"});
    return std::nullopt;
  }
  say("{}\n", shard::describe(*shard));
  say_how_parts_go_on(command);
  shard::RunFacts facts;
  facts.kind = command.kind;
  facts.shards = shard->count;
  facts.array = shard->array;
  facts.command = words_of_command();
  facts.part_words = {"--shard", fmt::format("%/{}", shard->count)};
  if (options.steal) facts.part_words.emplace_back("--steal");
  facts.steal = options.steal;
  facts.resamples = command.resamples;
  facts.seed = command.seed;
  shard::begin_run(command.out, facts);
  choose_card(shard->local);
  return run::Sharding{command.out, *shard, options.steal};
}

RunProgress::RunProgress(const std::optional<run::Sharding>& sharding, std::string label)
    : label_(std::move(label)) {
  if (!sharding) return;
  label_ = fmt::format("shard {}: {}", sharding->shard.name(), label_);
  file_.emplace(sharding->out, sharding->shard);
}

void RunProgress::begin(std::size_t samples, std::size_t before, const std::string& stage) {
  bar_.emplace(stderr, label_, static_cast<std::int64_t>(samples - std::min(samples, before)));
  if (file_) file_->stage(stage, static_cast<std::int64_t>(samples), static_cast<std::int64_t>(before));
}

void RunProgress::step() {
  if (bar_) bar_->advance();
  if (file_) file_->advance();
}

void RunProgress::close() {
  bar_.reset();
}

void RunProgress::failed(std::size_t samples, const std::string& last) {
  if (samples > 0) failures_ = fmt::format("{} failed, the last: {}", samples, last);
}

void RunProgress::run(const std::function<void()>& work) {
  try {
    work();
  } catch (const Stopped& stopped) {
    bar_.reset();
    if (file_) file_->end("stopped", stopped.what());
    throw;
  } catch (const std::exception& error) {
    bar_.reset();
    if (file_) file_->end("failed", error.what());
    throw;
  }
  bar_.reset();
  if (file_) file_->end("done", failures_);
}

}  // namespace buoy::app
