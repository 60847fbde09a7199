// Standard output that is full, closed or read no more, and signals.

#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

const std::string kProgram = BUOY_PROGRAM;

TEST(Streams, AFullOutputIsTheMachinesFault) {
  for (const std::string command : {" world --count 1", " --help", " --version", " devices", " --describe"}) {
    const auto full = run_shell(kProgram + command + " > /dev/full");
    EXPECT_EQ(full.exit_code, 4) << command << full.err;
    EXPECT_NE(full.err.find("standard output"), std::string::npos) << command << full.err;
    const auto closed = run_shell(kProgram + command + " >&-");
    EXPECT_EQ(closed.exit_code, 4) << command << closed.err;
    EXPECT_NE(closed.err.find("standard output"), std::string::npos) << command << closed.err;
  }
}

TEST(Streams, AnErrorThatCannotBeSaidKeepsItsCode) {
  for (const char* lost : {" 2> /dev/full", " 2>&-", " > /dev/full 2> /dev/full", " >&- 2>&-"}) {
    EXPECT_EQ(run_shell(kProgram + " fly" + lost).exit_code, 2) << lost;
    EXPECT_EQ(run_shell(kProgram + " inspect /nothing" + lost).exit_code, 3) << lost;
  }
}

TEST(Streams, WhoReadsNoMoreIsLeftAlone) {
  const auto gone =
      run_shell(kProgram + " world --count 20000 | head -n 1 > /dev/null; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(gone.out, "141\n");
  EXPECT_EQ(gone.err, "");
}

// Closed while the program works: what it makes is whole, and the code tells.
TEST(Streams, OutputClosedInMidRunLosesNoResult) {
  const TempFolder scratch;
  const std::string trace = scratch / "t", model = pair_folder(true).string();
  const auto gone =
      run_shell("{ " + kProgram + " trace --model " + model + " --prompt hi --max-new-tokens 4 --out " +
                trace + "; echo $? > " + (scratch / "code").string() + "; } | sleep 0.01");
  EXPECT_EQ(read_file(scratch / "code"), "141\n") << gone.err;
  EXPECT_NE(run_buoy({"inspect", trace}).out.find("complete"), std::string::npos);
  const auto log_lost =
      run_shell(kProgram + " trace --model " + model + " --prompt hi --max-new-tokens 4 --out " +
                (scratch / "u").string() + " 2> /dev/full");
  EXPECT_EQ(log_lost.exit_code, 0) << "a log that cannot be written ends no run";
}

TEST(Streams, AClosedOutputIsNoFileOfOurs) {
  const TempFolder scratch;
  const std::string npz = scratch / "p.npz", model = (data_folder() / "goldens/llada-f32").string();
  ASSERT_EQ(run_buoy({"forward", "--model", model, "--ids", "1,2", "--out", npz}).exit_code, 0);
  const std::string whole = read_file(npz);
  EXPECT_EQ(
      run_shell(kProgram + " forward --model " + model + " --ids 1,2 --out " + npz + " >&- 2>&-").exit_code,
      0);
  EXPECT_EQ(read_file(npz), whole);
}

// Becomes the program.
void execute(const std::vector<std::string>& call) {
  std::vector<char*> words;
  for (const auto& word : call) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
}

// A program on a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& call) {
    child_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ != 0) return;
    ::signal(SIGINT, SIG_DFL);  // who runs the tests may ignore it
    execute(call);
    ::_exit(127);
  }
  ~OnTerminal() { ::close(terminal_); }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  // Reads until the text is there, or to the end.
  bool wait_for(const std::string& text) {
    char chunk[4096];
    while (shown_.find(text) == std::string::npos) {
      const ssize_t got = ::read(terminal_, chunk, sizeof chunk);
      if (got <= 0) return false;
      shown_.append(chunk, static_cast<size_t>(got));
    }
    return true;
  }
  void press_ctrl_c() const { EXPECT_EQ(::write(terminal_, "\x03", 1), 1); }
  int wait_for_end() {
    wait_for("never shown \x01");
    int status = 0;
    ::waitpid(child_, &status, 0);
    return status;
  }
  const std::string& shown() const { return shown_; }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string shown_;
};

TEST(Streams, CtrlCShowsTheCursorAgain) {
  OnTerminal program({kProgram, "generate", "--model", pair_folder(true).string(), "--prompt", "hi",
                      "--max-new-tokens", "600", "--steps", "600"});
  ASSERT_TRUE(program.wait_for("step 2 of")) << program.shown();
  EXPECT_NE(program.shown().find("\033[?25l"), std::string::npos);
  program.press_ctrl_c();
  const int status = program.wait_for_end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_NE(program.shown().find("\033[?25h"), std::string::npos) << program.shown();
  EXPECT_NE(program.shown().find("interrupted"), std::string::npos) << program.shown();
}

size_t samples_in(const std::filesystem::path& folder) {
  if (!path_exists(folder)) return 0;
  size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    count += entry.path().extension() == ".safetensors" ? 1 : 0;
  return count;
}

TEST(Streams, AnInterruptedRunSaysHowToGoOnAndDoes) {
  const TempFolder scratch;
  const std::string questions = scratch / "q.jsonl", out = scratch / "t", said = scratch / "said";
  ASSERT_EQ(run_buoy({"world", "--count", "10", "--passages", "3", "--out", questions}).exit_code, 0);
  std::vector<std::string> call = {kProgram, "trace",   "--model",          pair_folder(true).string(),
                                   "--data", questions, "--max-new-tokens", "8",
                                   "--out",  out};
  for (const int signal : {SIGINT, SIGTERM}) {
    const size_t before = samples_in(out);
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(signal, SIG_DFL);
      if (std::freopen(said.c_str(), "w", stderr) != nullptr) execute(call);
      ::_exit(127);
    }
    while (samples_in(out) == before && ::kill(child, 0) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    // Ctrl-C ends it at once, SIGTERM behind the sample in hand.
    if (signal == SIGINT) {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    } else {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 75) << status;
    }
    EXPECT_NE(read_file(said).find("--resume"), std::string::npos) << read_file(said);
    EXPECT_LT(samples_in(out), 10u) << "it was over before it could be interrupted";
    if (signal == SIGINT) call.push_back("--resume");
  }
  const auto rest = run_buoy({call.begin() + 1, call.end()});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_NE(rest.out.find("10 samples"), std::string::npos) << rest.out;
}

}  // namespace
}  // namespace buoy::testing
