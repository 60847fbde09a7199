// `buoy inspect` knows everything Buoy reads and writes, and names what it does not.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/retrieve/index.h"
#include "buoy/study/study.h"
#include "buoy/trace/reader.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;
using testing::run_buoy;
using testing::TempFolder;

// The kind that is said, as lines and as JSON.
void expect_kind(const fs::path& path, const std::string& kind) {
  SCOPED_TRACE(path.string());
  const auto said = run_buoy({"inspect", path.string()});
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_NE(said.out.find(kind), std::string::npos) << said.out;
  const auto json = run_buoy({"inspect", "--json", path.string()});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_TRUE(Json::parse(json.out).contains("kind")) << json.out;
}

TEST(InspectKinds, ATraceAndWhatIsMadeOfIt) {
  const TempFolder scratch;
  testing::trace_pair(scratch / "t", {true, 1, 1, {"--observe", "received,dense-mean", "--layers", "0"}});
  expect_kind(scratch / "t", "complete");
  expect_kind(scratch / "t" / "manifest.json", "complete");
  expect_kind(scratch / "t" / "samples", "complete");
  const auto id = trace::TraceReader::open(scratch / "t").samples().at(0).id;
  const auto sample = scratch / "t" / "samples" / (id + ".safetensors");
  expect_kind(sample, "sample of a trace");
  fs::copy_file(sample, scratch / "alone.safetensors");
  expect_kind(scratch / "alone.safetensors", "sample of a trace");
  expect_kind(scratch / "t.questions.jsonl", "questions");

  const std::string trace = (scratch / "t").string();
  ASSERT_EQ(run_buoy({"export", trace, "--out", (scratch / "x").string()}).exit_code, 0);
  expect_kind(scratch / "x", "exported samples");
  for (const auto& file : fs::directory_iterator(scratch / "x")) expect_kind(file.path(), "arrays for numpy");
  ASSERT_EQ(run_buoy({"analyze", "floating", trace, "--replicates", "10", "--out", (scratch / "a").string()})
                .exit_code,
            0);
  expect_kind(scratch / "a", "results of buoy analyze");
  expect_kind(scratch / "a" / "tables" / "floating_by_layer.json", "table");
  expect_kind(scratch / "a" / "tables" / "floating_by_layer.csv", "table");
  ASSERT_EQ(run_buoy({"report", trace, "--replicates", "10", "--out", (scratch / "r").string()}).exit_code,
            0);
  expect_kind(scratch / "r", "report");
  expect_kind(scratch / "r" / "report.html", "report page");
}

TEST(InspectKinds, AModelAndItsFiles) {
  const TempFolder scratch;
  testing::write_talking_model(scratch / "m", true);
  write_file_atomically(scratch / "m" / "generation_config.json", "{}");
  expect_kind(scratch / "m", "LLaDA");
  expect_kind(scratch / "m" / "config.json", "configuration of a model");
  expect_kind(scratch / "m" / "tokenizer.json", "tokenizer");
  const auto tokenizer = run_buoy({"inspect", (scratch / "m" / "tokenizer.json").string()});
  EXPECT_NE(tokenizer.out.find("byte pair encoding over bytes"), std::string::npos) << tokenizer.out;
  expect_kind(scratch / "m" / "model.safetensors", "weights");
  expect_kind(scratch / "m" / "generation_config.json", "part of a model");
  write_file_atomically(scratch / "m" / "model.safetensors.index.json",
                        R"({"weight_map": {"a": "gone.safetensors"}})");
  const auto index = run_buoy({"inspect", (scratch / "m" / "model.safetensors.index.json").string()});
  EXPECT_EQ(index.exit_code, 0) << index.err;
  EXPECT_NE(index.out.find("gone.safetensors"), std::string::npos) << index.out;
}

TEST(InspectKinds, ARunOfEvalAStudyAnIndexAndAPrompt) {
  const TempFolder scratch;
  const auto models = testing::pair_folder(true).parent_path();
  ASSERT_EQ(run_buoy({"world", "--count", "2", "--passages", "1", "--out", (scratch / "q.jsonl").string()})
                .exit_code,
            0);
  const auto run = run_buoy({"eval", "--model", "m=" + testing::pair_folder(true).string(), "--data",
                             "q=" + (scratch / "q.jsonl").string(), "--closed-book", "--max-new-tokens", "4",
                             "--out", (scratch / "e").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_kind(scratch / "e", "2 answered, 0 failed");
  expect_kind(scratch / "e" / "run.json", "run of buoy eval");
  expect_kind(scratch / "e" / "answers.jsonl", "run of buoy eval");
  expect_kind(scratch / "e" / "summary.json", "tables of buoy eval");
  expect_kind(scratch / "e" / "summary.csv", "tables of buoy eval");
  fs::copy_file(scratch / "e" / "answers.jsonl", scratch / "answers.jsonl");
  expect_kind(scratch / "answers.jsonl", "answers of buoy eval");
  fs::rename(scratch / "e" / "answers.jsonl", scratch / "e" / "answers.partial.jsonl");
  expect_kind(scratch / "e", "stopped: 2 answers so far");
  expect_kind(models / "planted.prompt", "prompt template");
  if (study::can_read_studies()) expect_kind(models / ".." / "studies" / "default.toml", "study");
  if (!retrieve::can_index()) return;
  const auto indexed = run_buoy({"index", (testing::data_folder() / "retrieve" / "boats.jsonl.gz").string(),
                                 "--out", (scratch / "i.db").string()});
  ASSERT_EQ(indexed.exit_code, 0) << indexed.err;
  expect_kind(scratch / "i.db", "index of passages");
}

TEST(InspectKinds, OthersAreNamed) {
  const TempFolder scratch;
  const auto expect_named = [&](const std::string& name, const std::string& bytes, const std::string& said) {
    SCOPED_TRACE(name);
    const auto path = scratch.write(name, bytes);
    const auto run = run_buoy({"inspect", path.string()});
    EXPECT_EQ(run.exit_code, 3) << run.out;
    EXPECT_NE(run.err.find(said), std::string::npos) << run.err;
  };
  const std::string zeros(64, '\0');
  expect_named("m.gguf", "GGUF\x03"s + zeros, "a GGUF file (llama.cpp): Buoy reads safetensors");
  expect_named("pytorch_model.bin", "PK\x03\x04"s + zeros + "archive/data.pkl",
               "a PyTorch file (pickle): Buoy reads safetensors");
  expect_named("old.pt", "\x80\x02}q\x00"s + zeros, "a PyTorch file (pickle)");
  expect_named("t.csv", "question,answer\nwho,me\n", "comma- or tab-separated");
  expect_named("paper.pdf", "%PDF-1.7\n", "a PDF document");
  expect_named("x.png", "\x89PNG\r\n\x1a\n" + zeros, "a picture");
  expect_named("x.svg", "<svg xmlns=\"x\"></svg>", "a picture");
  expect_named("x.gz", "\x1f\x8b\x08" + zeros, "a gzip file");
  expect_named("x.zip", "PK\x03\x04" + zeros, "a zip file");
  expect_named("x.parquet", "PAR1" + zeros, "a Parquet file");
  expect_named("x.h5", "\x89HDF\r\n" + zeros, "an HDF5 file");
  expect_named("page.html", "<!doctype html><p>hi", "a page of HTML");
  expect_named("empty", "", "an empty file");
  expect_named("w.txt", "version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer");
  expect_named("notes.txt", "nothing of note\n", "text of a kind Buoy does not know");
  expect_named("noise", "ab\0cd"s, "binary data of a kind Buoy does not know");
  expect_named("other.db", "SQLite format 3\0"s + zeros, "other.db");
  expect_named("torn.npz", "PK\x03\x04" + zeros, "a whole zip file");
  expect_named("w.safetensors", "abc", "w.safetensors");
  fs::create_directories(scratch / "folder" / "inner");
  const auto folder = run_buoy({"inspect", (scratch / "folder").string()});
  EXPECT_EQ(folder.exit_code, 3);
  EXPECT_NE(folder.err.find("1 entry: inner"), std::string::npos) << folder.err;
  ASSERT_EQ(::mkfifo((scratch / "fifo").c_str(), 0600), 0);
  const auto fifo = run_buoy({"inspect", (scratch / "fifo").string()});
  EXPECT_EQ(fifo.exit_code, 3);
  EXPECT_NE(fifo.err.find("a regular file"), std::string::npos) << fifo.err;
}

// A trace whose writer is at work, and one whose writer was killed.
class UnfinishedTrace : public ::testing::Test {
 protected:
  UnfinishedTrace() {
    fs::copy(testing::data_folder() / "trace" / "unfinished", folder_, fs::copy_options::recursive);
  }
  const TempFolder scratch_;
  const fs::path folder_ = scratch_ / "t";
};

TEST_F(UnfinishedTrace, SaysUnderWayOrHowToGoOn) {
  const auto stopped = run_buoy({"inspect", folder_.string()});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_NE(stopped.out.find("stopped: 2 of 3 samples"), std::string::npos) << stopped.out;
  EXPECT_NE(stopped.out.find("--out out --resume"), std::string::npos) << stopped.out;

  const int writer = ::open((folder_ / "samples.jsonl").c_str(), O_RDWR);
  ASSERT_GE(writer, 0);
  ASSERT_EQ(::flock(writer, LOCK_EX | LOCK_NB), 0);
  // What a writer has while it works: a file that is not whole yet, and one that the journal does not name
  // yet.
  write_file_atomically(folder_ / "samples" / "sample-2.safetensors.partial.7", "half");
  write_file_atomically(folder_ / "samples" / "sample-2.safetensors", "whole, and not in the journal yet");
  const auto under_way = run_buoy({"inspect", folder_.string()});
  EXPECT_EQ(under_way.exit_code, 0) << under_way.err << under_way.out;
  EXPECT_NE(under_way.out.find("under way: 2 of 3 samples"), std::string::npos) << under_way.out;
  EXPECT_EQ(under_way.out.find("problem"), std::string::npos) << under_way.out;
  EXPECT_EQ(Json::parse(run_buoy({"inspect", "--json", folder_.string()}).out)["state"], "under way");
  ::close(writer);
}

TEST_F(UnfinishedTrace, ASecondWriterIsRefused) {
  const std::vector<std::string> call = {"trace",
                                         "--model",
                                         (testing::data_folder() / "goldens/llada-f32").string(),
                                         "--ids",
                                         "5,6",
                                         "--max-new-tokens",
                                         "4",
                                         "--resume",
                                         "--out",
                                         (scratch_ / "w").string()};
  ASSERT_EQ(run_buoy(call).exit_code, 0);
  const int writer = ::open((scratch_ / "w" / "samples.jsonl").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_EQ(::flock(writer, LOCK_EX | LOCK_NB), 0);
  const auto second = run_buoy(call);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_NE(second.err.find("another run writing to it"), std::string::npos) << second.err;
  ::close(writer);
}

}  // namespace
}  // namespace buoy
