#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/progress.h"
#include "buoy/shard/parent_folder.h"
#include "buoy/shard/progress_file.h"
#include "buoy/study/merged_run.h"

namespace buoy::app {
namespace {

constexpr double kSilent = 180;  // seconds: a part that runs writes more often, unless a sample takes longer

std::string state_of(const shard::PartProgress& part) {
  if (part.state != "running" || part.age < kSilent) return part.state;
  return fmt::format("silent for {}", describe_duration(part.age));
}

void print_part(const shard::PartProgress& part, int shards) {
  std::string line = fmt::format("shard {}/{}  {}", part.shard, shards, state_of(part));
  if (part.total > 0) line += fmt::format("  {}/{}", part.done, part.total);
  if (!part.stage.empty()) line += "  " + part.stage;
  if (part.state == "running" && part.age < kSilent && part.rate() > 0)
    line += fmt::format("  {:.2f} per second, about {} left", part.rate(), describe_duration(part.left()));
  if (!part.host.empty()) line += fmt::format("  on {}", part.host);
  if (!part.error.empty()) line += "  " + part.error;
  fmt::print("{}\n", line);
}

void print_json(const std::vector<shard::PartProgress>& parts, const shard::RunFacts& facts, bool merged) {
  Json out = {{"kind", facts.kind}, {"shards", facts.shards}, {"merged", merged}, {"parts", Json::array()}};
  for (const auto& part : parts)
    out["parts"].push_back({{"shard", part.shard},
                            {"state", part.state},
                            {"stage", part.stage},
                            {"done", part.done},
                            {"total", part.total},
                            {"rate", part.rate()},
                            {"left_seconds", part.left()},
                            {"silent_seconds", part.age},
                            {"host", part.host},
                            {"error", part.error}});
  fmt::print("{}\n", dump_json(out, 1));
}

void show_status(const std::string& out, bool json) {
  const auto facts = shard::read_facts(out);
  if (!facts) throw_input_error({out, "a run in parts (shards/shards.json)", "none"});
  const auto parts = shard::read_progress(out, facts->shards);
  const bool merged = study::is_merged(out, *facts);
  if (json) return print_json(parts, *facts, merged);
  std::int64_t done = 0, total = 0, ended = 0;
  double rate = 0, left = 0;
  for (const auto& part : parts) {
    print_part(part, facts->shards);
    done += part.done;
    total += part.total;
    ended += part.state == "done" ? 1 : 0;
    if (part.state != "running" || part.age >= kSilent) continue;
    rate += part.rate();
    left = std::max(left, part.left());
  }
  std::string line = fmt::format("{}: {} of {} done, {}/{}", facts->kind, ended,
                                 counted(static_cast<std::size_t>(facts->shards), "shard"), done, total);
  if (rate > 0) line += fmt::format(", {:.2f} per second, about {} left", rate, describe_duration(left));
  if (merged) line += ", joined";
  fmt::print("{}\n", line);
}

}  // namespace

void add_status(Command& app) {
  auto* command = app.add_subcommand("status", "how far each part of a run is, from its folder alone");
  struct Options {
    std::string out;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  command->add_option("out", options->out, "folder of the run (--out of its parts)")
      ->required()
      ->type_name("OUT");
  add_json_flag(*command, options->json);
  command->footer(
      "Parts write how far they are every two seconds; a part that says nothing for three minutes is "
      "shown as silent.");
  command->examples({{"buoy status runs/parts", ""}});
  command->callback([options] { show_status(options->out, options->json); });
}

}  // namespace buoy::app
