// What the old object of an UPDATE had already.
#pragma once

#include <set>
#include <utility>

#include "finding_key.hpp"
#include "rankward/admission/judge.hpp"

namespace rankward::admission {

// The old object's findings, exempt ones too: an exemption that ended makes nothing new.
class KnownFindings {
 public:
  explicit KnownFindings(Findings findings) : findings_(std::move(findings)) {
    for (const Finding& finding : findings_.standing)
      keys_.insert(key_of(finding));
    for (const ExemptFinding& exempt : findings_.exempt)
      keys_.insert(key_of(exempt.finding));
  }
  KnownFindings(const KnownFindings&) = delete;
  KnownFindings& operator=(const KnownFindings&) = delete;

  [[nodiscard]] bool has(const Finding& finding) const { return keys_.count(key_of(finding)) > 0; }

 private:
  Findings findings_;
  std::set<FindingKey> keys_;
};

}  // namespace rankward::admission
