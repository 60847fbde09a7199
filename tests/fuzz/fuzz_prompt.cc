#include <cstdint>
#include <string_view>

#include "buoy/base/error.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "fuzz/check_prompt.h"

// Any text as a prompt template, rendered for an item with passages and for one without. Only buoy::Error may
// come out; what is accepted gives well-formed text with regions in their order.

namespace {

using buoy::fuzz::expect;
using buoy::questions::Item;
using buoy::questions::PromptTemplate;

Item closed_book_item() {
  Item item;
  item.id = "one";
  item.question = "Where is the b\u00F6je?";
  item.answers = {"B\u00F6je", "a reef"};
  return item;
}

Item item_with_passages() {
  Item item = closed_book_item();
  item.passages = {{.title = "Reef", .text = "The b\u00F6je marks a  reef, a reef."},
                   {.text = ""},
                   {.title = "", .text = "B\u00D6JE", .gold = true}};
  return item;
}

void render(const PromptTemplate& prompt, const Item& item) {
  try {
    buoy::fuzz::check_prompt(prompt.render(item));
  } catch (const buoy::InputError&) {
    expect(item.passages.empty() && prompt.uses_passages());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Item with = item_with_passages(), without = closed_book_item();
  try {
    const auto prompt = PromptTemplate::parse({reinterpret_cast<const char*>(data), size}, "fuzzed");
    render(prompt, with);
    render(prompt, without);
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::Error&) {
  }
  return 0;
}
