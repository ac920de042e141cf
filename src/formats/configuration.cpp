#include "rankward/formats/configuration.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "admission_section.hpp"
#include "rankward/kube/quantity.hpp"
#include "yaml_section.hpp"

namespace rankward::formats {
namespace {

constexpr std::string_view kApiVersion = "config.rankward.io/v1alpha1";
constexpr std::string_view kKind = "RankwardConfiguration";
constexpr std::size_t kMaxConfigurationBytes = std::size_t{1} << 20;

void read_tls_files(YamlSection& section, TlsFiles& files) {
  section.read("certFile", files.cert_file);
  section.read("keyFile", files.key_file);
  section.read("clientCAFile", files.client_ca_file);
  section.read("requireClientCertificate", files.require_client_certificate);
}

void read_port(YamlSection& section, std::string_view key, std::uint16_t& port) {
  std::int64_t value = port;
  section.read_integer(key, 0, 65'535, value);
  port = static_cast<std::uint16_t>(value);
}

// An amount of bytes as Kubernetes writes amounts: 256Mi, 1Gi, 8000000.
void read_bytes(YamlSection& section, std::string_view key, std::int64_t& out) {
  std::string text;
  section.read(key, text);
  if (text.empty() || section.reader().failed()) return;
  const auto quantity = kube::Quantity::parse(text);
  if (!quantity || quantity->sign() <= 0 || quantity->value_overflows()) {
    section.reader().fail(
        section.at(key), section.path_of(key),
        "must be a positive amount of bytes such as 256Mi or 1Gi, not \"" + text + "\"");
    return;
  }
  out = quantity->value();
}

// Numbers with units, as Go and Kubernetes write durations: 60s, 1m30s, 500ms. Nothing where it is
// none, or longer than an hour.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::int64_t kMost = 3'600'000;
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}};
  std::int64_t sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::uint32_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                    [&](const auto& each) { return text.starts_with(each.first); });
    if (unit == std::end(kUnits) || number > kMost) return std::nullopt;
    text.remove_prefix(unit->first.size());
    sum += number * unit->second;
    if (sum > kMost) return std::nullopt;
  }
  return std::chrono::milliseconds(sum);
}

void read_duration(YamlSection& section, std::string_view key, std::chrono::milliseconds& out) {
  if (!section.at(key).IsDefined()) return;
  std::string text;
  section.read(key, text);
  if (section.reader().failed()) return;
  const auto duration = parse_duration(text);
  if (!duration) {
    section.reader().fail(
        section.at(key), section.path_of(key),
        "must be a duration of at most one hour such as 60s or 1m30s, not \"" + text + "\"");
    return;
  }
  out = *duration;
}

std::string print_duration(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + "s" : std::to_string(count) + "ms";
}

void read_doors(YamlSection& root, Configuration& configuration) {
  if (!root.at("doors").IsDefined()) return;
  std::vector<std::string> doors;
  root.read("doors", doors);
  configuration.extender_door = configuration.webhook_door = false;
  for (const std::string& door : doors) {
    if (door == "extender") {
      configuration.extender_door = true;
    } else if (door == "webhook") {
      configuration.webhook_door = true;
    } else {
      root.reader().fail(root.at("doors"), "doors",
                         "\"" + door + "\" is no door; known: extender, webhook");
    }
  }
}

void read_phi(YamlSection& root, std::vector<double>& phi) {
  std::vector<std::string> texts;
  if (!root.at("phi").IsDefined()) return;
  root.read("phi", texts);
  std::vector<double> factors;
  for (const std::string& text : texts) {
    double factor = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, factor);
    if (error != std::errc() || end != last || !(factor > 0 && factor <= 1)) {
      return root.reader().fail(root.at("phi"), "phi",
                                "must be factors above 0 and at most 1, one a tier, nearest first");
    }
    factors.push_back(factor);
  }
  if (factors.empty()) {
    return root.reader().fail(root.at("phi"), "phi", "must name at least one factor");
  }
  phi = std::move(factors);
}

void read_fabric_labels(YamlSection& section, topology::LabelOptions& labels) {
  section.read("cliqueKey", labels.clique_key);
  section.read("placeholders", labels.placeholders);
  std::vector<topology::FabricScheme> schemes;
  section.sections("schemes", {"name", "tiers"}, [&](YamlSection& item) {
    topology::FabricScheme scheme;
    item.read("name", scheme.name);
    item.read("tiers", scheme.tiers);
    if (scheme.name.empty() || scheme.tiers.empty()) {
      item.reader().fail(item.at("name"), item.path_of("tiers"),
                         "a scheme needs a name and at least one label key, nearest tier first");
    }
    schemes.push_back(std::move(scheme));
  });
  // A site's own schemes are tried first; the known ones stay.
  schemes.insert(schemes.end(), labels.fabric_schemes.begin(), labels.fabric_schemes.end());
  labels.fabric_schemes = std::move(schemes);
}

// What the webhook does beside the rules' own options.
std::vector<std::string_view> webhook_keys() {
  std::vector<std::string_view> keys = admission_keys();
  keys.insert(keys.end(), {"watch", "mutate"});
  return keys;
}

void read_webhook(YamlSection& section, Configuration& configuration) {
  section.read("watch", configuration.admission_watch);
  for (const std::string& resource : configuration.admission_watch) {
    if (resource != "persistentvolumes" && resource != "namespaces" && resource != "nodes") {
      section.reader().fail(
          section.at("watch"), section.path_of("watch"),
          "\"" + resource + "\" cannot be watched; known: persistentvolumes, namespaces, nodes");
    }
  }
  section.read("mutate", configuration.mutate);
}

void read_log(YamlSection& section, Configuration& configuration) {
  std::int64_t verbosity = configuration.log_verbosity;
  section.read_integer("verbosity", 0, 10, verbosity);
  configuration.log_verbosity = static_cast<int>(verbosity);
  std::size_t format = static_cast<std::size_t>(configuration.log_format);
  section.read_choice("format", {"auto", "json", "text"}, format);
  configuration.log_format = static_cast<LogFormatChoice>(format);
}

void check_head(YamlSection& root) {
  for (const auto& [key, want] : {std::pair{"apiVersion", kApiVersion}, std::pair{"kind", kKind}}) {
    std::string value;
    root.read(key, value);
    if (value != want) {
      root.reader().fail(root.at(key), key, "must be " + std::string(want));
    }
  }
}

void read_root(YamlSection& root, Configuration& configuration) {
  check_head(root);
  read_doors(root, configuration);
  root.section("tls", {"extender", "webhook", "minVersion"}, [&](YamlSection& tls) {
    const std::vector<std::string_view> keys = {std::string_view("certFile"),
                                                std::string_view("keyFile"),
                                                std::string_view("clientCAFile")};
    tls.section("extender", keys,
                [&](YamlSection& door) { read_tls_files(door, configuration.extender_tls); });
    tls.section("webhook", {"certFile", "keyFile", "clientCAFile", "requireClientCertificate"},
                [&](YamlSection& door) { read_tls_files(door, configuration.webhook_tls); });
    std::size_t version = configuration.allow_tls12 ? 1 : 0;
    tls.read_choice("minVersion", {"1.3", "1.2"}, version);
    configuration.allow_tls12 = version == 1;
  });
  root.section("ports", {"address", "statusAddress", "extender", "webhook", "status"},
               [&](YamlSection& ports) {
                 ports.read("address", configuration.ports.address);
                 ports.read("statusAddress", configuration.ports.status_address);
                 read_port(ports, "extender", configuration.ports.extender);
                 read_port(ports, "webhook", configuration.ports.webhook);
                 read_port(ports, "status", configuration.ports.status);
               });
  root.read("clientNames", configuration.client_names);
  root.read("managedResources", configuration.managed_resources);
  root.read("schedulerNames", configuration.scheduler_names);
  configuration.admission.served_schedulers = configuration.scheduler_names;
  root.read("kubeconfig", configuration.kubeconfig);
  root.read("inventory", configuration.inventory);
  root.section("fabricLabels", {"schemes", "cliqueKey", "placeholders"},
               [&](YamlSection& labels) { read_fabric_labels(labels, configuration.labels); });
  std::size_t unknown = static_cast<std::size_t>(configuration.placement.unknown_topology);
  root.read_choice("unknownTopology", {"allow", "penalise", "reject"}, unknown);
  configuration.placement.unknown_topology = static_cast<placement::UnknownTopology>(unknown);
  read_phi(root, configuration.placement.phi);
  read_bytes(root, "messageSize", configuration.request.message_size.count);
  auto candidates = static_cast<std::int64_t>(configuration.placement.max_candidates);
  root.read_integer("maxCandidates", 1, 100'000, candidates);
  configuration.placement.max_candidates = static_cast<std::size_t>(candidates);
  auto body = static_cast<std::int64_t>(configuration.max_body_bytes);
  read_bytes(root, "maxBodyBytes", body);
  configuration.max_body_bytes = static_cast<std::size_t>(body);
  root.read("alwaysListReasons", configuration.always_list_reasons);
  root.read("nominate", configuration.nominate);
  read_duration(root, "gateMaxHold", configuration.gate_max_hold);
  root.section("admission", webhook_keys(), [&](YamlSection& section) {
    read_admission(section, configuration.admission);
    read_webhook(section, configuration);
  });
  root.section("log", {"verbosity", "format"},
               [&](YamlSection& log) { read_log(log, configuration); });
}

void emit_list(YAML::Emitter& out, std::string_view key, const std::vector<std::string>& values) {
  out << YAML::Key << std::string(key) << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const std::string& value : values)
    out << YAML::DoubleQuoted << value;
  out << YAML::EndSeq;
}

template <class T>
void emit(YAML::Emitter& out, std::string_view key, const T& value) {
  out << YAML::Key << std::string(key) << YAML::Value << value;
}

void emit_text(YAML::Emitter& out, std::string_view key, std::string_view value) {
  out << YAML::Key << std::string(key) << YAML::Value << YAML::DoubleQuoted << std::string(value);
}

void emit_tls(YAML::Emitter& out, std::string_view door, const TlsFiles& files, bool webhook) {
  out << YAML::Key << std::string(door) << YAML::Value << YAML::BeginMap;
  emit_text(out, "certFile", files.cert_file);
  emit_text(out, "keyFile", files.key_file);
  emit_text(out, "clientCAFile", files.client_ca_file);
  if (webhook) emit(out, "requireClientCertificate", files.require_client_certificate);
  out << YAML::EndMap;
}

}  // namespace

Result<Configuration> read_configuration(std::string_view text, std::string_view source) {
  if (text.size() > kMaxConfigurationBytes) {
    return Error(ErrorKind::kTooLarge, "is larger than 1 MiB").in(std::string(source));
  }
  YamlReader reader{std::string(source)};
  Configuration configuration;
  try {
    const YAML::Node node = YAML::Load(std::string(text));
    YamlSection root(reader, node, "",
                     {"apiVersion",
                      "kind",
                      "doors",
                      "tls",
                      "ports",
                      "clientNames",
                      "managedResources",
                      "schedulerNames",
                      "kubeconfig",
                      "inventory",
                      "fabricLabels",
                      "unknownTopology",
                      "phi",
                      "messageSize",
                      "maxCandidates",
                      "maxBodyBytes",
                      "alwaysListReasons",
                      "nominate",
                      "gateMaxHold",
                      "admission",
                      "log"});
    if (!reader.failed()) read_root(root, configuration);
  } catch (const YAML::Exception& exception) {
    return Error::invalid("is not YAML: " + exception.msg)
        .at_line(static_cast<std::size_t>(exception.mark.line) + 1)
        .in(std::string(source));
  }
  if (reader.failed()) return reader.error();
  return configuration;
}

std::string print_configuration(const Configuration& configuration) {
  YAML::Emitter out;
  out.SetDoublePrecision(6);  // 0.9 and not 0.90000000000000002
  out << YAML::BeginMap;
  emit(out, "apiVersion", std::string(kApiVersion));
  emit(out, "kind", std::string(kKind));
  std::vector<std::string> doors;
  if (configuration.extender_door) doors.emplace_back("extender");
  if (configuration.webhook_door) doors.emplace_back("webhook");
  emit_list(out, "doors", doors);
  out << YAML::Key << "tls" << YAML::Value << YAML::BeginMap;
  emit_tls(out, "extender", configuration.extender_tls, false);
  emit_tls(out, "webhook", configuration.webhook_tls, true);
  emit_text(out, "minVersion", configuration.allow_tls12 ? "1.2" : "1.3");
  out << YAML::EndMap;
  out << YAML::Key << "ports" << YAML::Value << YAML::BeginMap;
  emit_text(out, "address", configuration.ports.address);
  emit_text(out, "statusAddress", configuration.ports.status_address);
  emit(out, "extender", configuration.ports.extender);
  emit(out, "webhook", configuration.ports.webhook);
  emit(out, "status", configuration.ports.status);
  out << YAML::EndMap;
  emit_list(out, "clientNames", configuration.client_names);
  emit_list(out, "managedResources", configuration.managed_resources);
  emit_list(out, "schedulerNames", configuration.scheduler_names);
  emit_text(out, "kubeconfig", configuration.kubeconfig);
  emit_text(out, "inventory", configuration.inventory);
  out << YAML::Key << "fabricLabels" << YAML::Value << YAML::BeginMap;
  emit_text(out, "cliqueKey", configuration.labels.clique_key);
  emit_list(out, "placeholders", configuration.labels.placeholders);
  // Only a site's own schemes: the known ones are added again when this is read.
  const std::size_t known = topology::LabelOptions::default_fabric_schemes().size();
  out << YAML::Key << "schemes" << YAML::Value << YAML::BeginSeq;
  for (std::size_t i = 0; i + known < configuration.labels.fabric_schemes.size(); ++i) {
    const topology::FabricScheme& scheme = configuration.labels.fabric_schemes[i];
    out << YAML::BeginMap;
    emit_text(out, "name", scheme.name);
    emit_list(out, "tiers", scheme.tiers);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  constexpr std::string_view kUnknown[] = {"allow", "penalise", "reject"};
  emit_text(out, "unknownTopology",
            kUnknown[static_cast<std::size_t>(configuration.placement.unknown_topology)]);
  out << YAML::Key << "phi" << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const double factor : configuration.placement.phi)
    out << factor;
  out << YAML::EndSeq;
  emit(out, "messageSize", configuration.request.message_size.count);
  emit(out, "maxCandidates", configuration.placement.max_candidates);
  emit(out, "maxBodyBytes", configuration.max_body_bytes);
  emit(out, "alwaysListReasons", configuration.always_list_reasons);
  emit(out, "nominate", configuration.nominate);
  emit_text(out, "gateMaxHold", print_duration(configuration.gate_max_hold));
  out << YAML::Key << "admission" << YAML::Value << YAML::BeginMap;
  print_admission(out, configuration.admission);
  emit_list(out, "watch", configuration.admission_watch);
  emit(out, "mutate", configuration.mutate);
  out << YAML::EndMap;
  constexpr std::string_view kFormats[] = {"auto", "json", "text"};
  out << YAML::Key << "log" << YAML::Value << YAML::BeginMap;
  emit(out, "verbosity", configuration.log_verbosity);
  emit_text(out, "format", kFormats[static_cast<std::size_t>(configuration.log_format)]);
  out << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

Result<void> check_complete(const Configuration& configuration) {
  const auto need = [](const std::string& value, std::string_view field,
                       std::string_view why) -> Result<void> {
    if (!value.empty()) return {};
    return Error::invalid("is needed: " + std::string(why)).at_field(std::string(field));
  };
  if (!configuration.extender_door && !configuration.webhook_door) {
    return Error::invalid("must name at least one of extender, webhook").at_field("doors");
  }
  if (configuration.extender_door) {
    const TlsFiles& tls = configuration.extender_tls;
    constexpr std::string_view kWhy = "the extender answers over mutual TLS only";
    if (auto ok = need(tls.cert_file, "tls.extender.certFile", kWhy); !ok) return ok;
    if (auto ok = need(tls.key_file, "tls.extender.keyFile", kWhy); !ok) return ok;
    if (auto ok = need(tls.client_ca_file, "tls.extender.clientCAFile", kWhy); !ok) return ok;
  }
  if (configuration.webhook_door) {
    const TlsFiles& tls = configuration.webhook_tls;
    constexpr std::string_view kWhy = "kube-apiserver calls webhooks over TLS only";
    if (auto ok = need(tls.cert_file, "tls.webhook.certFile", kWhy); !ok) return ok;
    if (auto ok = need(tls.key_file, "tls.webhook.keyFile", kWhy); !ok) return ok;
    if (tls.require_client_certificate) {
      if (auto ok = need(tls.client_ca_file, "tls.webhook.clientCAFile",
                         "requireClientCertificate is true");
          !ok) {
        return ok;
      }
    }
  }
  if (!configuration.kubeconfig.empty() && !configuration.inventory.empty()) {
    return Error::invalid("cannot stand beside kubeconfig: there is one source of state")
        .at_field("inventory");
  }
  return {};
}

}  // namespace rankward::formats
