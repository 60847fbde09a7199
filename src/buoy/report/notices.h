#pragma once

#include <string>
#include <vector>

namespace buoy::report {

// What a reader must know before the figures: shown at the top of the page, one paragraph each. Anything
// said of a trace or a run (changed, unverified, left out) is added here.
class Notices {
 public:
  void add(std::string text);                                   // of the whole page; the same text once
  void add(const std::string& about, const std::string& text);  // of a trace or a run: "ABOUT: TEXT"
  // A part of the page lacks something. Parts that lack the same for the same reason share a notice:
  // "Temporal drift and Absorption are left out for ABOUT: REASON". Without `about` it is lacking altogether.
  void leave_out(const std::string& part, const std::string& about, const std::string& reason);

  std::vector<std::string> lines() const;

 private:
  struct Entry {
    std::string text;                // of add()
    std::vector<std::string> parts;  // of leave_out()
    std::string about, reason;
  };
  std::vector<Entry> entries_;  // in the order they came
};

}  // namespace buoy::report
