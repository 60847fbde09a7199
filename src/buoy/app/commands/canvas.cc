#include "buoy/app/commands/canvas.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "buoy/base/interrupt.h"

namespace buoy::app {
namespace {

constexpr const char* kBold = "\033[1;36m";
constexpr const char* kFaint = "\033[2m";
constexpr const char* kPlain = "\033[0m";

struct TerminalSize {
  int columns, rows;
};

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {80, 24};
  return {size.ws_col, size.ws_row};
}

int code_points(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Canvas::Canvas(std::optional<text::Tokenizer> tokenizer, std::optional<std::int32_t> mask_token)
    : tokenizer_(std::move(tokenizer)), mask_token_(mask_token) {
  restore_when_interrupted("\033[?25h\n");
  std::fputs("\033[?25l", stderr);
}

Canvas::~Canvas() {
  std::fputs("\033[?25h\n", stderr);
  restore_when_interrupted("");
}

bool Canvas::possible() {
  return ::isatty(STDERR_FILENO) == 1;
}

// Control characters would move the cursor; newlines show as a sign.
std::string Canvas::cell(std::int32_t token) const {
  if (token == mask_token_) return "·";
  if (!tokenizer_) return fmt::format("{} ", token);
  std::string shown;
  for (const char c : tokenizer_->token_text(token)) {
    if (c == '\n') {
      shown += "⏎";
    } else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
      shown += c;
    }
  }
  return shown;
}

void Canvas::draw(const decode::StepMachine& machine, const decode::StepRecord& record) {
  const auto [columns, rows] = terminal_size();
  std::string picture = lines_ > 1 ? fmt::format("\033[{}A", lines_ - 1) : "";
  picture += fmt::format("\r\033[J{}step {} of {}{}\n", kFaint, record.step + 1, record.steps, kPlain);
  int column = 0, lines = 2;
  for (size_t p = static_cast<size_t>(machine.prompt_length()); p < machine.row().size(); ++p) {
    const std::string text = cell(machine.row()[p]);
    const int width = code_points(text);
    if (column + width > columns - 1 && column > 0) {
      if (lines + 1 >= rows) {  // the terminal is full: what is left stays out of sight
        picture += "…";
        break;
      }
      picture += '\n';
      ++lines;
      column = 0;
    }
    const bool fresh = machine.revealed_at()[p] == record.step;
    const bool masked = machine.row()[p] == mask_token_;
    picture += fmt::format("{}{}{}", fresh ? kBold : masked ? kFaint : "", text, kPlain);
    column += width;
  }
  lines_ = lines;
  std::fputs(picture.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace buoy::app
