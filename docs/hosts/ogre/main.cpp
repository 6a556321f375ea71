// tessera in OGRE: a scene is rendered into a texture, tessera filters it, and OGRE shows the result in its window.
#include <EGL/egl.h>
#include <Ogre.h>
#include <OgreRectangle2D.h>

#include <memory>
#include <string>

#include <tessera/gles.h>
#include <tessera/tessera.h>

#include "check.h"

namespace gles = tessera::gles;

namespace {

constexpr int width = 320, height = 240;
const std::string group = "General";

Ogre::GpuProgramPtr program(const std::string& name, Ogre::GpuProgramType type, const std::string& glsl) {
  const auto made = Ogre::HighLevelGpuProgramManager::getSingleton().createProgram(name, group, "glsl", type);
  made->setSource("#version 330 core\n" + glsl);
  return made;
}

Ogre::Pass* material(const std::string& name, const std::string& vertex_glsl, const std::string& fragment_glsl) {
  Ogre::Pass* const pass = Ogre::MaterialManager::getSingleton().create(name, group)->getTechnique(0)->getPass(0);
  pass->setVertexProgram(program(name + " vertex", Ogre::GPT_VERTEX_PROGRAM, vertex_glsl)->getName());
  pass->setFragmentProgram(program(name + " fragment", Ogre::GPT_FRAGMENT_PROGRAM, fragment_glsl)->getName());
  pass->setCullingMode(Ogre::CULL_NONE);
  return pass;
}

Ogre::TexturePtr target(const std::string& name) {
  return Ogre::TextureManager::getSingleton().createManual(name, group, Ogre::TEX_TYPE_2D, width, height, 0,
                                                           Ogre::PF_BYTE_RGBA, Ogre::TU_RENDERTARGET);
}

// Two triangles that turn before a camera; gives what turns.
Ogre::SceneNode* fill(Ogre::SceneManager* scene) {
  material("colored",
           "uniform mat4 view; in vec4 vertex; in vec4 colour; out vec4 shade;\n"
           "void main() { shade = colour; gl_Position = view * vertex; }",
           "in vec4 shade; out vec4 color; void main() { color = shade; }")
      ->getVertexProgramParameters()
      ->setNamedAutoConstant("view", Ogre::GpuProgramParameters::ACT_WORLDVIEWPROJ_MATRIX);
  Ogre::ManualObject* const shape = scene->createManualObject("shape");
  shape->begin("colored", Ogre::RenderOperation::OT_TRIANGLE_LIST);
  for (int i = 0; i < 6; ++i) {
    const float angle = static_cast<float>(i) * 1.3f;
    shape->position(2 * Ogre::Math::Cos(angle), 2 * Ogre::Math::Sin(angle), static_cast<float>(i % 2));
    shape->colour(static_cast<float>(i % 3) / 2, static_cast<float>(i) / 6, static_cast<float>(i % 2));
  }
  shape->end();
  Ogre::SceneNode* const node = scene->getRootSceneNode()->createChildSceneNode();
  node->attachObject(shape);
  return node;
}

Ogre::Camera* camera(Ogre::SceneManager* scene) {
  Ogre::Camera* const made = scene->createCamera("camera");
  made->setNearClipDistance(0.1f);
  made->setAspectRatio(static_cast<float>(width) / height);
  scene->getRootSceneNode()->createChildSceneNode(Ogre::Vector3(0, 0, 6))->attachObject(made);
  return made;
}

// A scene that is the texture over the whole window.
std::unique_ptr<Ogre::Rectangle2D> fill_with(Ogre::SceneManager* scene, const Ogre::TexturePtr& texture) {
  Ogre::Pass* const pass = material("textured",
                                    "in vec4 vertex; in vec2 uv0; out vec2 uv;\n"
                                    "void main() { uv = uv0; gl_Position = vec4(vertex.xy, 0.0, 1.0); }",
                                    "uniform sampler2D picture; in vec2 uv; out vec4 color;\n"
                                    "void main() { color = texture(picture, uv); }");
  pass->createTextureUnitState()->setTexture(texture);
  pass->setDepthCheckEnabled(false);
  auto rectangle = std::make_unique<Ogre::Rectangle2D>(true);
  rectangle->setMaterial(Ogre::MaterialManager::getSingleton().getByName("textured"));
  rectangle->setCorners(-1, 1, 1, -1);
  rectangle->setBoundingBox(Ogre::AxisAlignedBox::BOX_INFINITE);
  scene->getRootSceneNode()->createChildSceneNode()->attachObject(rectangle.get());
  return rectangle;
}

}  // namespace

int main() {
  Ogre::LogManager logs;
  logs.createLog("ogre", true, false, true);  // neither on the terminal nor into a file
  Ogre::Root root("", "", "");
  root.loadPlugin(std::string(OGRE_PLUGINS) + "/RenderSystem_GL3Plus");
  root.setRenderSystem(root.getAvailableRenderers().front());
  root.initialise(false);
  const Ogre::NameValuePairList options{{"vsync", "false"}};
  Ogre::RenderWindow* const window = root.createRenderWindow("tessera in OGRE", width, height, false, &options);
  Ogre::ResourceGroupManager::getSingleton().initialiseAllResourceGroups();
  Ogre::SceneManager *const scene = root.createSceneManager(), *const screen = root.createSceneManager();
  const Ogre::TexturePtr rendered = target("rendered"), filtered = target("filtered");
  Ogre::RenderTarget* const into = rendered->getBuffer()->getRenderTarget();
  into->addViewport(camera(scene))->setBackgroundColour(Ogre::ColourValue(0.1f, 0.2f, 0.3f));
  into->setAutoUpdated(false);
  Ogre::SceneNode* const node = fill(scene);
  const auto rectangle = fill_with(screen, filtered);
  window->addViewport(camera(screen));

  hosts::Check check("ogre", eglGetProcAddress);
  tessera::Context gpu = gles::adopt_current({.on_message = check.listener()});
  const gles::HostTexture drawn{
      .texture = rendered->getCustomAttribute("GLID"), .width = width, .height = height, .channels = "RGB"};
  const gles::HostTexture shown{.texture = filtered->getCustomAttribute("GLID"), .width = width, .height = height};

  while (check.wants_frames()) {
    node->roll(Ogre::Degree(2));
    into->update();
    check.before_tessera();

    gles::to_texture(hosts::filter(gles::from_texture(gpu, drawn)), shown);

    check.after_tessera(gpu, drawn, shown);
    root.renderOneFrame();
  }
  return check.finish();
}  // tessera's context goes before `root`, which shuts OGRE down
