#pragma once

#include <cstdlib>

#include "buoy/base/utf8.h"
#include "buoy/questions/prompt/region.h"

namespace buoy::fuzz {

inline void expect(bool promise) {
  if (!promise) std::abort();
}

// What region.h promises of every prompt, whoever made it.
inline void check_prompt(const questions::RenderedPrompt& prompt) {
  expect(first_invalid_utf8(prompt.text) == prompt.text.size());
  std::size_t end = 0;
  for (const auto& region : prompt.regions) {
    expect(!region.name.empty() && end <= region.begin && region.begin < region.end);
    end = region.end;
  }
  expect(end <= prompt.text.size());
  end = 0;
  for (const auto& span : prompt.filled) {
    expect(end <= span.begin && span.begin < span.end);
    end = span.end;
  }
  expect(end <= prompt.text.size());
  for (const auto& place : prompt.evidence) {
    bool inside = false;
    for (const auto& region : prompt.regions) {
      inside |= region.name == place.name && region.begin <= place.begin && place.end <= region.end;
    }
    expect(inside && place.begin < place.end);
  }
}

}  // namespace buoy::fuzz
