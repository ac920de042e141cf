#include "expiry.hpp"

#include <cstdint>

namespace rankward::server {
namespace {

using std::chrono::duration_cast;
using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::system_clock;

constexpr hours kDay{24};
constexpr hours kAhead = 30 * kDay;

}  // namespace

void warn_of_certificates(const net::Server& server, const std::vector<std::string>& doors,
                          system_clock::time_point now, record::Log& log) {
  const auto not_after = server.certificates_not_after();
  for (std::size_t i = 0; i < doors.size(); ++i) {
    if (!not_after[i]) continue;
    const auto left = *not_after[i] - now;
    if (left > kAhead) continue;
    log.warning(
        "the serving certificate ends soon",
        {{"door", doors[i]}, {"daysLeft", std::int64_t{duration_cast<hours>(left) / kDay}}});
  }
}

void warn_of_exemptions(const admission::Policy& policy, system_clock::time_point now,
                        record::Log& log) {
  const admission::UnixSeconds today = duration_cast<seconds>(now.time_since_epoch()).count();
  for (const admission::ExpiringExemption& each :
       admission::expiring_exemptions(policy, today, seconds(kAhead).count())) {
    const std::int64_t days = seconds(each.expires - today) / kDay;
    log.warning(each.expired ? "the exemption has ended and exempts nothing any more"
                             : "the exemption ends soon",
                {{"exemption", each.name}, {"reason", each.reason}, {"daysLeft", days}});
  }
}

}  // namespace rankward::server
