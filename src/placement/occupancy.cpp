#include "checks.hpp"

namespace rankward::placement {

bool too_few_devices_are_free(const Question& question) {
  return question.node.free(question.device.resource).value_or(0) < question.device.count;
}

}  // namespace rankward::placement
