#include "bench/frames/stage.h"

#if TESSERA_HAS_GLES
#include <array>
#include <map>

#include "bench/frames/prelude.h"
#include "support/gles_host.h"

namespace tessera::bench {
namespace {

struct GlFormat {
  GLenum internal, format, type;
};

GlFormat gl_format_of(Format format) {
  switch (format) {
    case Format::r8: return {GL_R8, GL_RED, GL_UNSIGNED_BYTE};
    case Format::rg8: return {GL_RG8, GL_RG, GL_UNSIGNED_BYTE};
    case Format::rgba8: return {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE};
    case Format::rgba16f: return {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT};
    default: return {GL_RGBA32F, GL_RGBA, GL_FLOAT};
  }
}

// The textures of a name: one, or one for even and one for odd frames.
using GlTextures = std::map<std::string, std::vector<GLuint>>;

// A tensor of three channels has its elements in order, four to a texel.
Size texels_of(const Texture& texture, Format format) {
  return format == Format::tensor ? Size{texture.size.width * 3 / 4, texture.size.height} : texture.size;
}

GLuint gl_texture_on(test::GlesHost& host, const Texture& texture, Format format, const Bytes* contents) {
  const GlFormat gl_format = gl_format_of(format);
  const GLenum kind = texture.depth ? GL_TEXTURE_3D : GL_TEXTURE_2D;
  GLuint name = 0;
  if (texture.depth) {
    host.gl.GenTextures(1, &name);
    host.gl.BindTexture(kind, name);
    host.gl.TexImage3D(kind, 0, static_cast<GLint>(gl_format.internal), texture.size.width, texture.size.height,
                       texture.depth, 0, gl_format.format, gl_format.type, contents->data());
  } else {
    const Size texels = texels_of(texture, format);
    name = host.texture(gl_format.internal, texels.width, texels.height, gl_format.format, gl_format.type,
                        contents ? contents->data() : nullptr);
    host.gl.BindTexture(kind, name);
  }
  for (const GLenum axis : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R})
    host.gl.TexParameteri(kind, axis, GL_CLAMP_TO_EDGE);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    host.gl.TexParameteri(kind, filter, format == Format::tensor ? GL_NEAREST : GL_LINEAR);
  host.gl.BindTexture(kind, 0);
  host.expect_no_error("making a texture");
  return name;
}

std::vector<float> pixels_of(test::GlesHost& host, GLuint framebuffer, const Texture& texture) {
  const Size texels = texels_of(texture, texture.format);
  if (texture.format == Format::tensor)
    return host.pixels<float>(framebuffer, texels.width, texels.height, GL_RGBA, GL_FLOAT);
  Bytes bytes;
  const auto pixels =
      host.pixels<std::uint8_t>(framebuffer, texture.size.width, texture.size.height, GL_RGBA, GL_UNSIGNED_BYTE);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    if (i % 4 < components(texture.format)) bytes.push_back(pixels[i]);
  return normalised(bytes);
}

class GlslFrames : public Frames {
 public:
  GlslFrames(test::GlesHost& host, const Pipeline& pipeline, int channels, GlTextures textures, Format between)
      : host_(host), pipeline_(pipeline), textures_(std::move(textures)) {
    for (const Texture& texture : pipeline.between)
      textures_[texture.name] = {gl_texture_on(host, texture, between, nullptr)};
    if (const auto& history = pipeline.history)
      for (int i = 0; i < 2; ++i) textures_[history->name].push_back(gl_texture_on(host, *history, between, nullptr));
    for (const Texture& texture : pipeline.targets)
      textures_[texture.name] = {gl_texture_on(host, texture, texture.format, nullptr)};
    for (const Texture& texture : pipeline.targets) targets_.push_back(host.framebuffer(textures_.at(texture.name)[0]));
    for (const Pass& pass : pipeline.passes) steps_.push_back(step_of(pass, glsl_of(pipeline, pass, channels)));
    if (pipeline.history) clear_history();
  }

  void next() override {
    const std::size_t parity = frame_++ % 2;
    GladGLES2Context& gl = host_.gl;
    for (const Step& step : steps_) {
      gl.BindFramebuffer(GL_FRAMEBUFFER, step.framebuffers[parity]);
      gl.Viewport(0, 0, step.size.width, step.size.height);
      gl.UseProgram(step.program);
      for (std::size_t i = 0; i < step.reads.size(); ++i) {
        gl.ActiveTexture(static_cast<GLenum>(GL_TEXTURE0 + i));
        gl.BindTexture(step.reads[i].kind, step.reads[i].textures[parity]);
      }
      gl.DrawArrays(GL_TRIANGLES, 0, 3);
    }
    gl.Flush();
  }

  std::vector<float> values(std::size_t target) override {
    return pixels_of(host_, targets_[target], pipeline_.targets[target]);
  }

 private:
  struct Read {
    GLenum kind;
    std::array<GLuint, 2> textures;  // of even and odd frames
  };
  struct Step {
    GLuint program;
    std::array<GLuint, 2> framebuffers;
    std::vector<Read> reads;
    Size size;
  };

  GLuint at(const std::string& name, std::size_t version) const {
    const std::vector<GLuint>& versions = textures_.at(name);
    return versions[version % versions.size()];
  }

  Step step_of(const Pass& pass, const std::string& glsl) {
    GladGLES2Context& gl = host_.gl;
    const Texture& written = texture_of(pipeline_, pass.writes[0]);
    Step step{.program = host_.program(glsl), .size = texels_of(written, written.format)};
    gl.UseProgram(step.program);
    for (std::size_t i = 0; i < pass.reads.size(); ++i) {
      gl.Uniform1i(gl.GetUniformLocation(step.program, pass.reads[i].c_str()), static_cast<GLint>(i));
      step.reads.push_back({texture_of(pipeline_, pass.reads[i]).depth ? GLenum{GL_TEXTURE_3D} : GLenum{GL_TEXTURE_2D},
                            {at(pass.reads[i], 0), at(pass.reads[i], 1)}});
    }
    gl.UseProgram(0);
    for (std::size_t parity = 0; parity < 2; ++parity) {  // what there are two of, a history, is read by the next frame
      step.framebuffers[parity] = host_.framebuffer(at(pass.writes[0], parity + 1));
      if (pass.writes.size() == 1) continue;
      const GLenum both[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
      gl.BindFramebuffer(GL_FRAMEBUFFER, step.framebuffers[parity]);
      gl.FramebufferTexture2D(GL_FRAMEBUFFER, both[1], GL_TEXTURE_2D, at(pass.writes[1], parity + 1), 0);
      gl.DrawBuffers(2, both);
      gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
    }
    host_.expect_no_error("making a pass");
    return step;
  }

  void clear_history() {
    for (const GLuint texture : textures_.at(pipeline_.history->name)) {
      const float nothing[4] = {};
      host_.gl.BindFramebuffer(GL_FRAMEBUFFER, host_.framebuffer(texture));
      host_.gl.ClearBufferfv(GL_COLOR, 0, nothing);
    }
  }

  test::GlesHost& host_;
  const Pipeline& pipeline_;
  GlTextures textures_;
  std::vector<GLuint> targets_;  // framebuffers, to read from
  std::vector<Step> steps_;
  std::size_t frame_ = 0;
};

class GlesTensorFrames : public TensorFrames {
 public:
  GlesTensorFrames(Context& gpu, test::GlesHost& host, const Pipeline& pipeline, int channels,
                   const GlTextures& textures, Precision between)
      : TensorFrames(gpu, pipeline, channels, between), host_(host) {
    for (const Texture& source : pipeline.sources) sources_.push_back(textures.at(source.name));
    for (const Texture& target : pipeline.targets)
      targets_.push_back(gl_texture_on(host, target, target.format, nullptr));
  }

 private:
  static gles::HostTexture host_texture(const Texture& texture, GLuint name, const std::string& channels) {
    return {.texture = name,
            .width = texture.size.width,
            .height = texture.size.height,
            .channels = channels,
            .internal_format = gl_format_of(texture.format).internal};
  }
  Tensor imported(std::size_t source, std::size_t frame) override {
    const Texture& texture = pipeline_.sources[source];
    const GLuint name = sources_[source][frame % sources_[source].size()];
    return gles::from_texture(gpu_, host_texture(texture, name, channels_of(texture.format, channels_)));
  }
  void show(const Tensor& image, std::size_t target, const std::vector<Tensor>& also_compute) override {
    gles::to_texture(image, host_texture(pipeline_.targets[target], targets_[target], "RGBA"),
                     {.also_compute = also_compute});
  }
  std::vector<float> shown(std::size_t target) override {
    return pixels_of(host_, host_.framebuffer(targets_[target]), pipeline_.targets[target]);
  }

  test::GlesHost& host_;
  std::vector<std::vector<GLuint>> sources_;
  std::vector<GLuint> targets_;
};

class GlesStage : public Stage {
 public:
  GlesStage(const test::TestDevice& device, const Pipeline& pipeline, int channels, const HostWay& way)
      : host_(device),
        gpu_(host_.adopt({.restore_state = true, .check_state = false, .debug_groups = way.names_work},
                         {.tuning = Tuning::eager, .device_errors = errors_of(way)})),
        pipeline_(pipeline),
        channels_(channels) {
    for (const auto* list : {&pipeline.sources, &pipeline.tables})
      for (const Texture& texture : *list)
        for (const Bytes& contents : texture.contents)
          textures_[texture.name].push_back(gl_texture_on(host_, texture, texture.format, &contents));
  }

  std::unique_ptr<Frames> by_hand(Format between) override {
    return std::make_unique<GlslFrames>(host_, pipeline_, channels_, textures_, between);
  }
  std::unique_ptr<Frames> by_tensors(Precision between) override {
    return std::make_unique<GlesTensorFrames>(gpu_, host_, pipeline_, channels_, textures_, between);
  }
  Context& context() override { return gpu_; }
  void wait() override {
    host_.gl.Finish();
    host_.expect_no_error("a frame");
  }

 private:
  test::GlesHost host_;
  Context gpu_;
  const Pipeline& pipeline_;
  const int channels_;
  GlTextures textures_;
};

}  // namespace

std::unique_ptr<Stage> make_gles_stage(const test::TestDevice& device, const Pipeline& pipeline, int channels,
                                       const HostWay& way) {
  return std::make_unique<GlesStage>(device, pipeline, channels, way);
}

}  // namespace tessera::bench
#endif
