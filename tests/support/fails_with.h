#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <initializer_list>
#include <string>
#include <typeinfo>

namespace buoy::testing {

// Whether `message` holds all `parts` in this order.
inline ::testing::AssertionResult holds_in_order(const std::string& message,
                                                 std::initializer_list<std::string> parts) {
  size_t at = 0;
  for (const auto& part : parts) {
    at = message.find(part, at);
    if (at == std::string::npos) {
      return ::testing::AssertionFailure() << '"' << part << "\" is not in its place in: " << message;
    }
    at += part.size();
  }
  return ::testing::AssertionSuccess() << message;
}

// True when `action` throws an E whose message holds all `parts` in this order: file, field, expected,
// found. Anything else, also another error, is a failure that says what happened.
template <typename E>
::testing::AssertionResult fails_with(const std::function<void()>& action,
                                      std::initializer_list<std::string> parts) {
  try {
    action();
  } catch (const E& error) {
    return holds_in_order(error.what(), parts);
  } catch (const std::exception& error) {
    return ::testing::AssertionFailure() << "another error, " << typeid(error).name() << ": " << error.what();
  }
  return ::testing::AssertionFailure() << "no error";
}

}  // namespace buoy::testing
