// Writes docs/verdicts.md.

#include <cstdio>

#include "buoy/claims/rules.h"

int main() {
  std::fputs(buoy::claims::describe_verdicts().c_str(), stdout);
}
