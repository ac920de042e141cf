#include <array>
#include <utility>

#include "rankward/topology/bandwidth.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::topology {

namespace {

constexpr std::array<std::pair<PathType, std::string_view>, 9> kPathNames{{
    {PathType::kSelf, "X"},
    {PathType::kNvLink, "NVL"},
    {PathType::kC2C, "C2C"},
    {PathType::kPix, "PIX"},
    {PathType::kPxb, "PXB"},
    {PathType::kPhb, "PHB"},
    {PathType::kNode, "NODE"},
    {PathType::kSys, "SYS"},
    {PathType::kUnknown, "?"},
}};

}  // namespace

std::string_view to_string(PathType path) {
  for (const auto& [value, name] : kPathNames) {
    if (value == path) return name;
  }
  return "?";
}

std::optional<PathType> path_type(std::string_view text) {
  for (const auto& [value, name] : kPathNames) {
    if (name == text) return value;
  }
  return std::nullopt;
}

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::kInfiniBand:
      return "InfiniBand";
    case Transport::kRoce:
      return "RoCE";
    case Transport::kEfa:
      return "EFA";
    case Transport::kTcpx:
      return "TCPX";
    case Transport::kSocket:
      return "Socket";
    case Transport::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace rankward::topology
