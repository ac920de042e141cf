// Annotations by which a runtime plugin adds devices to a container.
#pragma once

#include <array>
#include <string_view>

namespace rankward::admission {

// A key is PREFIX or PREFIX/NAME, where `*` stands for a part of the domain. Sources: containerd
// and CRI-O (CDI), nvidia-container-toolkit's NRI plugin, containerd/nri plugins/device-injector,
// GKE's nri_device_injector.
inline constexpr std::array<std::string_view, 6> kDeviceAnnotationDomains{
    "cdi.k8s.io",     "nvidia.cdi.k8s.io",  "*.noderesource.dev",
    "devices.nri.io", "cdi-devices.nri.io", "devices.gke.io"};

}  // namespace rankward::admission
