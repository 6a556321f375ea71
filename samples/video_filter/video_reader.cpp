// Videos and cameras by FFmpeg: planes as decoded go to the GPU where it can convert them, which is nearly always.
#include <dlfcn.h>

#include <stdexcept>
#include <utility>

#include "ffmpeg.h"
#include "source.h"

namespace video {
namespace {

class VideoReader : public Source {
 public:
  VideoReader(std::string name, const AVInputFormat* format) : name_(std::move(name)) {
    av_log_set_level(AV_LOG_QUIET);  // what matters is thrown
    AVFormatContext* input = nullptr;
    check(avformat_open_input(&input, name_.c_str(), format, nullptr), "cannot be opened");
    input_.reset(input);
    check(avformat_find_stream_info(input, nullptr), "is not a video that can be read");
    const AVCodec* codec = nullptr;
    stream_ = av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    check(stream_, "has no video");
    decoder_.reset(avcodec_alloc_context3(codec));
    const AVStream& stream = *input->streams[stream_];
    check(avcodec_parameters_to_context(decoder_.get(), stream.codecpar), "cannot be decoded");
    check(avcodec_open2(decoder_.get(), codec, nullptr), "cannot be decoded");
    rate_ = stream.avg_frame_rate.num > 0 ? av_q2d(stream.avg_frame_rate) : 30;
    first_ = decoded();
    if (!first_) throw std::runtime_error(name_ + " has no frames");
    size_ = first_->size;
  }

  FramePtr next() override {
    FramePtr frame = first_ ? std::exchange(first_, nullptr) : decoded();
    if (frame && frame->size != size_) throw std::runtime_error(name_ + " changes its size on the way");
    return frame;
  }

  void rewind() override {
    if (av_seek_frame(input_.get(), stream_, 0, AVSEEK_FLAG_BACKWARD) < 0) return;
    avcodec_flush_buffers(decoder_.get());
    is_draining_ = false;
  }

  Size size() const override { return size_; }
  double rate() const override { return rate_; }

 private:
  void check(int code, const char* what) const {
    if (code < 0) throw std::runtime_error(name_ + " " + what + ": " + ffmpeg_error(code));
  }

  FramePtr decoded() {
    for (;;) {
      const int got = avcodec_receive_frame(decoder_.get(), picture_.get());
      if (got == 0) return frame_of(*picture_);
      if (got == AVERROR_EOF || is_draining_) return nullptr;
      if (got != AVERROR(EAGAIN)) check(got, "breaks off");
      feed();
    }
  }

  // The next packet of the video; what is damaged is passed over, as players do.
  void feed() {
    const int read = av_read_frame(input_.get(), packet_.get());
    if (read < 0) {
      is_draining_ = true;
      avcodec_send_packet(decoder_.get(), nullptr);
      if (read == AVERROR_EOF) return;
      check(read, "breaks off");
    }
    if (packet_->stream_index == stream_) avcodec_send_packet(decoder_.get(), packet_.get());
    av_packet_unref(packet_.get());
  }

  FramePtr frame_of(const AVFrame& picture) {
    auto frame = std::make_shared<Frame>();
    frame->number = number_++;
    frame->size = {picture.width, picture.height};
    const int half_width = (picture.width + 1) / 2, half_height = (picture.height + 1) / 2;
    const auto copy = [&](int plane, int row_bytes, int rows) {
      std::vector<std::uint8_t>& to = frame->planes[static_cast<std::size_t>(plane)];
      to.resize(static_cast<std::size_t>(row_bytes) * static_cast<std::size_t>(rows));
      av_image_copy_plane(to.data(), row_bytes, picture.data[plane], picture.linesize[plane], row_bytes, rows);
    };
    const auto format = static_cast<AVPixelFormat>(picture.format);
    const bool is_full = format == AV_PIX_FMT_YUVJ420P || picture.color_range == AVCOL_RANGE_JPEG;
    frame->yuv.range = is_full ? tessera::Yuv::Range::full : tessera::Yuv::Range::limited;
    frame->yuv.matrix = matrix_of(picture);
    if (format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P) {
      frame->layout = Frame::Layout::yuv420;
      copy(0, picture.width, picture.height);
      copy(1, half_width, half_height);
      copy(2, half_width, half_height);
    } else if (format == AV_PIX_FMT_NV12) {
      frame->layout = Frame::Layout::nv12;
      copy(0, picture.width, picture.height);
      copy(1, 2 * half_width, half_height);
    } else {
      convert(picture, *frame);
    }
    return frame;
  }

  static tessera::Yuv::Matrix matrix_of(const AVFrame& picture) {
    using Matrix = tessera::Yuv::Matrix;
    switch (picture.colorspace) {
      case AVCOL_SPC_BT709: return Matrix::bt709;
      case AVCOL_SPC_BT2020_NCL: return Matrix::bt2020;
      case AVCOL_SPC_UNSPECIFIED: return picture.height >= 720 ? Matrix::bt709 : Matrix::bt601;
      default: return Matrix::bt601;
    }
  }

  // Formats that few files have (10 bits, 4:4:4, …) go through the CPU.
  void convert(const AVFrame& picture, Frame& frame) {
    const auto format = static_cast<AVPixelFormat>(picture.format);
    converter_.reset(sws_getCachedContext(converter_.release(), picture.width, picture.height, format, picture.width,
                                          picture.height, AV_PIX_FMT_RGB24, SWS_BILINEAR, nullptr, nullptr, nullptr));
    if (!converter_) throw std::runtime_error(name_ + " has pixels of an unknown format");
    frame.layout = Frame::Layout::rgb;
    const int row = picture.width * 3;
    frame.planes[0].resize(static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.height));
    std::uint8_t* const planes[] = {frame.planes[0].data()};
    sws_scale(converter_.get(), picture.data, picture.linesize, 0, picture.height, planes, &row);
  }

  std::string name_;
  Ffmpeg<AVFormatContext> input_;
  Ffmpeg<AVCodecContext> decoder_;
  Ffmpeg<AVFrame> picture_{av_frame_alloc()};
  Ffmpeg<AVPacket> packet_{av_packet_alloc()};
  Ffmpeg<SwsContext> converter_;
  int stream_ = -1, number_ = 0;
  double rate_ = 30;
  bool is_draining_ = false;
  Size size_{};
  FramePtr first_;
};

}  // namespace

std::unique_ptr<Source> open_video(const std::string& path) { return std::make_unique<VideoReader>(path, nullptr); }

// libavdevice brings a Vulkan loader into the process, beside which ANGLE's own one fails: so only cameras load it, and
// none of its functions is linked.
std::unique_ptr<Source> open_camera(const std::string& device) {
  void* library = dlopen("libavdevice.so." AV_STRINGIFY(VIDEO_FILTER_AVDEVICE), RTLD_NOW | RTLD_LOCAL);
  const auto register_all = library ? reinterpret_cast<void (*)()>(dlsym(library, "avdevice_register_all")) : nullptr;
  if (!register_all) throw std::runtime_error(device + " needs libavdevice, which is not installed");
  register_all();
  return std::make_unique<VideoReader>(device, av_find_input_format("v4l2"));
}

}  // namespace video
