// tessera in a pipeline of GStreamer: a glfilterapp whose drawing is tessera's. GST_GL_API=gles2 has it on OpenGL ES.
#include <gst/gl/gl.h>
#include <gst/gst.h>

#include <optional>

#include <tessera/gles.h>
#include <tessera/result.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

namespace {

struct Filtered {
  std::optional<hosts::Check> check{};
  std::optional<tessera::Context> gpu{};
};

// On GStreamer's GL thread, with its context current and the filter's framebuffer bound. No exception may leave it.
gboolean on_draw(GstElement* filter, unsigned texture, unsigned width, unsigned height, Filtered* self) {
  const auto done = tessera::attempt([&] {
    if (!self->gpu) {
      GstGLContext* const context = GST_GL_BASE_FILTER(filter)->context;
      const auto loader = [context](const char* name) { return gst_gl_context_get_proc_address(context, name); };
      self->check.emplace("gstreamer", loader);
      self->gpu = gles::adopt_current(loader, {.on_message = self->check->listener()});
    }
    int framebuffer = 0;
    self->check->gl().GetIntegerv(hosts::gl::draw_framebuffer_binding, &framebuffer);
    const int wide = static_cast<int>(width), high = static_cast<int>(height);
    const gles::HostTexture drawn{.texture = texture, .width = wide, .height = high, .channels = "RGB"};
    const gles::HostFramebuffer shown{.framebuffer = static_cast<unsigned>(framebuffer), .width = wide, .height = high};
    self->check->before_tessera();

    gles::to_texture(hosts::filter(gles::from_texture(*self->gpu, drawn)), shown);

    self->check->after_tessera(*self->gpu, drawn, shown);
  });
  if (!done) g_warning("%s", done.failure().message.c_str());
  return static_cast<bool>(done);
}

// The pipeline ends, and its context will go: this runs on the GL thread, too.
void let_go(GstGLContext*, void* data) { static_cast<Filtered*>(data)->gpu.reset(); }

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GError* error = nullptr;
  GstElement* const pipeline = gst_parse_launch(
      "videotestsrc num-buffers=200 horizontal-speed=2 ! video/x-raw,format=RGBA,width=320,height=240 ! glupload ! "
      "glfilterapp name=filter ! glimagesink sync=false",
      &error);
  if (error) {
    g_warning("%s", error->message);
    return 1;
  }
  Filtered self;
  GstElement* const filter = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
  g_signal_connect(filter, "client-draw", G_CALLBACK(on_draw), &self);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* const bus = gst_element_get_bus(pipeline);
  GstMessage* const end = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE,
                                                     static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  if (GST_MESSAGE_TYPE(end) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(end, &error, nullptr);
    g_warning("%s", error->message);
    g_clear_error(&error);
  }
  const int result = self.check ? self.check->finish() : 1;
  if (GstGLContext* const context = GST_GL_BASE_FILTER(filter)->context)
    gst_gl_context_thread_add(context, let_go, &self);
  gst_message_unref(end);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(filter);
  gst_object_unref(pipeline);
  return result;
}
