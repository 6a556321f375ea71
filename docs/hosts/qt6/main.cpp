// tessera in a QOpenGLWindow of Qt 6. `qt6 es` asks for OpenGL ES instead of OpenGL.
#include <QGuiApplication>
#include <QOpenGLContext>
#include <QOpenGLFramebufferObject>
#include <QOpenGLPaintDevice>
#include <QOpenGLWindow>
#include <QPainter>

#include <cstring>
#include <optional>

#include <tessera/gles.h>
#include <tessera/result.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

constexpr int scene_width = 320, scene_height = 240;

class Filtered : public QOpenGLWindow {
 public:
  int result = 1;

  ~Filtered() override {  // while Qt's context is still there
    makeCurrent();
    gpu_.reset();
    scene_.reset();
    doneCurrent();
  }

 protected:
  void initializeGL() override {
    const auto loader = [context = context()](const char* name) { return context->getProcAddress(name); };
    const auto done = tessera::attempt([&] {
      check_.emplace("qt6", loader);
      gpu_ = gles::adopt_current(loader, {.on_message = check_->listener()});
    });
    if (!done) qWarning("%s", done.failure().message.c_str());
    scene_.emplace(scene_width, scene_height);
  }

  void paintGL() override {
    if (!gpu_ || !check_->wants_frames()) {
      if (gpu_) result = check_->finish();
      QMetaObject::invokeMethod(this, &QWindow::close, Qt::QueuedConnection);
      return;
    }
    scene_->bind();
    {
      QOpenGLPaintDevice device(scene_width, scene_height);
      QPainter painter(&device);
      painter.fillRect(0, 0, scene_width, scene_height, QColor(20, 40, 60));
      painter.setRenderHint(QPainter::Antialiasing);
      for (int i = 0; i < 5; ++i) {
        painter.setBrush(QColor::fromHsv(70 * i, 200, 220));
        painter.drawEllipse((check_->frame() * (i + 1) + 60 * i) % scene_width, 30 + 36 * i, 60, 60);
      }
    }
    scene_->release();
    const gles::HostTexture drawn{
        .texture = scene_->texture(), .width = scene_width, .height = scene_height, .channels = "RGB"};
    const gles::HostFramebuffer shown{
        .framebuffer = defaultFramebufferObject(), .width = scene_width, .height = scene_height};
    check_->before_tessera();

    const auto done =
        tessera::attempt([&] { gles::to_texture(hosts::filter(gles::from_texture(*gpu_, drawn)), shown); });

    if (!done) check_->fail(done.failure().message);
    check_->after_tessera(*gpu_, drawn, shown);
    update();
  }

 private:
  std::optional<hosts::Check> check_{};
  std::optional<tessera::Context> gpu_{};
  std::optional<QOpenGLFramebufferObject> scene_{};
};

int main(int argc, char** argv) {
  QSurfaceFormat format;
  if (argc > 1 && std::strcmp(argv[1], "es") == 0) format.setRenderableType(QSurfaceFormat::OpenGLES);
  format.setVersion(3, format.renderableType() == QSurfaceFormat::OpenGLES ? 0 : 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  format.setSwapInterval(0);
  QSurfaceFormat::setDefaultFormat(format);
  QGuiApplication application(argc, argv);
  Filtered window;
  window.setTitle("tessera in Qt 6");
  window.resize(scene_width, scene_height);
  window.show();
  application.exec();
  return window.result;
}
