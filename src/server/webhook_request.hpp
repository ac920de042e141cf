// Words of a review in those of admission.
#pragma once

#include "rankward/admission/judge.hpp"
#include "rankward/admission/self_guard.hpp"
#include "rankward/formats/review.hpp"

namespace rankward::server {

[[nodiscard]] inline admission::Operation operation_of(formats::Operation operation) {
  switch (operation) {
    case formats::Operation::kCreate:
      return admission::Operation::kCreate;
    case formats::Operation::kUpdate:
      return admission::Operation::kUpdate;
    case formats::Operation::kDelete:
      return admission::Operation::kDelete;
    case formats::Operation::kConnect:
      return admission::Operation::kConnect;
  }
  return admission::Operation::kCreate;
}

[[nodiscard]] inline admission::Requester requester_of(const formats::AdmissionRequest& request) {
  return {request.username, request.groups};
}

}  // namespace rankward::server
