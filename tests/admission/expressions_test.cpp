// The patterns that stand for tables and functions in CEL, against those. The expressions
// themselves meet the rules on a real API server, in tests/controlplane.
#include "rankward/admission/expressions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <set>

#include "expressions_host_path.hpp"
#include "expressions_rules.hpp"
#include "expressions_text.hpp"
#include "rankward/admission/host_path.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using enum HostPathKind;

TEST(CelLiteral, IsReadBackAsTheText) {
  const std::pair<std::string, std::string> cases[] = {
      {"all", "\"all\""},
      {"", "\"\""},
      {R"(a\.b)", R"(r"a\.b")"},
      {"say \"x\"", R"("say \"x\"")"},
      {R"(\"x\")", R"("\\\"x\\\"")"},
      {"a\nb", R"("a\x0ab")"},
      {"\\\n", R"("\\\x0a")"},
  };
  for (const auto& [text, literal] : cases)
    EXPECT_EQ(cel::literal(text), literal);
}

TEST(CelNames, MatchWhatGlobsMatch) {
  const std::vector<std::string> globs = {"nvidia", "kata-*-gpu*", "a.b/*", "*x", "p(q)+"};
  const std::regex pattern(cel::names_pattern(globs));
  for (const std::string name : {"nvidia", "nvidia2", "kata-q-gpu", "kata-gpu", "kata--gpu-x",
                                 "a.b/", "a.b/c", "aXb/c", "x", "yx", "xy", "p(q)+", "pqq", ""}) {
    const bool wanted = std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
      return matches_glob(glob, name);
    });
    EXPECT_EQ(std::regex_search(name, pattern), wanted) << name;
  }
}

// Patterns meet canonical paths with a slash at the end.
std::string with_slash(const std::string& path) {
  return path == "/" ? path : path + "/";
}

class HostPathPatterns : public testing::Test {
 protected:
  HostPathPatterns() {
    PolicyOptions options;
    options.vendors.push_back({.name = "Example",
                               .resources = {"example.com/npu"},
                               .device_paths = {"/dev/examplenpu*"},
                               .env_names = {},
                               .annotations = {}});
    policy_ = std::move(Policy::make(std::move(options)).value());
    known_root_ = std::regex(known_root_pattern(policy_));
  }

  struct Compiled {
    std::regex is;
    std::regex is_not;
    std::regex below;
  };
  [[nodiscard]] Compiled compiled(HostPathKind kind) const {
    const HostPathPattern pattern = host_path_pattern({kind}, policy_);
    return {std::regex(pattern.is), std::regex(pattern.is_not.empty() ? "^$" : pattern.is_not),
            std::regex(pattern.below.empty() ? "^$" : pattern.below)};
  }

  Policy policy_;
  std::regex known_root_;
};

constexpr HostPathKind kAllKinds[] = {kDeviceNode,     kDeviceRoot,   kHostRoot,
                                      kControlChannel, kPodResources, kBroad};

// Paths made of the table's own segments, so that most of them are near an entry.
std::vector<std::string> paths_near_the_table(int number) {
  std::vector<std::string> segments = {"x",    "examplenpu0", "1",   "self",
                                       "root", "task",        "cwd", "proc"};
  std::vector<std::string> out = {"/", "/proc/1", "/proc/self/task", "/proc/2/task/3"};
  for (const HostPathEntry& entry : host_path_entries()) {
    std::string path(entry.pattern);
    std::replace(path.begin(), path.end(), '*', '7');
    for (const std::string_view end : {"", "/x", "x", "/1/root"})
      out.push_back(canonical_host_path(path + std::string(end)));
    for (std::size_t slash = path.rfind('/'); slash != 0 && slash != std::string::npos;
         slash = path.rfind('/', slash - 1))
      out.push_back(path.substr(0, slash));
    std::string segment;
    for (const char c : path + "/") {
      if (c != '/') {
        segment += c;
      } else if (!segment.empty()) {
        segments.push_back(std::move(segment));
        segment.clear();
      }
    }
  }
  std::mt19937 random(20260805);
  std::uniform_int_distribution<std::size_t> pick(0, segments.size() - 1);
  std::uniform_int_distribution<int> length(1, 4);
  while (number-- > 0) {
    std::string path;
    for (int left = length(random); left > 0; --left)
      path += "/" + segments[pick(random)];
    out.push_back(canonical_host_path(path));
  }
  return out;
}

TEST_F(HostPathPatterns, MatchWhatTheTableFinds) {
  const std::vector<std::string> paths = paths_near_the_table(1500);
  for (const HostPathKind kind : kAllKinds) {
    const Compiled pattern = compiled(kind);
    int found = 0;
    for (const std::string& path : paths) {
      const std::string text = with_slash(path);
      const bool is =
          std::regex_search(text, pattern.is) && !std::regex_search(text, pattern.is_not);
      const bool wanted = policy_.host_paths().look_up(path, kind) != nullptr;
      ASSERT_EQ(is, wanted) << path << " of kind " << static_cast<int>(kind);
      if (!wanted) continue;
      ++found;
      EXPECT_TRUE(std::regex_search(text, known_root_)) << path;
    }
    EXPECT_GT(found, 0) << static_cast<int>(kind);
  }
}

TEST_F(HostPathPatterns, MatchWhatCanLieBelow) {
  const std::vector<std::string> paths = paths_near_the_table(1500);
  for (const HostPathKind kind : {kDeviceNode, kDeviceRoot, kControlChannel}) {
    const Compiled pattern = compiled(kind);
    for (const std::string& path : paths) {
      const std::string text = with_slash(path);
      ASSERT_EQ(std::regex_search(text, pattern.below),
                policy_.host_paths().look_up_below(path, kind) != nullptr)
          << path << " of kind " << static_cast<int>(kind);
      if (!std::regex_search(text, pattern.below)) continue;
      EXPECT_TRUE(std::regex_search(text, known_root_)) << path;
    }
  }
}

const ModePolicy* policy_of(const PodPolicies& made, Mode mode) {
  const auto found = std::find_if(made.policies.begin(), made.policies.end(),
                                  [&](const ModePolicy& policy) { return policy.mode == mode; });
  return found == made.policies.end() ? nullptr : &*found;
}

bool judges(const ModePolicy& policy, std::string_view rule) {
  return std::any_of(policy.validations.begin(), policy.validations.end(),
                     [&](const RuleValidation& validation) { return validation.rule == rule; });
}

TEST(PodPolicies, HoldEachRuleInTheModesThatItHas) {
  PolicyOptions options;
  options.modes = {{"HP-01", "warn", {}}, {"HP-01", "audit", {"lab"}}, {"ENV-01", "off", {}}};
  const PodPolicies made = pod_policies(Policy::make(std::move(options)).value());
  ASSERT_NE(policy_of(made, Mode::kEnforce), nullptr);
  EXPECT_FALSE(judges(*policy_of(made, Mode::kEnforce), "HP-01"));
  EXPECT_TRUE(judges(*policy_of(made, Mode::kWarn), "HP-01"));
  EXPECT_TRUE(judges(*policy_of(made, Mode::kAudit), "HP-01"));
  for (const ModePolicy& policy : made.policies)
    EXPECT_FALSE(judges(policy, "ENV-01"));
  // Two grades, two modes.
  EXPECT_TRUE(judges(*policy_of(made, Mode::kEnforce), "HP-02"));
  EXPECT_TRUE(judges(*policy_of(made, Mode::kWarn), "HP-02"));
}

TEST(PodPolicies, DefineEveryVariableBeforeItIsUsedAndNoneInVain) {
  const std::regex reference(R"(variables\.([A-Za-z0-9]+))");
  for (const ModePolicy& policy : pod_policies(Policy()).policies) {
    std::set<std::string> known;
    std::set<std::string> used;
    const auto check = [&](const std::string& expression) {
      for (std::sregex_iterator at(expression.begin(), expression.end(), reference), end; at != end;
           ++at) {
        used.insert((*at)[1]);
        EXPECT_EQ(known.count((*at)[1]), 1U) << (*at)[1] << " in " << expression;
      }
    };
    for (const NamedExpression& variable : policy.variables) {
      check(variable.expression);
      EXPECT_TRUE(known.insert(variable.name).second) << variable.name;
    }
    for (const RuleValidation& validation : policy.validations) {
      check(validation.expression);
      check(validation.message_expression);
    }
    EXPECT_EQ(used, known);
  }
}

// Nothing of the templates that they are made from is left.
TEST(Expressions, AreFilledIn) {
  PolicyOptions options;
  options.allowed_host_paths = {"/data"};
  options.served_schedulers = {"default-scheduler"};
  const Policy policy = Policy::make(std::move(options)).value();
  for (const NamedExpression& condition : pod_match_conditions(policy))
    EXPECT_EQ(condition.expression.find('@'), std::string::npos) << condition.expression;
  for (const ModePolicy& made : pod_policies(policy).policies)
    for (const NamedExpression& variable : made.variables)
      EXPECT_EQ(variable.expression.find('@'), std::string::npos) << variable.expression;
}

}  // namespace
}  // namespace rankward::admission
