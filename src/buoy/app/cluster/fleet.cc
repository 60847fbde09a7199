#include "buoy/app/cluster/fleet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "buoy/app/command_line.h"
#include "buoy/app/exit_codes.h"
#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/say.h"
#include "buoy/shard/claims.h"
#include "buoy/study/merged_run.h"
#include "buoy/tensor/thread_pool.h"

extern char** environ;  // NOLINT(readability-identifier-naming)

namespace buoy::app {
namespace {

namespace fs = std::filesystem;

class Fleet {
 public:
  Fleet(const PartedCommand& command, std::vector<std::string> cards, int processes)
      : out_(command.out),
        cards_(std::move(cards)),
        count_(cards_.empty() ? processes : static_cast<int>(cards_.size())) {}

  ~Fleet() {
    for (const auto& [pid, number] : running_) ::kill(pid, SIGKILL);
    for (const auto& [pid, number] : running_) ::waitpid(pid, nullptr, 0);
  }

  int count() const { return count_; }

  void run() {
    make_folder(logs());
    for (int number = 0; number < count_; ++number) start(number);
    wait_for_all();
    // Who failed last may have left samples when all others were gone.
    while (!finished_.empty() && failed_since_) {
      failed_since_ = false;
      start(*finished_.begin());
      finished_.erase(finished_.begin());
      wait_for_all();
    }
    if (finished_.empty()) throw IoError(fmt::format("every process failed; the last: {}", last_error_));
  }

 private:
  fs::path logs() const { return shard::shards_folder(out_) / "log"; }
  std::string name(int number) const {
    return cards_.empty() ? fmt::format("process {}", number)
                          : fmt::format("card {}", cards_[static_cast<std::size_t>(number)]);
  }

  void start(int number) {
    std::vector<std::string> words = words_of_command();
    for (std::size_t i = 0; i + 1 < words.size() && !cards_.empty(); ++i) {
      if (words[i] == "--device") words[i + 1] = "cuda";
    }
    for (auto& word : words) {
      if (word.starts_with("--device=") && !cards_.empty()) word = "--device=cuda";
    }
    for (const auto& word :
         {std::string("--shard"), fmt::format("{}/{}", number, count_), std::string("--steal")})
      words.push_back(word);
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view one = *variable;
      if (one.starts_with("CUDA_VISIBLE_DEVICES=") && !cards_.empty()) continue;
      if (!one.starts_with("BUOY_THREADS=")) variables.emplace_back(one);
    }
    variables.push_back(fmt::format("BUOY_THREADS={}", std::max(1, default_threads() / count_)));
    if (!cards_.empty())
      variables.push_back("CUDA_VISIBLE_DEVICES=" + cards_[static_cast<std::size_t>(number)]);
    std::vector<char*> arguments, environment;
    for (auto& word : words) arguments.push_back(word.data());
    for (auto& variable : variables) environment.push_back(variable.data());
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    const auto log = (logs() / fmt::format("{:04}.txt", number)).string();
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0644);
    ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    pid_t pid = 0;
    const int failure =
        ::posix_spawn(&pid, "/proc/self/exe", &files, nullptr, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&files);
    if (failure != 0) throw_io_error("start a process of", words.front(), failure);
    running_.emplace(pid, number);
  }

  void wait_for_all() {
    constexpr auto kPause = std::chrono::milliseconds(50), kLook = std::chrono::milliseconds(1000);
    auto looked = std::chrono::steady_clock::now();
    while (!running_.empty()) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid > 0) {
        if (const auto found = running_.find(pid); found != running_.end()) {
          const int number = found->second;
          running_.erase(found);
          ended(number, status);
        }
        continue;
      }
      if (stop_requested() && !told_) {
        told_ = true;
        for (const auto& [running, number] : running_) ::kill(running, SIGTERM);
      }
      std::this_thread::sleep_for(kPause);
      if (std::chrono::steady_clock::now() - looked < kLook) continue;
      looked = std::chrono::steady_clock::now();
      look();
    }
    look();
    bar_.reset();
    stop_here();
  }

  void ended(int number, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      finished_.push_back(number);
      return;
    }
    if (stop_requested()) return;
    failed_since_ = true;
    shard::Claims::release_shard(shard::claims_folder(out_), number);
    const auto progress = shard::read_progress(out_, count_);
    last_error_ = progress[static_cast<std::size_t>(number)].error;
    if (last_error_.empty() && WIFEXITED(status)) last_error_ = last_line(number);
    const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                                : fmt::format("exit code {}", WEXITSTATUS(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == kWrongUsage) throw UsageError(last_error_);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kBadInput) throw InputError(last_error_);
    say("note: {} is taken out, its samples go to the others: {}{}\n", name(number), how,
        last_error_.empty() ? "" : ", " + last_error_);
  }

  std::string last_line(int number) const {
    const auto log = logs() / fmt::format("{:04}.txt", number);
    if (!path_exists(log)) return "";
    std::string text = read_file(log);
    while (text.ends_with('\n')) text.pop_back();
    text = text.substr(text.rfind('\n') + 1);
    return text.starts_with("buoy: ") ? text.substr(6) : text;
  }

  void look() {
    std::int64_t done = 0, total = 0;
    for (const auto& one : shard::read_progress(out_, count_)) {
      done += one.done;
      total += one.total;
    }
    if (total == 0) return;
    if (!bar_) bar_.emplace(stderr, fmt::format("{} processes: sample", count_), total);
    bar_->set_total(total);
    bar_->advance(std::max<std::int64_t>(0, std::min(done, total) - shown_));
    shown_ = std::max(shown_, std::min(done, total));
  }

  fs::path out_;
  std::vector<std::string> cards_;
  int count_;
  std::map<pid_t, int> running_;
  std::vector<int> finished_;
  bool failed_since_ = false, told_ = false;
  std::string last_error_;
  std::optional<Progress> bar_;
  std::int64_t shown_ = 0;
};

}  // namespace

void run_processes(const ShardOptions& options, const std::string& device, const PartedCommand& command) {
  auto cards = cards_of(device);
  if (options.processes > 0 && !cards.empty() && options.processes != static_cast<int>(cards.size()))
    throw_usage_error({"--processes", counted(cards.size(), "process", "processes") + ", one for each card",
                       std::to_string(options.processes)});
  stop_behind_sample(kStopped, 60);
  say_how_parts_go_on(command);
  if (const auto before = shard::read_facts(command.out); before && study::is_merged(command.out, *before))
    throw_usage_error({command.out.string(), "a run that is not finished", "one in parts that were joined"});
  Fleet fleet(command, std::move(cards), options.processes);
  fleet.run();
  try {
    study::merge_run(command.out);
  } catch (const InputError&) {
    const auto facts = shard::read_facts(command.out);  // whole, though every sample failed
    if (facts && study::is_merged(command.out, *facts)) fs::remove_all(shard::shards_folder(command.out));
    throw;
  }
  fs::remove_all(shard::shards_folder(command.out));
  if (command.kind != "study") return;
  for (const char* kind : {"traces", "evaluate"}) {
    std::error_code failure;
    for (fs::directory_iterator at(command.out / kind, failure), end; !failure && at != end;
         at.increment(failure))
      fs::remove_all(shard::shards_folder(at->path()));
  }
}

}  // namespace buoy::app
