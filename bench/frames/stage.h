// A host on a device, with the textures of a pipeline, on which frames are made in several ways and in turns.
#pragma once
#include <memory>

#include "bench/frames/pipeline.h"
#include "support/devices.h"

namespace tessera::bench {

class Frames {  // made in one way
 public:
  virtual ~Frames() = default;
  virtual void next() = 0;                                    // submits a frame, and does not wait
  virtual std::vector<float> values(std::size_t target) = 0;  // of the last one: 0 to 1, all components of a texture
};

class Stage {
 public:
  virtual ~Stage() = default;
  virtual std::unique_ptr<Frames> by_hand(Format between) = 0;  // rgba16f or rgba8
  virtual std::unique_ptr<Frames> by_tensors(Precision between = Precision::half) = 0;
  virtual void wait() = 0;         // until the device is done
  virtual Context& context() = 0;  // tessera's, on the host's device
};
// How a host adopts the device for tessera.
struct HostWay {
  bool asks_errors_later = false, names_work = true;
};
// The pipeline outlives the stage, and the stage its frames.
std::unique_ptr<Stage> make_stage(const test::TestDevice&, const Pipeline&, int channels, const HostWay& = {});

// Makes some frames in both ways. Throws where the last ones differ by more than 8 bits round; with 8 bits between
// passes, which round in each, where they do on average.
void check_alike(const Pipeline&, Frames& by_tensors, Frames& by_hand, Format between = Format::rgba16f);

// ---- For the stages of the backends.
inline std::size_t components(Format format) { return format == Format::r8 ? 1 : format == Format::rg8 ? 2 : 4; }
inline std::vector<float> normalised(const Bytes& bytes) {
  std::vector<float> values;
  for (const std::uint8_t byte : bytes) values.push_back(static_cast<float>(byte) / 255);
  return values;
}
inline std::string channels_of(Format format, int channels) {
  return format == Format::r8 ? "R" : format == Format::rg8 ? "RG" : channels == 3 ? "RGB" : "RGBA";
}

// The tensor code of a pipeline as a Program, from the host's textures into the host's textures.
class TensorFrames : public Frames {
 public:
  TensorFrames(Context&, const Pipeline&, int channels, Precision between);
  void next() override;
  std::vector<float> values(std::size_t target) override;

 protected:
  virtual Tensor imported(std::size_t source, std::size_t frame) = 0;
  virtual void show(const Tensor&, std::size_t target, const std::vector<Tensor>& also_compute) = 0;
  virtual std::vector<float> shown(std::size_t target) = 0;

  Context& gpu_;
  const Pipeline& pipeline_;
  const int channels_;

 private:
  const Program program_;
  std::size_t frame_ = 0;
  Tensor history_;
  std::vector<Tensor> results_;  // that are no textures
};

inline DeviceErrors errors_of(const HostWay& way) {
  return way.asks_errors_later ? DeviceErrors::later : DeviceErrors::at_once;
}
std::unique_ptr<Stage> make_webgpu_stage(const test::TestDevice&, const Pipeline&, int channels, const HostWay&);
std::unique_ptr<Stage> make_gles_stage(const test::TestDevice&, const Pipeline&, int channels, const HostWay&);

}  // namespace tessera::bench
