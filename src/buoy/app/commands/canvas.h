#pragma once

#include <optional>

#include "buoy/decode/step_machine.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::app {

// The row filling in, redrawn in place after every step: masks as dots, what the last step revealed in
// bold, the rest plain. Draws only on a terminal.
class Canvas {
 public:
  Canvas(std::optional<text::Tokenizer> tokenizer, std::optional<std::int32_t> mask_token);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  static bool possible();  // is there a terminal to draw on
  void draw(const decode::StepMachine& machine, const decode::StepRecord& record);

 private:
  std::string cell(std::int32_t token) const;

  std::optional<text::Tokenizer> tokenizer_;
  std::optional<std::int32_t> mask_token_;
  int lines_ = 0;  // drawn last time
};

}  // namespace buoy::app
