#include "admission_section.hpp"

#include <chrono>
#include <cstdio>
#include <optional>

namespace rankward::formats {
namespace {

using admission::UnixSeconds;

// A date as RFC 3339 writes it: 2027-01-31 (the start of that day, UTC) or 2027-01-31T12:00:00Z.
std::optional<UnixSeconds> read_date(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int used = 0;
  const bool date = std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &used) == 3;
  if (!date || used != 10) return std::nullopt;
  if (text.size() != 10) {
    int rest = 0;
    const bool time =
        std::sscanf(text.c_str() + used, "T%2d:%2d:%2dZ%n", &hour, &minute, &second, &rest) == 3;
    if (!time || static_cast<std::size_t>(used + rest) != text.size() || rest != 10) {
      return std::nullopt;
    }
  }
  using namespace std::chrono;
  const year_month_day calendar{std::chrono::year(year), std::chrono::month(month),
                                std::chrono::day(day)};
  if (!calendar.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return sys_days(calendar).time_since_epoch() / seconds(1) + hour * 3600 + minute * 60 + second;
}

std::string print_date(UnixSeconds when) {
  using namespace std::chrono;
  const sys_seconds point{seconds(when)};
  const auto day = floor<days>(point);
  const year_month_day calendar(day);
  const hh_mm_ss clock(point - day);
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02dZ", int(calendar.year()),
                unsigned(calendar.month()), unsigned(calendar.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return buffer;
}

void read_exemption(YamlSection& item, admission::PolicyOptions& options) {
  admission::ExemptionOption exemption;
  item.read("namespaces", exemption.namespaces);
  item.read("serviceAccounts", exemption.service_accounts);
  item.read("ownerKinds", exemption.owner_kinds);
  item.read("rules", exemption.rules);
  item.read("reason", exemption.reason);
  std::string expires;
  item.read("expires", expires);
  if (!expires.empty()) {
    exemption.expires = read_date(expires);
    if (!exemption.expires) {
      item.reader().fail(item.at("expires"), item.path_of("expires"),
                         "must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z");
    }
  }
  options.exemptions.push_back(std::move(exemption));
}

void read_presets(YamlSection& section, admission::PolicyOptions& options) {
  const YAML::Node list = section.at("presets");
  if (!list.IsDefined() || section.reader().failed()) return;
  if (!list.IsSequence()) {
    return section.reader().fail(list, section.path_of("presets"),
                                 "must be a list of names, or of {name, namespaces}");
  }
  options.presets.clear();
  for (std::size_t i = 0; i < list.size() && !section.reader().failed(); ++i) {
    if (list[i].IsScalar()) {
      options.presets.push_back({list[i].Scalar(), {}});
      continue;
    }
    YamlSection item(section.reader(), list[i],
                     section.path_of("presets") + "[" + std::to_string(i) + "]",
                     {"name", "namespaces"});
    admission::PresetOption preset;
    item.read("name", preset.name);
    item.read("namespaces", preset.namespaces);
    options.presets.push_back(std::move(preset));
  }
}

void read_vendor(YamlSection& item, admission::PolicyOptions& options) {
  admission::VendorOption vendor;
  item.read("name", vendor.name);
  item.read("resources", vendor.resources);
  item.read("devicePaths", vendor.device_paths);
  item.read("envNames", vendor.env_names);
  item.read("annotations", vendor.annotations);
  options.vendors.push_back(std::move(vendor));
}

void read_fabric_tests(YamlSection& section, admission::FabricTestOptions& options) {
  constexpr std::int64_t kYear = std::int64_t{366} * 24 * 3600;
  constexpr std::int64_t kMostNodes = 1'000'000;
  section.read_integer("maxSeconds", 0, kYear, options.max_seconds);
  section.read("maxMessageSize", options.max_message_size);
  section.read_integer("minNodes", 0, kMostNodes, options.min_nodes);
  section.read_integer("maxNodes", 0, kMostNodes, options.max_nodes);
  section.read("queues", options.queues);
  section.read("productionQueues", options.production_queues);
}

void emit_list(YAML::Emitter& out, const char* key, const std::vector<std::string>& values) {
  out << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const std::string& value : values)
    out << YAML::DoubleQuoted << value;
  out << YAML::EndSeq;
}

void print_vendors(YAML::Emitter& out, const std::vector<admission::VendorOption>& vendors) {
  out << YAML::Key << "vendors" << YAML::Value << YAML::BeginSeq;
  for (const admission::VendorOption& vendor : vendors) {
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << YAML::DoubleQuoted
        << vendor.name;
    emit_list(out, "resources", vendor.resources);
    emit_list(out, "devicePaths", vendor.device_paths);
    emit_list(out, "envNames", vendor.env_names);
    emit_list(out, "annotations", vendor.annotations);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq;
}

void print_fabric_tests(YAML::Emitter& out, const admission::FabricTestOptions& options) {
  out << YAML::Key << "fabricTests" << YAML::Value << YAML::BeginMap;
  out << YAML::Key << "maxSeconds" << YAML::Value << options.max_seconds;
  out << YAML::Key << "maxMessageSize" << YAML::Value << YAML::DoubleQuoted
      << options.max_message_size;
  out << YAML::Key << "minNodes" << YAML::Value << options.min_nodes;
  out << YAML::Key << "maxNodes" << YAML::Value << options.max_nodes;
  emit_list(out, "queues", options.queues);
  emit_list(out, "productionQueues", options.production_queues);
  out << YAML::EndMap;
}

}  // namespace

const std::vector<std::string_view>& admission_keys() {
  static const std::vector<std::string_view> keys = {"modes",
                                                     "namespaceModes",
                                                     "exemptions",
                                                     "presets",
                                                     "excludedNamespaces",
                                                     "runtimeClasses",
                                                     "envNames",
                                                     "gpuNodeLabels",
                                                     "gpuTolerationKeys",
                                                     "workloads",
                                                     "vendors",
                                                     "allowedHostPaths",
                                                     "isolatedNamespaces",
                                                     "fabricTests",
                                                     "administrators",
                                                     "administratorGroups"};
  return keys;
}

void read_admission(YamlSection& section, admission::PolicyOptions& options) {
  section.read_map("modes",
                   [&](const std::string& rule, const YAML::Node& mode, const std::string& path) {
                     if (!mode.IsScalar())
                       return section.reader().fail(mode, path, "must be a mode");
                     options.modes.push_back({rule, mode.Scalar(), {}});
                   });
  section.sections("namespaceModes", {"rule", "mode", "namespaces"}, [&](YamlSection& item) {
    admission::ModeOption mode;
    item.read("rule", mode.rule);
    item.read("mode", mode.mode);
    item.read("namespaces", mode.namespaces);
    if (mode.namespaces.empty()) {
      item.reader().fail(item.at("rule"), item.path_of("namespaces"),
                         "must name at least one namespace; a mode for all stands under modes");
    }
    options.modes.push_back(std::move(mode));
  });
  section.sections("exemptions",
                   {"namespaces", "serviceAccounts", "ownerKinds", "rules", "reason", "expires"},
                   [&](YamlSection& item) { read_exemption(item, options); });
  read_presets(section, options);
  section.read("excludedNamespaces", options.excluded_namespaces);
  section.read("runtimeClasses", options.runtime_classes);
  section.read("envNames", options.env_names);
  section.read("gpuNodeLabels", options.gpu_node_labels);
  section.read("gpuTolerationKeys", options.gpu_toleration_keys);
  section.read("workloads", options.workloads);
  section.sections("vendors", {"name", "resources", "devicePaths", "envNames", "annotations"},
                   [&](YamlSection& item) { read_vendor(item, options); });
  if (section.at("allowedHostPaths").IsDefined())
    section.read("allowedHostPaths", options.allowed_host_paths.emplace());
  section.read("isolatedNamespaces", options.isolated_namespaces);
  section.section(
      "fabricTests",
      {"maxSeconds", "maxMessageSize", "minNodes", "maxNodes", "queues", "productionQueues"},
      [&](YamlSection& tests) { read_fabric_tests(tests, options.fabric_tests); });
  section.read("administrators", options.administrators);
  section.read("administratorGroups", options.administrator_groups);
}

void print_admission(YAML::Emitter& out, const admission::PolicyOptions& options) {
  out << YAML::Key << "modes" << YAML::Value << YAML::BeginMap;
  for (const admission::ModeOption& mode : options.modes) {
    if (mode.namespaces.empty()) out << YAML::Key << mode.rule << YAML::Value << mode.mode;
  }
  out << YAML::EndMap << YAML::Key << "namespaceModes" << YAML::Value << YAML::BeginSeq;
  for (const admission::ModeOption& mode : options.modes) {
    if (mode.namespaces.empty()) continue;
    out << YAML::BeginMap << YAML::Key << "rule" << YAML::Value << mode.rule << YAML::Key << "mode"
        << YAML::Value << mode.mode;
    emit_list(out, "namespaces", mode.namespaces);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::Key << "exemptions" << YAML::Value << YAML::BeginSeq;
  for (const admission::ExemptionOption& exemption : options.exemptions) {
    out << YAML::BeginMap;
    emit_list(out, "namespaces", exemption.namespaces);
    emit_list(out, "serviceAccounts", exemption.service_accounts);
    emit_list(out, "ownerKinds", exemption.owner_kinds);
    emit_list(out, "rules", exemption.rules);
    out << YAML::Key << "reason" << YAML::Value << YAML::DoubleQuoted << exemption.reason;
    if (exemption.expires) {
      out << YAML::Key << "expires" << YAML::Value << YAML::DoubleQuoted
          << print_date(*exemption.expires);
    }
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::Key << "presets" << YAML::Value << YAML::BeginSeq;
  for (const admission::PresetOption& preset : options.presets) {
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << YAML::DoubleQuoted
        << preset.name;
    if (!preset.namespaces.empty()) emit_list(out, "namespaces", preset.namespaces);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq;
  emit_list(out, "excludedNamespaces", options.excluded_namespaces);
  emit_list(out, "runtimeClasses", options.runtime_classes);
  emit_list(out, "envNames", options.env_names);
  emit_list(out, "gpuNodeLabels", options.gpu_node_labels);
  emit_list(out, "gpuTolerationKeys", options.gpu_toleration_keys);
  out << YAML::Key << "workloads" << YAML::Value << options.workloads;
  print_vendors(out, options.vendors);
  if (options.allowed_host_paths) emit_list(out, "allowedHostPaths", *options.allowed_host_paths);
  emit_list(out, "isolatedNamespaces", options.isolated_namespaces);
  print_fabric_tests(out, options.fabric_tests);
  emit_list(out, "administrators", options.administrators);
  emit_list(out, "administratorGroups", options.administrator_groups);
}

}  // namespace rankward::formats
