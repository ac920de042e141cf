#include "rankward/cluster/kubeconfig.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "files.hpp"
#include "json_fields.hpp"
#include "rankward/formats/base64.hpp"
#include "rankward/formats/documents.hpp"
#include "server_url.hpp"

namespace rankward::cluster {
namespace {

constexpr std::size_t kMaxKubeconfigBytes = std::size_t{8} << 20;

// Relative paths count from the folder that the kubeconfig stands in.
std::string resolved(const std::filesystem::path& folder, const std::string& path) {
  return path.empty() ? path : (folder / path).lexically_normal().string();
}

// Reads one kubeconfig; every method leaves its first failure in `errors`.
class KubeconfigReader {
 public:
  explicit KubeconfigReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  Result<ApiServer> read(const boost::json::value& root, std::string_view wanted);

 private:
  using Fields = JsonFields;

  // The `inner` object of the entry with that name in one of the three lists.
  Result<Fields> named(const Fields& root, std::string_view list, std::string_view inner,
                       const std::string& name) const;
  void read_cluster(const Fields& cluster);
  void read_user(const Fields& user);
  void read_exec(const Fields& exec);
  void read_pem(const Fields& from, std::string_view data_key, std::string_view file_key,
                PemSource& out);
  void refuse(const Fields& from, std::string_view key, std::string_view why);

  std::filesystem::path folder_;
  ApiServer server_;
  FieldErrors errors_;
};

Result<JsonFields> KubeconfigReader::named(const Fields& root, std::string_view list,
                                           std::string_view inner, const std::string& name) const {
  const auto* entries = root.find(list);
  if (entries != nullptr && !entries->is_array()) {
    return Error::invalid("must be a list").at_field(root.at(list));
  }
  for (std::size_t i = 0; entries != nullptr && i < entries->get_array().size(); ++i) {
    const std::string path = root.at(list) + "[" + std::to_string(i) + "]";
    auto entry = Fields::of(entries->get_array()[i], path);
    if (!entry) return entry.error();
    auto entry_name = entry->string("name");
    if (!entry_name) return entry_name.error();
    if (*entry_name == name) return entry->object(inner);
  }
  return Error(ErrorKind::kNotFound, "has no entry with the name \"" + name + "\"")
      .at_field(root.at(list));
}

void KubeconfigReader::refuse(const Fields& from, std::string_view key, std::string_view why) {
  const auto* value = from.find(key);
  if (value == nullptr) return;
  const bool unset = (value->is_string() && value->get_string().empty()) ||
                     (value->is_bool() && !value->get_bool()) ||
                     (value->is_array() && value->get_array().empty()) ||
                     (value->is_object() && value->get_object().empty());
  if (!unset) errors_.add(Error::invalid(std::string(why)).at_field(from.at(key)));
}

void KubeconfigReader::read_pem(const Fields& from, std::string_view data_key,
                                std::string_view file_key, PemSource& out) {
  std::string data;
  errors_.take(data, from.string(data_key));
  errors_.take(out.file, from.string(file_key));
  out.file = resolved(folder_, out.file);
  if (data.empty()) return;
  auto pem = formats::base64_decode(data);
  if (!pem || pem->find("-----BEGIN ") == std::string::npos) {
    errors_.add(Error::invalid("must be PEM in base64").at_field(from.at(data_key)));
    return;
  }
  out = {std::move(*pem), ""};
}

void KubeconfigReader::read_cluster(const Fields& cluster) {
  refuse(cluster, "insecure-skip-tls-verify",
         "is refused: without the check anybody on the network could pose as the API server; give "
         "certificate-authority or certificate-authority-data");
  refuse(cluster, "proxy-url", "is not supported");
  std::string url;
  errors_.take(url, cluster.string("server"));
  errors_.take(server_.server_name, cluster.string("tls-server-name"));
  read_pem(cluster, "certificate-authority-data", "certificate-authority", server_.ca);
  if (errors_.error()) return;
  if (auto parsed = parse_server_url(url, server_); !parsed) {
    errors_.add(Error(parsed.error()).at_field(cluster.at("server")));
    return;
  }
  if (server_.tls && server_.ca.empty()) {
    errors_.add(Error::invalid("is missing (or certificate-authority): the system's own "
                               "authorities are not trusted for an API server")
                    .at_field(cluster.at("certificate-authority-data")));
  }
}

void KubeconfigReader::read_exec(const Fields& exec) {
  ExecPlugin plugin;
  errors_.take(plugin.api_version, exec.string("apiVersion"));
  errors_.take(plugin.command, exec.string("command"));
  errors_.take(plugin.install_hint, exec.string("installHint"));
  errors_.take(plugin.provide_cluster_info, exec.boolean("provideClusterInfo"));
  std::string interactive;
  errors_.take(interactive, exec.string("interactiveMode"));
  boost::json::array arguments;
  errors_.take(arguments, exec.array("args"));
  boost::json::array environment;
  errors_.take(environment, exec.array("env"));
  if (errors_.error()) return;

  const bool v1 = plugin.api_version == "client.authentication.k8s.io/v1";
  if (!v1 && plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    errors_.add(Error::invalid("must be client.authentication.k8s.io/v1 or /v1beta1")
                    .at_field(exec.at("apiVersion")));
  }
  if (plugin.command.empty()) {
    errors_.add(Error::invalid("is missing").at_field(exec.at("command")));
  }
  if (interactive == "Always") {
    errors_.add(Error::invalid("is Always: such a plugin needs a terminal, which a server lacks")
                    .at_field(exec.at("interactiveMode")));
  } else if (interactive != "Never" && interactive != "IfAvailable" &&
             !(interactive.empty() && !v1)) {
    errors_.add(
        Error::invalid("must be Never or IfAvailable").at_field(exec.at("interactiveMode")));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* text = arguments[i].if_string();
    if (text == nullptr) {
      errors_.add(Error::invalid("must be a string")
                      .at_field(exec.at("args") + "[" + std::to_string(i) + "]"));
      return;
    }
    plugin.arguments.emplace_back(*text);
  }
  for (std::size_t i = 0; i < environment.size(); ++i) {
    const std::string path = exec.at("env") + "[" + std::to_string(i) + "]";
    auto entry = Fields::of(environment[i], path);
    if (!entry) return errors_.add(entry.error());
    std::pair<std::string, std::string> variable;
    errors_.take(variable.first, entry->string("name"));
    errors_.take(variable.second, entry->string("value"));
    if (variable.first.empty() || variable.first.find('=') != std::string::npos) {
      errors_.add(Error::invalid("must be the name of a variable").at_field(path + ".name"));
    }
    plugin.environment.push_back(std::move(variable));
  }
  // As in client-go: a command with a slash that is not absolute counts from the kubeconfig.
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = resolved(folder_, plugin.command);
  }
  server_.exec = std::move(plugin);
}

void KubeconfigReader::read_user(const Fields& user) {
  constexpr std::string_view kImpersonation = "is not supported: this server acts as itself";
  for (const auto* key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    refuse(user, key, kImpersonation);
  }
  for (const auto* key : {"username", "password"}) {
    refuse(user, key, "is not supported: Kubernetes has had no basic authentication since 1.19");
  }
  refuse(user, "auth-provider", "is not supported: use exec, as Kubernetes does since 1.26");
  read_pem(user, "client-certificate-data", "client-certificate", server_.certificate);
  read_pem(user, "client-key-data", "client-key", server_.key);
  errors_.take(server_.token, user.string("token"));
  errors_.take(server_.token_file, user.string("tokenFile"));
  server_.token_file = resolved(folder_, server_.token_file);
  if (server_.certificate.empty() != server_.key.empty()) {
    const auto* missing = server_.key.empty() ? "client-key" : "client-certificate";
    errors_.add(
        Error::invalid("is missing: certificate and key go together").at_field(user.at(missing)));
  }
  if (user.find("exec") == nullptr || errors_.error()) return;
  auto exec = user.object("exec");
  if (!exec) return errors_.add(exec.error());
  read_exec(*exec);
}

Result<ApiServer> KubeconfigReader::read(const boost::json::value& root, std::string_view wanted) {
  auto top = Fields::of(root, "");
  if (!top) return top.error();
  std::string name(wanted);
  if (name.empty()) errors_.take(name, top->string("current-context"));
  if (errors_.error()) return *errors_.error();
  if (name.empty()) {
    return Error(ErrorKind::kNotFound, "is not set: name the context to use")
        .at_field("current-context");
  }
  auto context = named(*top, "contexts", "context", name);
  if (!context) return context.error();
  std::string cluster_name;
  std::string user_name;
  errors_.take(cluster_name, context->string("cluster"));
  errors_.take(user_name, context->string("user"));
  errors_.take(server_.namespace_, context->string("namespace"));
  if (errors_.error()) return *errors_.error();

  auto cluster = named(*top, "clusters", "cluster", cluster_name);
  if (!cluster) return cluster.error();
  read_cluster(*cluster);
  if (!user_name.empty()) {
    auto user = named(*top, "users", "user", user_name);
    if (!user) return user.error();
    read_user(*user);
  }
  if (errors_.error()) return *errors_.error();
  return std::move(server_);
}

// An absolute path, so that a later change of the working directory does no harm.
std::filesystem::path folder_of(const std::string& path) {
  std::error_code ignored;
  auto absolute = std::filesystem::absolute(path, ignored);
  return (ignored ? std::filesystem::path(path) : absolute).parent_path();
}

}  // namespace

Result<ApiServer> from_kubeconfig(const std::string& path, std::string_view context) {
  auto text = read_file(path, kMaxKubeconfigBytes);
  if (!text) return text.error();
  auto documents = formats::read_documents(*text, path);
  if (!documents) return documents.error();
  if (documents->size() != 1) {
    return Error::invalid("must be one document of kind Config").in(path);
  }
  const auto& document = documents->front();
  if ((!document.kind.empty() && document.kind != "Config") ||
      (!document.api_version.empty() && document.api_version != "v1")) {
    return Error::invalid("must be a kubeconfig: apiVersion v1, kind Config").in(path);
  }
  boost::system::error_code failure;
  const auto root = boost::json::parse(document.json, failure);
  if (failure) return Error::invalid("is nested too deeply for a kubeconfig").in(path);
  auto server = KubeconfigReader(folder_of(path)).read(root, context);
  if (server) return server;
  Error error = server.error();
  if (const auto line = document.line_of(error.field())) std::move(error).at_line(*line);
  // at_line() changes in place and moves nothing away.
  return std::move(error).in(path);  // NOLINT(bugprone-use-after-move)
}

}  // namespace rankward::cluster
