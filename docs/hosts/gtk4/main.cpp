// tessera in a GtkGLArea of GTK 4. `gtk4 es` asks for OpenGL ES instead of OpenGL.
#include <EGL/egl.h>
#include <gtk/gtk.h>

#include <cstring>
#include <optional>

#include <tessera/gles.h>
#include <tessera/result.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

namespace {

constexpr int width = 320, height = 240;

struct Filtered {
  std::optional<hosts::Check> check{};
  std::optional<hosts::Canvas> scene{};
  std::optional<tessera::Context> gpu{};
  int result = 1;
  bool is_open = true;
};

// GTK has made the area's context: adopt it. No exception may leave what GTK calls.
void on_realize(GtkGLArea* area, Filtered* self) {
  gtk_gl_area_make_current(area);
  if (const GError* const error = gtk_gl_area_get_error(area)) {  // another context is current now, or none
    g_warning("%s", error->message);
    return;
  }
  const auto done = tessera::attempt([&] {
    self->check.emplace("gtk4", eglGetProcAddress);
    self->scene.emplace(self->check->gl(), width, height);
    self->gpu = gles::adopt_current({.on_message = self->check->listener()});
  });
  if (!done) g_warning("%s", done.failure().message.c_str());
}

// The last moment at which the context is there.
void on_unrealize(GtkGLArea* area, Filtered* self) {
  gtk_gl_area_make_current(area);
  self->gpu.reset();
}

gboolean on_render(GtkGLArea* area, GdkGLContext*, Filtered* self) {
  if (!self->gpu) return FALSE;
  self->scene->draw(self->check->gl(), self->check->frame());
  gtk_gl_area_attach_buffers(area);  // the area's framebuffer, which is the one to draw into
  int framebuffer = 0;
  self->check->gl().GetIntegerv(hosts::gl::draw_framebuffer_binding, &framebuffer);
  const gles::HostTexture drawn{.texture = self->scene->texture, .width = width, .height = height, .channels = "RGB"};
  const gles::HostFramebuffer shown{
      .framebuffer = static_cast<unsigned>(framebuffer), .width = width, .height = height};
  self->check->before_tessera();

  const auto done =
      tessera::attempt([&] { gles::to_texture(hosts::filter(gles::from_texture(*self->gpu, drawn)), shown); });

  if (!done) self->check->fail(done.failure().message);
  self->check->after_tessera(*self->gpu, drawn, shown);
  return TRUE;
}

gboolean on_tick(GtkWidget* area, GdkFrameClock*, void* data) {
  auto* const self = static_cast<Filtered*>(data);
  if (self->gpu && self->check->wants_frames()) {
    gtk_gl_area_queue_render(GTK_GL_AREA(area));
    return G_SOURCE_CONTINUE;
  }
  if (self->gpu) self->result = self->check->finish();
  self->is_open = false;
  return G_SOURCE_REMOVE;
}

}  // namespace

int main(int argc, char** argv) {
  if (!gtk_init_check()) return 1;
  Filtered self;
  GtkWidget *const window = gtk_window_new(), *const area = gtk_gl_area_new();
  gtk_gl_area_set_use_es(GTK_GL_AREA(area), argc > 1 && std::strcmp(argv[1], "es") == 0);
  gtk_widget_set_size_request(area, width, height);
  g_signal_connect(area, "realize", G_CALLBACK(on_realize), &self);
  g_signal_connect(area, "unrealize", G_CALLBACK(on_unrealize), &self);
  g_signal_connect(area, "render", G_CALLBACK(on_render), &self);
  gtk_widget_add_tick_callback(area, on_tick, &self, nullptr);
  gtk_window_set_title(GTK_WINDOW(window), "tessera in GTK 4");
  gtk_window_set_resizable(GTK_WINDOW(window), FALSE);
  gtk_window_set_child(GTK_WINDOW(window), area);
  gtk_window_present(GTK_WINDOW(window));
  while (self.is_open && g_list_model_get_n_items(gtk_window_get_toplevels()) > 0)
    g_main_context_iteration(nullptr, TRUE);
  if (g_list_model_get_n_items(gtk_window_get_toplevels()) > 0) gtk_window_destroy(GTK_WINDOW(window));
  return self.result;
}
