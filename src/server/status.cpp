#include "status.hpp"

#include <utility>

#include "rankward/formats/json_writer.hpp"
#include "rankward/server/application.hpp"

namespace rankward::server {
namespace {

bool wants_verbose(std::string_view query) {
  return query == "verbose" || query.find("verbose&") == 0 ||
         query.find("&verbose") != std::string_view::npos || query.find("verbose=") == 0;
}

// The API server's own form: a line a check, then the sum.
void write_health(std::string_view name, const std::vector<HealthCheck>& checks, bool verbose,
                  net::Response& response) {
  response.content_type = "text/plain; charset=utf-8";
  std::string lines;
  bool well = true;
  for (const HealthCheck& check : checks) {
    const std::string failure = check.failure();
    well = well && failure.empty();
    lines += failure.empty() ? "[+]" + check.name + " ok\n"
                             : "[-]" + check.name + " failed: " + failure + "\n";
  }
  response.status = well ? 200 : 503;
  if (well && !verbose) {
    response.body = "ok";
    return;
  }
  response.body = std::move(lines);
  response.body += name;
  response.body += well ? " check passed\n" : " check failed\n";
}

void write_version(net::Response& response) {
  formats::JsonWriter(response.body)
      .begin_object()
      .member("version", kVersion)
      .member("compiler", __VERSION__)
      .end_object();
}

}  // namespace

net::Handler status_handler(StatusPages pages) {
  return [pages = std::move(pages)](const net::Request& request, net::Response& response) {
    if (request.method != "GET" && request.method != "HEAD") {
      response.status = 405;
      response.headers.emplace_back("Allow", "GET, HEAD");
      return;
    }
    response.headers.emplace_back("Cache-Control", "no-store");
    const bool verbose = wants_verbose(request.query);
    if (request.target == "/livez" || request.target == "/healthz") {
      // To answer is to be alive: nothing that a restart would not mend belongs here.
      write_health(request.target.substr(1), {}, verbose, response);
    } else if (request.target == "/readyz") {
      write_health("readyz", pages.readiness, verbose, response);
    } else if (request.target == "/metrics") {
      response.content_type = "text/plain; version=0.0.4; charset=utf-8";
      response.body = pages.metrics();
    } else if (request.target == "/version") {
      write_version(response);
    } else {
      response.status = 404;
      response.content_type = "text/plain; charset=utf-8";
      response.body = "not found: this port has /livez /readyz /healthz /metrics /version\n";
    }
  };
}

}  // namespace rankward::server
