#include "headless.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "meter.h"
#include "pipeline.h"
#include "source.h"
#include "writer.h"

namespace video {
namespace {

using Pixels = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

// One backend at work.
struct Lane {
  Lane(const tessera::ContextOptions& options, Size image_size, const std::vector<std::string>& filters)
      : gpu(tessera::Context::create(options)), pipeline(gpu, image_size, filters) {}

  tessera::Tensor submit(const FramePtr& frame, Size size) {
    const auto begin = Clock::now();
    Filtered filtered = pipeline(frame);
    filtered.image = to_u8(fitted(filtered.image, size));
    gpu.compute(filtered.all());
    host.push_back(Clock::now() - begin);
    return filtered.image;
  }

  tessera::Context gpu;
  Pipeline pipeline;
  std::vector<Clock::duration> host;  // of each frame
};

// Both frames, and what they differ by.
Pixels side_by_side(const Pixels& left, const Pixels& right, int width, int& largest) {
  const std::size_t row = static_cast<std::size_t>(width) * 3;
  Pixels all;
  for (std::size_t begin = 0; begin < left.size(); begin += row) {
    for (const Pixels* pixels : {&left, &right})
      all.insert(all.end(), pixels->begin() + static_cast<std::ptrdiff_t>(begin),
                 pixels->begin() + static_cast<std::ptrdiff_t>(begin + row));
    for (std::size_t i = begin; i < begin + row; ++i) {
      const int difference = std::abs(left[i] - right[i]);
      largest = std::max(largest, difference);
      all.push_back(static_cast<std::uint8_t>(std::min(difference * 8, 255)));
    }
  }
  return all;
}

void show_progress(int done, int of) {
  if (!isatty(STDERR_FILENO)) return;
  constexpr int width = 40;
  const int filled = done * width / of;
  std::fprintf(stderr, "\r[%s%s] %d/%d", std::string(static_cast<std::size_t>(filled), '#').c_str(),
               std::string(static_cast<std::size_t>(width - filled), ' ').c_str(), done, of);
  if (done == of) std::fprintf(stderr, "\r\033[K");
}

void report(const Lane& lane, int frames, Clock::duration time) {
  std::printf("%s on %s: %.1f ms a frame, of which the host works %.2f ms\n",
              std::string(to_string(lane.gpu.backend())).c_str(), lane.gpu.device().name.c_str(),
              milliseconds(time) / frames, median_milliseconds(lane.host));
  print_kernels(lane.gpu);
}

struct Job {
  std::vector<std::string> filters;
  std::string out;
  int frames;
};

void render(const Options& options, const Job& job) {
  const auto source = open_source(options.source, options.first);
  const bool is_any_size = source->size() == Size{};
  const int larger = enlarges(job.filters);
  const Size size = options.size.value_or(
      is_any_size ? Size{1280, 720} : Size{source->size().width * larger, source->size().height * larger});
  const Size image_size = is_any_size ? size_before(job.filters, size) : source->size();
  std::vector<Lane> lanes;
  tessera::ContextOptions context_options = options.context_options();
  if (options.compare) {
    context_options.driver.clear();
    for (const auto kind : {tessera::BackendKind::webgpu, tessera::BackendKind::gles}) {
      context_options.prefer = {kind};
      lanes.emplace_back(context_options, image_size, job.filters);
    }
  } else {
    if (options.backend) context_options.prefer = {*options.backend};
    lanes.emplace_back(context_options, image_size, job.filters);
  }
  const auto writer = open_writer(job.out, {size.width * (options.compare ? 3 : 1), size.height}, source->rate());

  int done = 0, largest_difference = 0;
  const auto begin = Clock::now();
  for (FramePtr frame = source->next(), following; frame; frame = following) {
    following = done + 1 == job.frames ? nullptr : options.still ? frame : source->next();
    std::vector<tessera::Tensor> images;
    for (Lane& lane : lanes) images.push_back(lane.submit(frame, size));
    if (!writer->wants(!following)) {
      for (Lane& lane : lanes) lane.gpu.wait();  // or frames would pile up
    } else if (options.compare) {
      writer->write(
          side_by_side(images[0].read<std::uint8_t>(), images[1].read<std::uint8_t>(), size.width, largest_difference));
    } else {
      writer->write(images[0].read<std::uint8_t>());
    }
    show_progress(++done, following ? job.frames : done);
  }
  if (done == 0) throw std::runtime_error(options.source + " has no frames");
  writer->finish();
  for (const Lane& lane : lanes) report(lane, done, Clock::now() - begin);
  if (options.compare) std::printf("they differ by %d/255 at most\n", largest_difference);
  std::printf("%s: %d frames of %dx%d, filter %s\n", job.out.c_str(), done, size.width, size.height,
              to_string(job.filters).c_str());
}

}  // namespace

void run_headless(const Options& options) {
  if (options.stills.empty()) return render(options, {options.filters, options.out, options.frames});
  for (const FilterEntry& entry : filters()) {
    const std::string name = entry.name;
    if (name == "grain") continue;  // is there for denoise
    std::vector<std::string> chain{name};
    if (name == "denoise") chain.insert(chain.begin(), "grain");  // else there is nothing to take away
    render(options, {chain, options.stills + "/" + name + ".png", static_cast<int>(looks_back(chain)) + 1});
  }
}

}  // namespace video
