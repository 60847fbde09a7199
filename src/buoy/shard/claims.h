#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace buoy::shard {

// Who has which sample, by files that are made in one step: works on network file systems.
//   17.1          sample 17 is claimed; the file names the claimer. 17.2: taken over from one that died
//   17.done       it is in somebody's part
//   owner-3-TOKEN a claimer lives: touched every quarter of a lease. Times are those of the file system, so
//                 clocks of machines may differ
// A claimer that is slow and not dead may end a sample that was taken over: then two parts hold the same
// bytes.
class Claims {
 public:
  // Ends what earlier processes of this shard claimed: whoever makes this holds the lock of its part.
  Claims(std::filesystem::path folder, int shard, double lease_seconds);
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  // True: ours to run. False: done, or somebody alive has it.
  bool claim(std::size_t number);
  void done(std::size_t number);
  // Looks at the folder again.
  void refresh();
  bool is_done(std::size_t number);

  // A lease in seconds: BUOY_LEASE_SECONDS, or 60.
  static double lease_from_environment();
  // What a shard claims is free at once: for those who saw it die.
  static void release_shard(const std::filesystem::path& folder, int shard);

 private:
  struct Known {
    int generation = 0;
    bool done = false;
  };
  void beat();
  bool lives(const std::string& owner);
  void list();

  const std::filesystem::path folder_;
  const std::string owner_;
  const double lease_;
  std::mutex mutex_;
  std::map<std::size_t, Known> known_;
  std::mutex beating_;
  std::condition_variable stop_;
  bool stopped_ = false;
  std::thread beat_;
};

}  // namespace buoy::shard
