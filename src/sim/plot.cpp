#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "rankward/sim/report.hpp"
#include "statistics.hpp"

namespace rankward::sim {
namespace {

constexpr double kRow = 36;
constexpr double kTop = 92;
constexpr double kLeft = 208;  // where the first panel begins
constexpr double kRatioWidth = 420;
constexpr double kBarLeft = 720;
constexpr double kBarWidth = 170;
constexpr double kWidth = 960;
constexpr double kBottom = 96;
// Okabe and Ito.
constexpr std::string_view kBlue = "#0072B2";
constexpr std::string_view kVermilion = "#D55E00";
constexpr std::string_view kGrey = "#595959";

// Logarithmic, from 1 to the last tick.
class RatioAxis {
 public:
  explicit RatioAxis(const std::vector<Summary>& summaries) {
    double most = 2;
    for (const Summary& summary : summaries)
      most = std::max({most, quantile(summary.ratios, 0.95), summary.mean_ratio});
    for (const double tick : {1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0}) {
      ticks_.push_back(tick);
      if (tick >= most) break;
    }
    // Far ranges need no fine steps.
    if (ticks_.back() > 5)
      std::erase_if(ticks_, [](double tick) { return tick == 1.5 || tick == 3; });
  }
  [[nodiscard]] double at(double ratio) const {
    const double share = std::log(std::clamp(ratio, 1.0, ticks_.back())) / std::log(ticks_.back());
    return kLeft + share * kRatioWidth;
  }
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  std::vector<double> ticks_;
};

std::string_view colour_of(const PolicyName& policy) {
  if (policy.name == "rankward") return kBlue;
  return policy.whole_gangs ? kVermilion : kGrey;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

void text(std::string& out, double x, double y, std::string_view anchor, std::string_view words,
          std::string_view more = "") {
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, more, escaped(words));
}

void line(std::string& out, double x1, double y1, double x2, double y2, std::string_view colour,
          double width) {
  out += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"{}\"/>\n",
      x1, y1, x2, y2, colour, width);
}

void axes(std::string& out, const RatioAxis& axis, double bottom) {
  for (const double tick : axis.ticks()) {
    line(out, axis.at(tick), kTop - 8, axis.at(tick), bottom, "#D9D9D9", 1);
    text(out, axis.at(tick), bottom + 18, "middle", fmt::format("{}", tick));
  }
  text(out, kLeft + kRatioWidth / 2, bottom + 40, "middle",
       "All-reduce time over the best possible, T / T* (log scale)");
  for (int percent = 0; percent <= 100; percent += 25) {
    const double x = kBarLeft + kBarWidth * percent / 100;
    line(out, x, kTop - 8, x, bottom, "#D9D9D9", 1);
    text(out, x, bottom + 18, "middle", fmt::format("{}", percent));
  }
  text(out, kBarLeft + kBarWidth / 2, bottom + 40, "middle", "GPUs running (% of all)");
}

void row(std::string& out, const Summary& summary, const RatioAxis& axis, double y) {
  const std::string_view colour = colour_of(summary.policy);
  const bool ours = summary.policy.name == "rankward";
  text(out, kLeft - 14, y + 5, "end", summary.policy.title, ours ? " font-weight=\"bold\"" : "");
  const auto& ratios = summary.ratios;
  const auto x = [&](double share) { return axis.at(quantile(ratios, share)); };
  if (!ratios.empty()) {
    line(out, x(0.05), y, x(0.95), y, colour, 2);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\" fill=\"{}\" "
        "fill-opacity=\"0.35\" stroke=\"{}\"/>\n",
        x(0.25), y - 7, std::max(1.0, x(0.75) - x(0.25)), colour, colour);
    line(out, x(0.5), y - 9, x(0.5), y + 9, colour, 3);
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"#FFFFFF\" stroke=\"#000000\" "
        "stroke-width=\"1.5\"/>\n",
        axis.at(summary.mean_ratio), y);
    text(out, kLeft + kRatioWidth + 12, y + 5, "start", fmt::format("{:.2f}", summary.mean_ratio),
         ours ? " font-weight=\"bold\"" : "");
  }
  const double width = kBarWidth * summary.allocation;
  out += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"16\" fill=\"{}\" "
      "fill-opacity=\"0.8\"/>\n",
      kBarLeft, y - 8, width, colour);
  text(out, kBarLeft + kBarWidth + 10, y + 5, "start",
       fmt::format("{:.1f}", 100 * summary.allocation));
}

}  // namespace

std::string report_plot(const Setting& setting, const std::vector<Summary>& summaries) {
  const RatioAxis axis(summaries);
  const double bottom = kTop + kRow * static_cast<double>(summaries.size());
  const double height = bottom + kBottom;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#1A1A1A\" role=\"img\">\n"
      "<title>Placement quality by policy</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#FFFFFF\"/>\n",
      kWidth, height);
  text(out, 20, 32, "start", "How near to the best possible each policy places a gang",
       " font-size=\"18\" font-weight=\"bold\"");
  text(out, 20, 54, "start",
       fmt::format("{}: {} hosts, {} GPUs; {}: {} gangs, {} single pods; seed {}", setting.cluster,
                   setting.hosts, setting.gpus, setting.jobs, setting.gangs, setting.singles,
                   setting.seed),
       " fill=\"#595959\"");
  text(out, kLeft + kRatioWidth + 12, kTop - 14, "start", "mean");
  axes(out, axis, bottom);
  double y = kTop + kRow / 2;
  for (const Summary& summary : summaries) {
    row(out, summary, axis, y);
    y += kRow;
  }
  text(out, 20, bottom + 68, "start",
       "Line: 5th to 95th percentile of the gangs; box: 25th to 75th; bar: median; circle: mean.",
       " fill=\"#595959\"");
  text(out, 20, bottom + 86, "start",
       "Grey: pods one by one. Vermilion: whole gangs. Blue: this project.", " fill=\"#595959\"");
  return out + "</svg>\n";
}

}  // namespace rankward::sim
