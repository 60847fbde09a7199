// Traces that keep less than all: interrupted and resumed, asked for what they do not keep, refused.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "buoy/analysis/core/run.h"
#include "buoy/base/file/files.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/run/trace_run.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/writer.h"
#include "run/runs.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

namespace fs = std::filesystem;
using testing::fails_with;

constexpr std::size_t kSamples = 4;

class Levels : public ::testing::TestWithParam<trace::Level> {
 protected:
  Levels()
      : data_(testing::write_world(scratch_, {.count = kSamples, .passages = 2})),
        model_(load_model(testing::pair_model(true).path)) {
    request_.items = questions::read_items(data_, {});
    request_.prompt_template = testing::pair_spec(data_, {}).prompt_template;
    request_.analyses.names = {"floating", "drift", "qk", "retrieval", "flow"};
    request_.observe = observables_for(request_.analyses.names);
    request_.groups = "regions";
    request_.decode.max_new_tokens = 3;
    request_.decode.steps = 3;
    request_.keep = GetParam();
    request_.compact_samples = 1;
    request_.analyses.options.bootstrap.replicates = 20;
  }

  TraceRun make(const fs::path& folder, bool resume = false) {
    request_.folder = folder;
    request_.resume = resume;
    return make_trace_run(request_, model_);
  }

  TraceRunResult run(const TraceRun& run, int threads = 2) {
    ThreadPool pool(threads);
    return run_trace({pool}, model_, run, {[](const auto&) {}, [] {}});
  }

  using Tables = std::map<std::string, std::string>;
  static Tables as_text(const analysis::RunResult& result) {
    Tables out;
    for (const auto& analysis : result.analyses) {
      for (const auto& table : analysis.tables) out[table.name] = to_csv(table);
    }
    return out;
  }
  Tables tables_of(TraceRunResult result) {
    std::vector<analysis::LabelledRun> runs;
    runs.push_back({"run", std::move(result.analysed)});
    return as_text(analysis::assemble(result.names, std::move(runs), request_.analyses.options));
  }

  // Stops as a run that is killed does: nothing is tidied up but by destructors, which leave what is whole.
  void interrupt(const fs::path& folder, std::size_t before) {
    auto run = make(folder);
    const auto prompt = run.prompt;
    bool running = false;
    run.prompt = [=, &running](std::size_t n) {
      if (running && n == before) throw std::runtime_error("killed");
      return prompt(n);
    };
    ThreadPool pool(2);
    EXPECT_THROW(run_trace({pool}, model_, run, {[&](const auto&) { running = true; }, [] {}}),
                 std::runtime_error);
  }

  testing::TempFolder scratch_;
  fs::path data_;
  LoadedModel model_;
  TraceRequest request_;
};
INSTANTIATE_TEST_SUITE_P(All, Levels, ::testing::ValuesIn(trace::kLevels),
                         [](const auto& p) { return std::string(name_of(p.param)); });

TEST_P(Levels, ARunThatWasInterruptedGoesOn) {
  const auto whole = tables_of(run(make(scratch_ / "whole")));
  const auto files = testing::files_of(scratch_ / "whole");
  for (std::size_t before = 0; before <= kSamples; ++before) {
    const auto folder = scratch_ / ("killed" + std::to_string(before));
    if (before < kSamples) {
      interrupt(folder, before);
    } else {
      run(make(folder));
    }
    EXPECT_EQ(tables_of(run(make(folder, true))), whole) << "killed before sample " << before;
    EXPECT_TRUE(testing::same_files(testing::files_of(folder), files)) << before;
  }
}

// Maps are drawn of one sample. When one in front of it failed they were of the next, which then has them in
// its state.
TEST_P(Levels, ASampleThatFailedMayDoBetter) {
  for (const std::int64_t drawn : {0, 1}) {
    request_.analyses.options.sample = drawn;
    const auto whole = tables_of(run(make(scratch_ / fmt::format("whole{}", drawn))));
    const auto folder = scratch_ / fmt::format("trace{}", drawn);
    auto failing = make(folder);
    const auto prompt = failing.prompt;
    failing.prompt = [=](std::size_t n) {
      if (n == 0) throw InputError("not this time");
      return prompt(n);
    };
    EXPECT_EQ(run(failing).failed.size(), 1u);
    EXPECT_EQ(tables_of(run(make(folder, true))), whole) << "sample " << drawn << " is drawn";
  }
}

// Every cut of the journal and of a sample's file: what is not whole is done again.
TEST_P(Levels, ARunThatWasCutAnywhereGoesOn) {
  const auto whole = tables_of(run(make(scratch_ / "whole")));
  const auto files = testing::files_of(scratch_ / "whole");
  const auto stopped = scratch_ / "stopped";
  interrupt(stopped, 2);
  for (const char* name : {"samples.jsonl", "samples/"}) {
    auto file = stopped / name;
    if (fs::is_directory(file)) file = fs::directory_iterator(file)->path();
    const auto size = fs::file_size(file);
    for (const double part : {0.0, 0.1, 0.5, 0.9, 0.999}) {
      const auto folder = scratch_ / "cut";
      fs::remove_all(folder);
      fs::copy(stopped, folder, fs::copy_options::recursive);
      fs::resize_file(folder / fs::relative(file, stopped),
                      static_cast<std::uintmax_t>(part * static_cast<double>(size)));
      EXPECT_EQ(tables_of(run(make(folder, true))), whole) << name << " cut at " << part;
      EXPECT_TRUE(testing::same_files(testing::files_of(folder), files)) << name << " cut at " << part;
    }
  }
}

// At every byte of the journal, and all along a sample's file: a sample counts as written when its line and
// its file are whole, and only then.
TEST_P(Levels, OnlyWholeSamplesCountAsWritten) {
  const auto stopped = scratch_ / "stopped";
  interrupt(stopped, 2);
  const auto manifest = trace::TraceReader::open(stopped).manifest();
  const std::string journal = read_file(stopped / "samples.jsonl");
  const auto folder = scratch_ / "cut";
  const auto copy = [&] {
    fs::remove_all(folder);
    fs::create_directories(folder / "samples");
    for (const char* name : {"manifest.json", "samples.jsonl"}) fs::copy_file(stopped / name, folder / name);
    for (const auto& file : fs::directory_iterator(stopped / "samples"))
      fs::create_hard_link(file.path(), folder / "samples" / file.path().filename());
  };
  const auto written = [&] {
    const auto writer = trace::TraceWriter::resume(folder, manifest);
    return std::count_if(manifest.sample_ids.begin(), manifest.sample_ids.end(),
                         [&](const auto& id) { return writer.has(id); });
  };
  for (std::size_t cut = 0; cut <= journal.size(); ++cut) {
    copy();
    fs::resize_file(folder / "samples.jsonl", cut);
    EXPECT_EQ(written(),
              std::count(journal.begin(), journal.begin() + static_cast<std::ptrdiff_t>(cut), '\n'))
        << "journal cut at " << cut << " of " << journal.size();
  }
  const auto whole = stopped / trace::TraceReader::open(stopped).samples().front().file;
  const std::string bytes = read_file(whole);
  for (std::size_t cut = 0; cut < bytes.size(); cut += std::max<std::size_t>(bytes.size() / 50, 1)) {
    copy();
    const auto file = folder / "samples" / whole.filename();
    fs::remove(file);
    std::ofstream(file, std::ios::binary) << bytes.substr(0, cut);
    EXPECT_EQ(written(), 1) << "sample cut at " << cut << " of " << bytes.size();
  }
}

TEST_P(Levels, AResumedRunMustKeepTheSame) {
  interrupt(scratch_ / "trace", 1);
  for (const auto other : trace::kLevels) {
    if (other == GetParam()) continue;
    request_.keep = other;
    const auto from = std::string(name_of(GetParam())), to = std::string(name_of(other));
    EXPECT_TRUE(fails_with<InputError>([&] { run(make(scratch_ / "trace", true)); },
                                       {"manifest.json: `keep` (level)", from + " as in the trace", to}))
        << from << ", " << to;
  }
}

// Stands in for a full disk: files cannot grow beyond a few bytes once the run is under way.
TEST_P(Levels, ADiskThatIsFullStopsTheRunWhichThenGoesOn) {
  const auto whole = tables_of(run(make(scratch_ / "whole")));
  const auto files = testing::files_of(scratch_ / "whole");
  const auto folder = scratch_ / "full";
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  auto asked = make(folder);
  const auto prompt = asked.prompt;
  bool running = false;
  asked.prompt = [&](std::size_t n) {
    const rlimit small{4096, old_limit.rlim_max};
    if (running && n == 2) ::setrlimit(RLIMIT_FSIZE, &small);
    return prompt(n);
  };
  ThreadPool pool(2);
  EXPECT_TRUE(fails_with<IoError>(
      [&] {
        run_trace({pool}, model_, asked, {[&](const auto&) { running = true; }, [] {}});
      },
      {"samples"}));
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(trace::TraceReader::open(folder).complete());
  EXPECT_EQ(tables_of(run(make(folder, true))), whole);
  EXPECT_TRUE(testing::same_files(testing::files_of(folder), files));
}

TEST_P(Levels, AskedForWhatIsNotKept) {
  run(make(scratch_ / "trace"));
  const std::vector<analysis::TraceInput> trace = {{scratch_ / "trace", "run"}};
  analysis::RunOptions options;
  if (GetParam() == trace::Level::kFull) {
    options.analysis.epsilon = 2;
    EXPECT_NO_THROW(analysis::run_analyses({"floating", "structure"}, trace, options));
    return;
  }
  EXPECT_TRUE(fails_with<InputError>([&] { analysis::run_analyses({"structure"}, trace, options); },
                                     {"trace", "structure", "floating, drift, qk, retrieval, flow", "full"}));
  options.analysis.epsilon = 2;
  EXPECT_TRUE(fails_with<InputError>([&] { analysis::run_analyses({"floating"}, trace, options); },
                                     {"epsilon", "3", "2", "full"}));
  EXPECT_NO_THROW(analysis::run_analyses({"retrieval"}, trace, options));  // it does not ask for it
  // An analysis that cannot be had is left out, and the others are there.
  options = {};
  options.leave_out_lacking = true;
  const auto result = analysis::run_analyses({"structure", "floating"}, trace, options);
  ASSERT_EQ(result.left_out.size(), 1u);
  EXPECT_EQ(result.left_out[0].analysis, "structure");
  EXPECT_TRUE(result.analyses[0].tables.empty());
  EXPECT_FALSE(result.analyses[1].tables.empty());
}

TEST_P(Levels, AnAnalysisThatNoPromptAllowsIsLeftOut) {
  for (auto& item : request_.items) item.passages.clear();
  request_.arrangement = arrangement_of(0, 0);
  request_.prompt_template =
      (fs::path(request_.prompt_template).parent_path() / "planted-closed-book.prompt").string();
  const auto result = run(make(scratch_ / "trace"));
  ASSERT_EQ(result.left_out.size(), 1u);
  EXPECT_EQ(result.left_out[0].analysis, "retrieval");
  EXPECT_NE(result.left_out[0].reason.find("evidence"), std::string::npos) << result.left_out[0].reason;
  EXPECT_EQ(result.failed.size(), 0u);
  request_.analyses.names = {"retrieval"};
  EXPECT_TRUE(fails_with<InputError>([&] { run(make(scratch_ / "none")); }, {"retrieval", "evidence"}));
}

}  // namespace
}  // namespace buoy::run
