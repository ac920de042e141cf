#include <string>
#include <string_view>

#include "device_names.hpp"

namespace rankward::kube {
namespace {

void add(std::string& alternatives, std::string_view alternative) {
  if (!alternatives.empty()) alternatives += '|';
  alternatives += alternative;
}

// Names hold no other character that means something in a regular expression.
std::string literal(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '.') out += '\\';
    out += c == '*' ? std::string(".*") : std::string(1, c);
  }
  return out;
}

}  // namespace

NamePattern accelerator_pattern() {
  std::string whole;
  std::string parts;
  for (const DeviceName& device : kDeviceNames)
    add(device.kind == DeviceKind::kFraction ? parts : whole, literal(device.name));
  std::string modes;
  for (const std::string_view mode : kAmdPartitionModes)
    add(modes, mode);
  add(whole, "amd\\.com/(" + modes + ")_nps[1-9][0-9]*");
  add(whole, R"(gpu\.intel\.com/.+)");
  add(whole, R"(huawei\.com/Ascend[^-]+)");
  add(whole, R"(nvidia\.com/mig-[1-9][0-9]*(c\.[1-9][0-9]*)?g\.[1-9][0-9]*gb([.-][a-z]+)*)");
  add(parts, R"(huawei\.com/Ascend.*-.*)");
  // What is a part already is not shared out once more. `shared` is no attribute of a MIG profile.
  return {
      "^((" + whole + R"()(\.shared)?|)" + parts + R"(|deviceclass\.resource\.kubernetes\.io/.+)$)",
      "^((" + parts + R"()\.shared|gpu\.intel\.com/.*monitoring(\.shared)?|)" +
          R"((huawei\.com/Ascend|gpu\.intel\.com/)\.shared|)" +
          R"(nvidia\.com/mig-.*([.-]shared[.-].*|-shared))$)"};
}

}  // namespace rankward::kube
