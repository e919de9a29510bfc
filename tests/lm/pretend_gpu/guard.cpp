// What PyTorch asks of a CUDA device outside of operators: which device and stream are current, that there is one
// device, and a generator of random numbers. Nothing is done, and the generator is that of the CPU, so that dropout
// draws the same masks on both.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

const c10::Device kOnly(c10::DeviceType::CUDA, 0);

struct PretendGuard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA> {
  c10::Device exchangeDevice(c10::Device) const override { return kOnly; }
  c10::Device getDevice() const override { return kOnly; }
  c10::Stream getStream(c10::Device) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, kOnly); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, kOnly); }
};

c10::impl::DeviceGuardImplRegistrar registrar(c10::DeviceType::CUDA, new PretendGuard());

}  // namespace

namespace at {

// PyTorch looks for this name.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  int getNumGPUs() const override { return 1; }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  DeviceIndex exchangeDevice(DeviceIndex) const override { return 0; }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const override { return 0; }
  void setCurrentDevice(DeviceIndex) const override {}
  Generator getNewGenerator(DeviceIndex) const override { return detail::createCPUGenerator(); }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at
