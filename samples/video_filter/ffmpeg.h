// FFmpeg's headers, and its objects freed at the end of their scope.
#pragma once
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <memory>
#include <string>

namespace video {

struct FreeFfmpeg {
  void operator()(AVFormatContext* x) const { avformat_close_input(&x); }
  void operator()(AVCodecContext* x) const { avcodec_free_context(&x); }
  void operator()(AVFrame* x) const { av_frame_free(&x); }
  void operator()(AVPacket* x) const { av_packet_free(&x); }
  void operator()(SwsContext* x) const { sws_freeContext(x); }
};
template <class Object>
using Ffmpeg = std::unique_ptr<Object, FreeFfmpeg>;

inline std::string ffmpeg_error(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

}  // namespace video
