// The words of expected.md, each compared with what the product says.
#pragma once

#include "case.hpp"

namespace rankward::cases {

// `schedulable`, `choose`, `effective` and `nodes` of one pod.
void expect_placement(const Case& from, const kube::Pod& pod, const YAML::Node& expected);

// "deny HP-02, and warn PRIV-01", "admit (why)", "warn ENV-03 (why)", "warn REQ-01 at FIELD".
void expect_admission(const admission::Judgement& judgement, const std::string& expected);

}  // namespace rankward::cases
