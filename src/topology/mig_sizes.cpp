#include <algorithm>
#include <array>
#include <span>

#include "product_words.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::topology {

namespace {

struct Slice {
  std::string_view profile;
  std::int64_t mebibytes;
};

struct Model {
  std::array<std::string_view, 3> words;  // unused places are empty
  std::span<const Slice> slices;
};

// nvidia-smi prints GiB to hundredths; slices come in steps of 64 MiB or coarser, which gives back
// the MiB: 19.62 GiB is 20096 MiB, as GFD's labels of the same GPU say. A profile that a driver
// prints with two sizes stands here with the smaller.

constexpr std::array kA30{Slice{"1g.6gb", 5952}, Slice{"2g.12gb", 11968}, Slice{"4g.24gb", 24000}};

constexpr std::array kA100With40{Slice{"1g.5gb", 4864},   Slice{"1g.10gb", 9856},
                                 Slice{"2g.10gb", 9856},  Slice{"3g.20gb", 19968},
                                 Slice{"4g.20gb", 19968}, Slice{"7g.40gb", 40192}};

constexpr std::array kA100With80{Slice{"1g.10gb", 9728},  Slice{"1g.20gb", 19968},
                                 Slice{"2g.20gb", 19968}, Slice{"3g.40gb", 40192},
                                 Slice{"4g.40gb", 40192}, Slice{"7g.80gb", 80896}};

// 3g.40gb: `nvidia-smi` outputs say 39.50 GiB, GFD's label in NVIDIA/cloud-native-docs 40320 MiB.
constexpr std::array kH100With80{Slice{"1g.10gb", 9984},  Slice{"1g.20gb", 20096},
                                 Slice{"2g.20gb", 20096}, Slice{"3g.40gb", 40320},
                                 Slice{"4g.40gb", 40320}, Slice{"7g.80gb", 81152}};

constexpr std::array kH100With94{Slice{"1g.12gb", 10880}, Slice{"1g.24gb", 22016},
                                 Slice{"2g.24gb", 22016}, Slice{"3g.47gb", 47232},
                                 Slice{"4g.47gb", 47232}, Slice{"7g.94gb", 94848}};

constexpr std::array kHopperWith96{Slice{"1g.12gb", 11264}, Slice{"1g.24gb", 23552},
                                   Slice{"2g.24gb", 23552}, Slice{"3g.48gb", 47616},
                                   Slice{"4g.48gb", 47616}, Slice{"7g.96gb", 95232}};

constexpr std::array kGh200With144{Slice{"1g.18gb", 17920}, Slice{"1g.36gb", 36096},
                                   Slice{"2g.36gb", 36096}};

constexpr std::array kH200{Slice{"1g.18gb", 16384}, Slice{"1g.35gb", 33024},
                           Slice{"2g.35gb", 33024}, Slice{"3g.71gb", 71168},
                           Slice{"4g.71gb", 71168}, Slice{"7g.141gb", 143104}};

// 1g.23gb: published as 22.00 GiB (2025-01) and as 20.50 GiB (2025-03).
constexpr std::array kB200{Slice{"1g.23gb", 20992}, Slice{"1g.45gb", 45312},
                           Slice{"2g.45gb", 45312}};

constexpr std::array kGb200{Slice{"1g.24gb", 20480}, Slice{"1g.23gb", 22528},
                            Slice{"1g.47gb", 46592}, Slice{"2g.47gb", 46592}};

constexpr std::array kRtxPro6000{Slice{"1g.24gb", 23680}, Slice{"2g.48gb", 47616},
                                 Slice{"4g.96gb", 95616}};

// The first model whose words all stand in the product decides. Sources, where not the MIG user
// guide: NVIDIA/mig-parted 139 (GH200), 120 (H200), 166 and 187 (B200), 227 (GB200).
constexpr std::array kModels{
    Model{{"A30"}, kA30},
    Model{{"A100", "40GB"}, kA100With40},
    Model{{"A100", "80GB"}, kA100With80},
    Model{{"H100", "NVL"}, kH100With94},
    Model{{"H100", "96GB"}, kHopperWith96},
    Model{{"H100", "80GB"}, kH100With80},
    Model{{"H100", "PCIE"}, kH100With80},
    Model{{"GH200", "144G"}, kGh200With144},
    Model{{"GH200"}, kHopperWith96},
    Model{{"H20"}, kHopperWith96},
    Model{{"H200"}, kH200},
    Model{{"GB200"}, kGb200},
    Model{{"B200"}, kB200},
    Model{{"RTX", "PRO", "6000"}, kRtxPro6000},
};

// Attributes such as +me, .me.all, +gfx or -me say which engines a slice has; its memory is that of
// the plain profile.
std::string_view without_attributes(std::string_view profile) {
  const std::size_t gb = profile.find("gb");
  return gb == std::string_view::npos ? profile : profile.substr(0, gb + 2);
}

}  // namespace

std::optional<Bytes> measured_slice_memory(std::string_view product, std::string_view profile) {
  profile = without_attributes(profile);
  const ProductWords words(product);
  for (const Model& model : kModels) {
    if (!words.has(model.words)) continue;
    for (const Slice& slice : model.slices) {
      if (slice.profile == profile) return Bytes{slice.mebibytes * kMebibyte};
    }
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<SliceMemory> measured_slice_memory(std::string_view profile) {
  profile = without_attributes(profile);
  std::optional<SliceMemory> range;
  for (const Model& model : kModels) {
    for (const Slice& slice : model.slices) {
      if (slice.profile != profile) continue;
      const Bytes size{slice.mebibytes * kMebibyte};
      if (!range) range = SliceMemory{size, size};
      range->least = std::min(range->least, size);
      range->most = std::max(range->most, size);
    }
  }
  return range;
}

}  // namespace rankward::topology
