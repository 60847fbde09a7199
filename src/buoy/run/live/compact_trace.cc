#include "buoy/run/live/compact_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "buoy/analysis/core/kept.h"
#include "buoy/analysis/sample/replay.h"
#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/run/live/live_analyses.h"
#include "buoy/run/live/stored_frame.h"
#include "buoy/run/live/trace_sink.h"
#include "buoy/run/possible_analyses.h"
#include "buoy/trace/reader.h"

namespace buoy::run {
namespace {

class Compaction {
 public:
  Compaction(const CompactRequest& request, ThreadPool& threads)
      : request_(request),
        threads_(threads),
        reader_(trace::TraceReader::open(request.trace, request.integrity)),
        manifest_(reader_.manifest()) {
    const std::string where = (request.trace / "manifest.json").string();
    if (request.keep == trace::Level::kFull)
      throw_usage_error({"`keep`", "tables or compact", std::string(name_of(request.keep))});
    if (manifest_.level != trace::Level::kFull)
      throw_input_error({where + ": level", "a full trace", std::string(name_of(manifest_.level))});
    if (!reader_.complete())
      throw_input_error({where + ": complete", "a finished trace", "an unfinished one"});
    manifest_.level = request.keep;
    manifest_.command = request.command;
    if (request.keep == trace::Level::kCompact) {
      Json probe = parse_json(manifest_.probe, where + ": probe");
      probe["compact_samples"] = request.compact_samples;
      manifest_.probe = dump_json(probe);
    }
  }

  CompactResult run(const TraceRunProgress& progress) {
    CompactResult result;
    const auto observed = trace::observed_names(manifest_);
    const auto plan = observe::parse_plan(fmt::format("{}", fmt::join(observed, ",")), "", "");
    shared_.names = analyses_within(plan);
    if (shared_.names.empty()) {
      throw_input_error({request_.trace.string(), "what some analysis needs: received attention, say",
                         fmt::format("{} observed", fmt::join(observed, ", "))});
    }
    result.left_out = leave_out_impossible(shared_.names, {"", manifest_}, request_.options,
                                           [this](std::size_t n) { return facts_of_sample(n); });
    for (const auto& [name, reason] : analyses_beyond(plan)) result.left_out.push_back({name, reason});
    manifest_.analyses = analysis::describe_kept(shared_.names, request_.options);
    for (const auto& name : shared_.names)
      shared_.analyses.push_back(analysis::find_analysis(name).make({"", manifest_}, request_.options));
    announce(progress);
    shared_.writer.emplace(trace::TraceWriter::create(request_.out, manifest_));
    for (std::size_t n = 0; n < reader_.samples().size(); ++n) {
      const auto& entry = reader_.samples()[n];
      if (entry.status == trace::Status::kDone) {
        take(n);
        ++result.samples;
      } else {
        shared_.writer->write_failure(entry.id, entry.error);
        ++result.failed;
      }
      progress.step();
    }
    shared_.writer->finish();
    return result;
  }

 private:
  analysis::StoredSource source(std::size_t n) const {
    analysis::StoredSource source(reader_.manifest(), reader_.read(reader_.samples()[n].id));
    source.set_number(static_cast<std::int64_t>(n));
    return source;
  }

  std::optional<analysis::ObservedSample> facts_of_sample(std::size_t n) const {
    if (reader_.samples()[n].status != trace::Status::kDone) return std::nullopt;
    return source(n).sample();
  }

  bool is_chosen(std::size_t n) const {
    const auto number = static_cast<std::int64_t>(n);
    return request_.keep == trace::Level::kCompact &&
           (number < request_.compact_samples || number == request_.options.sample);
  }

  void announce(const TraceRunProgress& progress) const {
    RunBytes bytes{{}, request_.keep, 0, static_cast<std::uint64_t>(request_.compact_samples)};
    for (std::size_t n = 0; n < reader_.samples().size(); ++n) {
      const auto& entry = reader_.samples()[n];
      if (entry.status != trace::Status::kDone) continue;
      if (bytes.samples++ > 0) continue;
      const auto first = source(n);
      bytes.each = expected_bytes(first.sample(), first.stored().metadata(), manifest_, shared_.names);
      bytes.each.full = entry.bytes;
    }
    progress.begin(bytes);
    if (!request_.ignore_space) require_space(bytes, request_.out);
  }

  void take(std::size_t n) {
    const auto from = source(n);
    Keeping keeping{request_.keep, is_chosen(n)};
    for (;;) {
      TraceSink sink(shared_, from.sample(), keeping);
      analysis::replay(from, request_.options.rules(), threads_,
                       {[&](const analysis::LayerView& layer) { sink.take(layer); },
                        [&](std::int64_t l) { sink.finish_layer(from.sample(), l); },
                        [&](const analysis::ForwardView& forward) { sink.take_forward(forward); }});
      if (auto exceeding = sink.exceeding_f16(); !exceeding.empty()) {
        keeping.as_f32.merge(exceeding);
        continue;
      }
      sink.close(stored_frame(from.stored()));
      sink.finish(from.sample());
      sink.end(from.sample());
      return;
    }
  }

  const CompactRequest& request_;
  ThreadPool& threads_;
  const trace::TraceReader reader_;
  trace::Manifest manifest_;
  SharedRun shared_;
};

}  // namespace

CompactResult compact_trace(const CompactRequest& request, ThreadPool& threads,
                            const TraceRunProgress& progress) {
  return Compaction(request, threads).run(progress);
}

}  // namespace buoy::run
