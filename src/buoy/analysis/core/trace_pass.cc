#include "buoy/analysis/core/trace_pass.h"

#include <algorithm>
#include <exception>

#include "buoy/analysis/core/kept.h"
#include "buoy/base/error.h"
#include "buoy/tensor/thread_pool.h"
#include "buoy/trace/reader.h"

namespace buoy::analysis {
namespace {

// Above this the layers of a sample are worked on side by side, below it samples: so memory stays bounded.
constexpr std::uint64_t kLargeSample = std::uint64_t{64} << 20;

class Pass {
 public:
  Pass(const TracePass& pass, const RunOptions& options)
      : pass_(pass),
        options_(options),
        rules_(options.analysis.rules()),
        reader_(trace::TraceReader::open(pass.folder, options.integrity())),
        threads_(options.threads > 0 ? options.threads : available_threads()),
        lacking_(pass.wanted.size()) {
    for (const auto& [analysis, label] : pass.wanted) names_.push_back(analysis);
    out_.analyses.resize(names_.size());
    for (size_t a = 0; a < names_.size(); ++a) {
      tolerant(a, [&] {
        require_kept(reader_.manifest(), {names_[a]}, options.analysis, pass.folder.string());
        const TraceFacts facts{pass.wanted[a].label, reader_.manifest()};
        out_.analyses[a] = find_analysis(names_[a]).make(facts, options.analysis);
      });
    }
  }

  PassResult run() {
    for (const auto& entry : reader_.samples()) {
      if (options_.limit > 0 && begun_ == options_.limit) break;
      if (lacking_.all()) break;
      if (entry.status == trace::Status::kFailed) {
        out_.failed.push_back({entry.id, entry.error});
        continue;
      }
      if (entry.bytes > kLargeSample && reader_.manifest().level == trace::Level::kFull) {
        finish_window();
        window_.push_back({&entry, begun_++, {}, {}});
        window_[0].read(reader_);
        window_[0].begin(*this);
        window_[0].run->work(rules_, threads_);
        end_window();
        continue;
      }
      window_.push_back({&entry, begun_++, {}, {}});
      if (std::ssize(window_) >= threads_.size()) finish_window();
    }
    finish_window();
    if (begun_ == 0 && !lacking_.all())
      throw_input_error({pass_.folder.string(), "at least one traced sample", "none"});
    out_.reasons = lacking_.reasons();
    for (size_t a = 0; a < names_.size(); ++a) {
      if (out_.reasons[a]) out_.analyses[a].reset();
    }
    return std::move(out_);
  }

 private:
  struct Sample {
    const trace::SampleEntry* entry;
    std::int64_t number;
    std::unique_ptr<StoredSource> source;
    std::unique_ptr<StoredRun> run;

    void read(const trace::TraceReader& reader) {
      source = std::make_unique<StoredSource>(reader.manifest(), reader.read(entry->id));
      source->set_number(number);
    }
    void begin(Pass& pass) {
      run = std::make_unique<StoredRun>(*source, pass.names_, pass.out_.analyses, pass.lacking());
    }
  };

  LackingAnalyses* lacking() { return options_.leave_out_lacking ? &lacking_ : nullptr; }

  template <typename Work>
  void tolerant(size_t analysis, const Work& work) {
    if (!options_.leave_out_lacking) return work();
    try {
      work();
    } catch (const std::exception& error) {
      lacking_.add(analysis, error);
    }
  }

  // Of all samples of the window, each in a thread; the first that fails is what is thrown.
  template <typename Work>
  void for_each(const Work& work) {
    std::vector<std::exception_ptr> errors(window_.size());
    threads_.run(std::ssize(window_), [&](std::int64_t i, int /*thread*/) {
      try {
        work(window_[static_cast<size_t>(i)]);
      } catch (...) {
        errors[static_cast<size_t>(i)] = std::current_exception();
      }
    });
    for (const auto& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }

  void finish_window() {
    if (window_.empty()) return;
    for_each([&](Sample& sample) { sample.read(reader_); });
    for (auto& sample : window_) sample.begin(*this);
    for_each([&](Sample& sample) {
      ThreadPool alone(1);
      sample.run->work(rules_, alone);
    });
    end_window();
  }

  void end_window() {
    for (auto& sample : window_) {
      sample.run->end();
      sample.run.reset();
      sample.source.reset();
      if (options_.on_sample) options_.on_sample();
    }
    window_.clear();
  }

  const TracePass& pass_;
  const RunOptions& options_;
  const RuleOptions rules_;
  trace::TraceReader reader_;
  ThreadPool threads_;
  std::vector<std::string> names_;
  LackingAnalyses lacking_;
  PassResult out_;
  std::vector<Sample> window_;
  std::int64_t begun_ = 0;
};

}  // namespace

PassResult run_pass(const TracePass& pass, const RunOptions& options) {
  return Pass(pass, options).run();
}

}  // namespace buoy::analysis
