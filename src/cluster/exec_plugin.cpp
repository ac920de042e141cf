#include "exec_plugin.hpp"

#include <utility>

#include "files.hpp"
#include "json_fields.hpp"
#include "rankward/formats/base64.hpp"
#include "rankward/formats/json_writer.hpp"
#include "rfc3339.hpp"
#include "server_url.hpp"
#include "subprocess.hpp"

namespace rankward::cluster {
namespace {

constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20;

std::string pem_of(const PemSource& source) {
  if (!source.pem.empty() || source.file.empty()) return source.pem;
  auto text = read_file(source.file, kMaxPemBytes);
  return text ? *text : std::string();
}

}  // namespace

std::string exec_info(const ExecPlugin& plugin, const ApiServer& server) {
  std::string out;
  formats::JsonWriter json(out);
  json.begin_object();
  json.member("kind", "ExecCredential").member("apiVersion", plugin.api_version);
  json.key("spec").begin_object();
  if (plugin.provide_cluster_info) {
    json.key("cluster").begin_object();
    json.member("server", server_url(server));
    if (!server.server_name.empty()) json.member("tls-server-name", server.server_name);
    if (const auto pem = pem_of(server.ca); !pem.empty()) {
      json.member("certificate-authority-data", formats::base64_encode(pem));
    }
    json.end_object();
  }
  json.member("interactive", false);
  json.end_object().end_object();
  return out;
}

Result<Credential> read_exec_credential(std::string_view json, std::string_view api_version) {
  boost::system::error_code failure;
  const auto root = boost::json::parse(json, failure);
  if (failure) return Error::invalid("must print an ExecCredential in JSON");
  auto top = JsonFields::of(root, "");
  if (!top) return top.error();

  FieldErrors errors;
  std::string kind;
  std::string version;
  errors.take(kind, top->string("kind"));
  errors.take(version, top->string("apiVersion"));
  if (errors.error()) return *errors.error();
  if (kind != "ExecCredential") {
    return Error::invalid("must be ExecCredential").at_field("kind");
  }
  if (version != api_version) {
    return Error::invalid("must be " + std::string(api_version) + ", as the kubeconfig asks for")
        .at_field("apiVersion");
  }
  auto status = top->object("status");
  if (!status) return status.error();

  Credential credential;
  std::string expires;
  errors.take(credential.token, status->string("token"));
  errors.take(credential.certificate_pem, status->string("clientCertificateData"));
  errors.take(credential.key_pem, status->string("clientKeyData"));
  errors.take(expires, status->string("expirationTimestamp"));
  if (errors.error()) return *errors.error();
  if (credential.certificate_pem.empty() != credential.key_pem.empty()) {
    return Error::invalid("must have clientCertificateData and clientKeyData, or neither")
        .at_field("status");
  }
  if (credential.token.empty() && credential.certificate_pem.empty()) {
    return Error::invalid("must have a token or a client certificate").at_field("status");
  }
  if (!expires.empty()) {
    credential.expires = parse_rfc3339(expires);
    if (!credential.expires) {
      return Error::invalid("must be a time such as 2026-01-31T12:00:00Z")
          .at_field("status.expirationTimestamp");
    }
  }
  return credential;
}

Result<Credential> run_exec_plugin(const ApiServer& server, std::stop_token stop) {
  const auto& plugin = *server.exec;
  Program program;
  program.command = plugin.command;
  program.arguments = plugin.arguments;
  program.environment = plugin.environment;
  program.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, server));
  auto output = run_program(program, std::move(stop));
  if (!output) {
    Error error = output.error();
    if (error.kind() != ErrorKind::kNotFound || plugin.install_hint.empty()) return error;
    return Error(error.kind(), error.message() + "; " + plugin.install_hint);
  }
  auto credential = read_exec_credential(*output, plugin.api_version);
  if (!credential) return Error(credential.error()).in("output of `" + plugin.command + "`");
  return credential;
}

}  // namespace rankward::cluster
