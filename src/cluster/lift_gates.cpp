#include "rankward/cluster/lift_gates.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "api_client.hpp"
#include "api_failure.hpp"
#include "api_writes.hpp"
#include "credentials.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/placement/gang.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::cluster {
namespace {

constexpr std::chrono::seconds kTimeout{30};
constexpr std::string_view kJsonPatch = "application/json-patch+json";

struct Found {
  kube::Pod pod;
  std::string gang;
  std::int32_t rank = 0;
};

Result<std::vector<Found>> list_pods(ApiClient& client, const std::string& path) {
  std::vector<Found> out;
  std::string token;
  do {
    auto target = path + "?limit=500";
    // A token of the API server is base64url, which needs no escape.
    if (!token.empty()) target += "&continue=" + token;
    const auto response = client.get(target, kTimeout);
    if (!response) return response.error();
    if (response->status != 200) return Error::unavailable(api_failure(*response).what);
    const auto meta =
        formats::read_list(response->body, [&](std::string_view json) -> Result<void> {
          auto pod = formats::read_pod(json);
          if (!pod) return pod.error();
          Found found{.pod = std::move(*pod)};
          // A pod whose annotations cannot be read is in no gang, but may be named itself.
          if (const auto gang = placement::gang_of(found.pod); gang && *gang) {
            found.gang = (*gang)->name;
            found.rank = (*gang)->rank.value_or(0);
          }
          out.push_back(std::move(found));
          return {};
        });
    if (!meta) return meta.error();
    token = meta->continue_token;
  } while (!token.empty());
  return out;
}

LiftedGate lift(ApiClient& client, const Found& found, bool dry_run) {
  LiftedGate out{.pod = found.pod.metadata.name, .gang = found.gang};
  const auto& gates = found.pod.spec.scheduling_gates;
  const auto ours = std::find(gates.begin(), gates.end(), placement::kGangGate);
  std::copy_if(gates.begin(), gates.end(), std::back_inserter(out.other_gates),
               [](const std::string& gate) { return gate != placement::kGangGate; });
  out.gated = ours != gates.end();
  if (!out.gated || dry_run) return out;
  const auto path = pod_path(found.pod.metadata.full_name());
  const auto outcome = outcome_of(client.send(
      "PATCH", path + "?fieldManager=" + std::string(formats::kFieldManager), kJsonPatch,
      formats::gate_patch(found.pod.metadata.uid, static_cast<std::size_t>(ours - gates.begin()),
                          placement::kGangGate),
      kTimeout));
  if (!outcome.done()) out.error = outcome.what;
  return out;
}

}  // namespace

Result<std::vector<LiftedGate>> lift_gates(const ApiServer& server, std::string_view name_space,
                                           const std::vector<std::string>& names, bool dry_run) {
  auto path = pod_path(std::string(name_space) + "/pods");
  if (path.empty()) return Error::invalid("must be the name of a namespace").at_field("namespace");
  path.resize(path.size() - std::string_view("/pods").size());
  CredentialSource credentials(server, machine_clock(), {});
  ApiClient client(server, credentials);
  auto pods = list_pods(client, path);
  if (!pods) return pods.error();
  std::vector<const Found*> chosen;
  for (const auto& name : names) {
    const auto before = chosen.size();
    for (const auto& found : *pods) {
      if (found.gang == name || found.pod.metadata.name == name) chosen.push_back(&found);
    }
    if (chosen.size() == before) {
      return Error(ErrorKind::kNotFound, "no pod and no gang of the namespace " +
                                             std::string(name_space) + " is named " + name);
    }
  }
  const auto order = [](const Found* found) {
    return std::tie(found->gang, found->rank, found->pod.metadata.name);
  };
  std::sort(chosen.begin(), chosen.end(),
            [&](const Found* a, const Found* b) { return order(a) < order(b); });
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  std::vector<LiftedGate> out;
  for (const auto* found : chosen)
    out.push_back(lift(client, *found, dry_run));
  return out;
}

}  // namespace rankward::cluster
