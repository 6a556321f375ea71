// Videos by FFmpeg.
#include <stdexcept>

#include "ffmpeg.h"
#include "writer.h"

namespace video {
namespace {

struct CloseOutput {
  void operator()(AVFormatContext* x) const {
    if (x->pb) avio_closep(&x->pb);
    avformat_free_context(x);
  }
};

class VideoWriter : public Writer {
 public:
  VideoWriter(const std::string& path, Size size, double rate) : path_(path), size_(size) {
    av_log_set_level(AV_LOG_QUIET);
    AVFormatContext* output = nullptr;
    check(avformat_alloc_output_context2(&output, nullptr, nullptr, path.c_str()));
    output_.reset(output);
    const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_H264);
    if (!codec) codec = avcodec_find_encoder(AV_CODEC_ID_MPEG4);
    if (!codec) throw std::runtime_error("cannot write " + path + ": this FFmpeg has no encoder for it");
    encoder_.reset(avcodec_alloc_context3(codec));
    encoder_->width = (size.width + 1) / 2 * 2;  // 4:2:0 video has even sizes
    encoder_->height = (size.height + 1) / 2 * 2;
    encoder_->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder_->time_base = av_inv_q(av_d2q(rate, 100'000));
    encoder_->bit_rate = 8'000'000;
    encoder_->colorspace = AVCOL_SPC_SMPTE170M;  // what swscale converts to unless told
    encoder_->color_range = AVCOL_RANGE_MPEG;
    if (output->oformat->flags & AVFMT_GLOBALHEADER) encoder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    check(avcodec_open2(encoder_.get(), codec, nullptr));
    stream_ = avformat_new_stream(output, nullptr);
    check(avcodec_parameters_from_context(stream_->codecpar, encoder_.get()));
    stream_->time_base = encoder_->time_base;
    check(avio_open(&output->pb, path.c_str(), AVIO_FLAG_WRITE));
    check(avformat_write_header(output, nullptr));
    picture_->width = encoder_->width;
    picture_->height = encoder_->height;
    picture_->format = encoder_->pix_fmt;
    check(av_frame_get_buffer(picture_.get(), 0));
    converter_.reset(sws_getContext(size.width, size.height, AV_PIX_FMT_RGB24, encoder_->width, encoder_->height,
                                    encoder_->pix_fmt, SWS_BILINEAR, nullptr, nullptr, nullptr));
  }

  void write(const std::vector<std::uint8_t>& rgb) override {
    check(av_frame_make_writable(picture_.get()));
    const std::uint8_t* const planes[] = {rgb.data()};
    const int row = size_.width * 3;
    sws_scale(converter_.get(), planes, &row, 0, size_.height, picture_->data, picture_->linesize);
    picture_->pts = count_++;
    encode(picture_.get());
  }

  void finish() override {
    encode(nullptr);
    check(av_write_trailer(output_.get()));
  }

 private:
  void check(int code) const {
    if (code < 0) throw std::runtime_error("cannot write " + path_ + ": " + ffmpeg_error(code));
  }

  void encode(const AVFrame* picture) {
    check(avcodec_send_frame(encoder_.get(), picture));
    for (;;) {
      const int got = avcodec_receive_packet(encoder_.get(), packet_.get());
      if (got == AVERROR(EAGAIN) || got == AVERROR_EOF) return;
      check(got);
      av_packet_rescale_ts(packet_.get(), encoder_->time_base, stream_->time_base);
      check(av_interleaved_write_frame(output_.get(), packet_.get()));
    }
  }

  std::string path_;
  Size size_;
  std::unique_ptr<AVFormatContext, CloseOutput> output_;
  AVStream* stream_ = nullptr;
  Ffmpeg<AVCodecContext> encoder_;
  Ffmpeg<AVFrame> picture_{av_frame_alloc()};
  Ffmpeg<AVPacket> packet_{av_packet_alloc()};
  Ffmpeg<SwsContext> converter_;
  std::int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Writer> open_video_writer(const std::string& path, Size size, double rate) {
  return std::make_unique<VideoWriter>(path, size, rate);
}

}  // namespace video
