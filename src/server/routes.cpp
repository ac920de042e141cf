#include "routes.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <optional>
#include <random>
#include <utility>

namespace rankward::server {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

void refuse(net::Response& response, int status, std::string_view text) {
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = text;
  response.body += '\n';
}

bool named(const net::PeerCertificate& peer, const std::vector<std::string>& names) {
  const auto listed = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return (!peer.common_name.empty() && listed(peer.common_name)) ||
         std::any_of(peer.dns_names.begin(), peer.dns_names.end(), listed) ||
         std::any_of(peer.uris.begin(), peer.uris.end(), listed) ||
         std::any_of(peer.emails.begin(), peer.emails.end(), listed);
}

// Distinguishes calls in the log: a random start of this process and a running number.
std::string next_request_id() {
  static const std::uint32_t start = std::random_device{}();
  static std::atomic<std::uint64_t> number{0};
  char buffer[32];
  const int length = std::snprintf(buffer, sizeof buffer, "%08x-%llu", start,
                                   static_cast<unsigned long long>(++number));
  return {buffer, static_cast<std::size_t>(length)};
}

// kube-apiserver says how long it will wait: `?timeout=3s`.
std::optional<std::chrono::seconds> caller_timeout(std::string_view query) {
  constexpr std::string_view kKey = "timeout=";
  const auto at = query.find(kKey);
  if (at == std::string_view::npos || (at != 0 && query[at - 1] != '&')) return std::nullopt;
  const std::string_view text = query.substr(at + kKey.size());
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool unit = end != text.data() + text.size() && *end == 's';
  if (error != std::errc() || !unit || seconds < 1 || seconds > 300) return std::nullopt;
  return std::chrono::seconds(seconds);
}

// A caller that has given up gets nothing from an answer: refuse at once, so that others are
// served.
bool too_late(const net::Request& request) {
  const auto timeout = caller_timeout(request.query);
  return timeout && steady_clock::now() - request.received_at > *timeout;
}

using ExtenderVerb = Answer (Extender::*)(std::string_view, std::string&) const;

std::optional<std::pair<Verb, ExtenderVerb>> verb_of(std::string_view path) {
  if (path == "/filter") return std::pair{Verb::kFilter, &Extender::filter};
  if (path == "/prioritize") return std::pair{Verb::kPrioritize, &Extender::prioritize};
  if (path == "/preempt") return std::pair{Verb::kPreempt, &Extender::preempt};
  return std::nullopt;
}

}  // namespace

net::Handler extender_handler(const Extender& extender, std::vector<std::string> client_names,
                              Metrics& metrics, record::Log& log) {
  return [&extender, names = std::move(client_names), &metrics, &log](const net::Request& request,
                                                                      net::Response& response) {
    // The port demands a certificate already; a verb without one must not depend on that alone.
    if (request.client == nullptr || (!names.empty() && !named(*request.client, names))) {
      log.info(2, "client refused",
               {{"door", "extender"},
                {"client", request.client != nullptr ? std::string_view(request.client->common_name)
                                                     : std::string_view()}});
      return refuse(response, 403, "this client certificate may not call the extender");
    }
    const auto verb = verb_of(request.target);
    if (!verb)
      return refuse(response, 404, "not found: this door has /filter /prioritize /preempt");
    if (request.method != "POST") {
      response.headers.emplace_back("Allow", "POST");
      return refuse(response, 405, "extender verbs are called with POST");
    }
    Answer answer = (extender.*verb->second)(request.body, response.body);
    response.status = answer.status;
    if (answer.status != 200) response.content_type = "text/plain; charset=utf-8";
    const auto elapsed = steady_clock::now() - request.received_at;
    response.after_sent = [kind = verb->first, answer = std::move(answer), elapsed, &metrics,
                           &log]() mutable {
      answer.decision.request_id = next_request_id();
      answer.decision.microseconds =
          std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
      metrics.answered(kind, answer.outcome, duration<double>(elapsed).count());
      if (kind == Verb::kFilter) {
        for (std::size_t code = 0; code < answer.decision.rejects.size(); ++code) {
          if (const auto nodes = answer.decision.rejects[code]; nodes != 0) {
            metrics.rejected(static_cast<placement::ReasonCode>(code), nodes);
          }
        }
        if (answer.decision.planned_now) metrics.planned(answer.decision.tiers);
        if (answer.decision.plan_missed) metrics.plan_missed();
        if (answer.decision.plan_refused) metrics.plan_refused();
      }
      record::write(log, answer.decision);
    };
  };
}

namespace {

// What was answered goes to the log and the counters once it has left.
void record_review(Verb verb, const ReviewAnswer& answer, duration<double> elapsed,
                   Metrics& metrics, record::Log& log) {
  metrics.answered(verb, answer.outcome, elapsed.count());
  for (const admission::RuleCount& count : answer.counts)
    metrics.found(count);
  for (const std::string& exemption : answer.exempted_by)
    metrics.exempted(exemption);
  if (answer.outcome == Outcome::kOk) {
    record::write(log, answer.decision);
  } else {
    log.error("admission", answer.error,
              {{"requestID", answer.decision.request_id}, {"object", answer.decision.object}});
  }
}

}  // namespace

net::Handler webhook_handler(const Webhook& webhook, Metrics& metrics, record::Log& log) {
  return [&webhook, &metrics, &log](const net::Request& request, net::Response& response) {
    const bool mutate = webhook.mutates() && request.target == "/mutate";
    if (!mutate && request.target != "/validate") {
      return refuse(response, 404,
                    webhook.mutates() ? "not found: this door has /validate and /mutate"
                                      : "not found: this door has /validate");
    }
    if (request.method != "POST") {
      response.headers.emplace_back("Allow", "POST");
      return refuse(response, 405, "reviews are sent with POST");
    }
    if (too_late(request)) {
      response.retry_after = std::chrono::seconds(1);
      return refuse(response, 503, "the caller's timeout passed before the review was read");
    }
    ReviewAnswer answer = mutate ? webhook.mutate(request.body, response.body)
                                 : webhook.validate(request.body, response.body);
    response.status = answer.status;
    if (answer.status != 200) response.content_type = "text/plain; charset=utf-8";
    const auto elapsed = steady_clock::now() - request.received_at;
    response.after_sent = [verb = mutate ? Verb::kMutate : Verb::kValidate,
                           answer = std::move(answer), elapsed, &metrics, &log]() mutable {
      answer.decision.microseconds =
          std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
      record_review(verb, answer, elapsed, metrics, log);
    };
  };
}

}  // namespace rankward::server
