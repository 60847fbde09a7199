// A run killed at any instant and resumed leaves the same folder as one that was left alone.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

#include "buoy/base/error.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/writer.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "trace/small_trace.h"
#include "trace/streamed_sample.h"

namespace buoy::trace {
namespace {

namespace fs = std::filesystem;
using testing::fails_with;
using testing::same_files;
using testing::small_manifest;
using testing::small_sample;
using testing::snapshot;
using testing::TempFolder;
using testing::write_rest;
using testing::write_whole;

constexpr int kSamples = 6;

// Runs the action in another process; the signal that killed it, or 0.
int die_in(const std::function<void()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    action();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

std::map<std::string, std::string> undisturbed(int samples = kSamples) {
  const TempFolder temp;
  write_whole(temp.path(), small_manifest(samples));
  return snapshot(temp.path());
}

void resume_and_finish(const fs::path& folder, int samples = kSamples) {
  Manifest manifest = small_manifest(samples);
  if (fs::exists(folder / "manifest.json")) manifest.command += " --resume";  // the first command stays
  auto writer = TraceWriter::resume(folder, manifest);
  write_rest(writer, manifest);
}

void write_some(const fs::path& folder, int count, int samples = kSamples) {
  auto writer = TraceWriter::create(folder, small_manifest(samples));
  for (int i = 0; i < count; ++i) writer.write(small_sample(i));
}

TEST(KilledRun, BetweenSamples) {
  const auto whole = undisturbed();
  for (int count = 0; count <= kSamples; ++count) {
    const TempFolder temp;
    const int signal = die_in([&] {
      write_some(temp.path(), count);
      ::kill(::getpid(), SIGKILL);
    });
    ASSERT_EQ(signal, SIGKILL);
    const TraceReader reader = TraceReader::open(temp.path());
    EXPECT_FALSE(reader.complete());
    EXPECT_EQ(reader.samples().size(), static_cast<size_t>(count));
    EXPECT_EQ(reader.verify(), std::vector<std::string>{});
    resume_and_finish(temp.path());
    EXPECT_TRUE(same_files(snapshot(temp.path()), whole)) << "killed after " << count << " samples";
  }
}

// A limit on the size of files kills the process in the middle of the first write that goes past it: in the
// first manifest, in one sample or another (each is longer than the one before), in the last manifest.
TEST(KilledRun, InsideAWrite) {
  const auto whole = undisturbed(12);
  std::set<std::string> torn;
  for (rlim_t limit = 0; limit < 4000; limit += limit < 1300 ? 200 : 70) {
    const TempFolder temp;
    const int signal = die_in([&] {
      const rlimit small{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &small);
      write_whole(temp.path() / "trace", small_manifest(12));
    });
    if (signal == 0) continue;
    ASSERT_EQ(signal, SIGXFSZ) << limit;
    for (const auto& [name, bytes] : snapshot(temp.path() / "trace")) {
      if (const size_t at = name.find(".partial."); at != std::string::npos) torn.insert(name.substr(0, at));
    }
    if (fs::exists(temp.path() / "trace/manifest.json")) {
      EXPECT_FALSE(TraceReader::open(temp.path() / "trace").complete());
    }
    resume_and_finish(temp.path() / "trace", 12);
    ASSERT_TRUE(same_files(snapshot(temp.path() / "trace"), whole))
        << "files of at most " << limit << " bytes";
  }
  EXPECT_TRUE(torn.contains("manifest.json"));
  EXPECT_TRUE(torn.contains("samples/sample-1.safetensors"));
  EXPECT_GT(torn.size(), 6u);
}

// Streamed samples: killed after any number of cells, or between the file's name and its line.
TEST(KilledRun, InsideAStreamedSample) {
  const auto sample = testing::stacked_sample("sample-1", 300);
  const auto cells = testing::cells_of(sample);
  const auto rest = [&](TraceWriter& writer, size_t count) {
    auto stream = writer.begin_sample(testing::streamed_plan(sample, Storage::kF32));
    for (size_t i = 0; i < count; ++i) testing::put(*stream, cells[i]);
    if (count < cells.size()) ::kill(::getpid(), SIGKILL);
    return stream->finish(sample.metadata, testing::small_arrays(sample));
  };
  const auto whole = [&] {
    const TempFolder temp;
    auto writer = TraceWriter::create(temp.path(), small_manifest(2));
    writer.write(small_sample(0));
    writer.commit(rest(writer, cells.size()));
    writer.finish();
    return snapshot(temp.path());
  }();
  for (size_t count = 0; count <= cells.size(); count += count < cells.size() - 4 ? 4 : 1) {
    const TempFolder temp;
    const int signal = die_in([&] {
      auto writer = TraceWriter::create(temp.path(), small_manifest(2));
      writer.write(small_sample(0));
      rest(writer, count);
      ::kill(::getpid(), SIGKILL);
    });
    ASSERT_EQ(signal, SIGKILL);
    EXPECT_EQ(fs::exists(temp.path() / "samples/sample-1.safetensors"), count == cells.size());
    EXPECT_EQ(TraceReader::open(temp.path()).verify(), std::vector<std::string>{});
    EXPECT_EQ(TraceReader::open(temp.path()).samples().size(), 1u);
    auto writer = TraceWriter::resume(temp.path(), small_manifest(2));
    EXPECT_EQ(snapshot(temp.path()).size(), 3u) << "manifest, journal and the first sample";
    EXPECT_TRUE(writer.has("sample-0"));
    writer.commit(rest(writer, cells.size()));
    writer.finish();
    EXPECT_TRUE(same_files(snapshot(temp.path()), whole)) << "killed after " << count << " cells";
  }
}

TEST(KilledRun, InsideALineOfTheJournal) {
  for (rlim_t cut = 0; cut < 60; cut += 7) {
    const TempFolder temp;
    const auto journal = temp.path() / "samples.jsonl";
    const int signal = die_in([&] {
      auto writer = TraceWriter::create(temp.path(), small_manifest(kSamples));
      for (int i = 0; i < 2; ++i) writer.write(small_sample(i));
      const rlim_t limit = fs::file_size(journal) + cut;
      const rlimit small{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &small);
      writer.write_failure("sample-2", std::string(60, 'x'));
    });
    ASSERT_EQ(signal, SIGXFSZ);
    EXPECT_EQ(testing::slurp(journal).back() == '\n', cut == 0);
    EXPECT_EQ(TraceReader::open(temp.path()).samples().size(), 2u);
    resume_and_finish(temp.path());
    EXPECT_TRUE(same_files(snapshot(temp.path()), undisturbed())) << cut << " bytes of the line";
  }
}

TEST(KilledRun, BetweenTheSampleAndItsLine) {
  const TempFolder temp;
  write_some(temp.path(), 3);
  const auto journal = temp.path() / "samples.jsonl";
  std::string text = testing::slurp(journal);
  text.erase(text.rfind('\n', text.size() - 2) + 1);
  testing::spill(journal, text);
  EXPECT_EQ(TraceReader::open(temp.path()).samples().size(), 2u);
  EXPECT_TRUE(TraceReader::open(temp.path()).verify().empty()) << "a run under way looks like this too";
  EXPECT_FALSE(TraceWriter::resume(temp.path(), small_manifest(kSamples)).has("sample-2"));
  EXPECT_FALSE(fs::exists(temp.path() / "samples/sample-2.safetensors"));
  resume_and_finish(temp.path());
  EXPECT_TRUE(same_files(snapshot(temp.path()), undisturbed()));
}

TEST(KilledRun, WithEveryCutOfTheLastLine) {
  const TempFolder temp;
  write_some(temp.path(), 2);
  const std::string text = testing::slurp(temp.path() / "samples.jsonl");
  const size_t second = text.find('\n') + 1;
  for (size_t size = 0; size < text.size(); size += 7) {
    testing::spill(temp.path() / "samples.jsonl", text.substr(0, size));
    EXPECT_EQ(TraceReader::open(temp.path()).samples().size(), size < second ? 0u : 1u) << size;
  }
  testing::spill(temp.path() / "samples.jsonl", text.substr(0, second + 20));
  resume_and_finish(temp.path());
  EXPECT_TRUE(same_files(snapshot(temp.path()), undisturbed()));
}

TEST(KilledRun, WhileTidyingUp) {
  const TempFolder temp;
  write_some(temp.path(), kSamples);
  const std::string journal = testing::slurp(temp.path() / "samples.jsonl");
  resume_and_finish(temp.path());
  testing::spill(temp.path() / "samples.jsonl", journal.substr(0, 50));
  EXPECT_TRUE(TraceReader::open(temp.path()).complete());
  EXPECT_TRUE(TraceReader::open(temp.path()).verify().empty());
  resume_and_finish(temp.path());
  EXPECT_TRUE(same_files(snapshot(temp.path()), undisturbed()));
}

TEST(ResumedRun, ReplacesDamagedSamplesEvenOfACompleteTrace) {
  for (const bool complete : {false, true}) {
    const TempFolder temp;
    write_some(temp.path(), kSamples);
    if (complete) resume_and_finish(temp.path());
    fs::remove(temp.path() / "samples/sample-0.safetensors");
    fs::resize_file(temp.path() / "samples/sample-1.safetensors", 100);
    std::string bytes = testing::slurp(temp.path() / "samples/sample-2.safetensors");
    bytes.back() ^= 1;
    testing::spill(temp.path() / "samples/sample-2.safetensors", bytes);
    {
      const auto writer = TraceWriter::resume(temp.path(), small_manifest(kSamples));
      for (int i = 0; i < kSamples; ++i) EXPECT_EQ(writer.has("sample-" + std::to_string(i)), i > 2) << i;
    }
    EXPECT_FALSE(TraceReader::open(temp.path()).complete());
    resume_and_finish(temp.path());
    EXPECT_TRUE(same_files(snapshot(temp.path()), undisturbed()));
  }
}

TEST(ResumedRun, TriesFailuresAgain) {
  const TempFolder temp;
  {
    auto writer = TraceWriter::create(temp.path(), small_manifest(kSamples));
    for (int i = 0; i < kSamples - 1; ++i) writer.write_failure("sample-" + std::to_string(i), "full disk");
    writer.write(small_sample(kSamples - 1));
    writer.finish();
  }
  resume_and_finish(temp.path());
  EXPECT_TRUE(same_files(snapshot(temp.path()), undisturbed()));
}

TEST(ResumedRun, BeginsWhereNothingIs) {
  const TempFolder temp;
  resume_and_finish(temp.path() / "new");
  EXPECT_TRUE(same_files(snapshot(temp.path() / "new"), undisturbed()));
  fs::create_directory(temp.path() / "begun");
  testing::spill(temp.path() / "begun/manifest.json.partial.123", "{\"form");
  resume_and_finish(temp.path() / "begun");
  EXPECT_TRUE(same_files(snapshot(temp.path() / "begun"), undisturbed()));
}

TEST(ResumedRun, LeavesOtherFilesAlone) {
  const TempFolder temp;
  write_some(temp.path(), 1);
  testing::spill(temp.path() / "notes.txt", "mine");
  testing::spill(temp.path() / "samples/sample-1.safetensors.partial.77", "half");
  testing::spill(temp.path() / "manifest.json.partial.77", "half");
  resume_and_finish(temp.path());
  auto expected = undisturbed();
  expected["notes.txt"] = "mine";
  EXPECT_TRUE(same_files(snapshot(temp.path()), expected));
}

TEST(ResumedRun, IsRefusedWhileTheFirstStillRuns) {
  const TempFolder temp;
  const auto writer = TraceWriter::create(temp.path(), small_manifest(kSamples));
  EXPECT_TRUE(fails_with<UsageError>([&] { TraceWriter::resume(temp.path(), small_manifest(kSamples)); },
                                     {"samples.jsonl", "another run"}));
}

// Stands in for a full disk: the write fails, the program lives on.
TEST(FullDisk, CostsOneSample) {
  const TempFolder temp;
  auto writer = TraceWriter::create(temp.path(), small_manifest(2));
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  for (const rlim_t limit : {rlim_t{10}, rlim_t{400}}) {
    const rlimit small{limit, old_limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(writer.write(small_sample(0)), IoError);
    EXPECT_THROW(writer.write_failure("sample-1", std::string(500, 'x')), IoError);
    ::setrlimit(RLIMIT_FSIZE, &old_limit);
  }
  ::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(testing::slurp(temp.path() / "samples.jsonl"), "");
  write_rest(writer, small_manifest(2));
  EXPECT_TRUE(same_files(snapshot(temp.path()), undisturbed(2)));
}

}  // namespace
}  // namespace buoy::trace
