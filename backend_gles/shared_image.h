// Images that several devices of one driver share, as textures of ANGLE's.
#pragma once
#include <memory>

#include "backend_gles/device.h"
#include "core/platform/shared_image.h"

namespace tessera::gles {

// Functions beyond WebGL2, loaded when a context shares an image for the first time.
struct SharingFunctions {
  void(GLAD_API_PTR* CreateMemoryObjects)(GLsizei, GLuint*);
  void(GLAD_API_PTR* DeleteMemoryObjects)(GLsizei, const GLuint*);
  void(GLAD_API_PTR* ImportMemoryFd)(GLuint, GLuint64, GLenum, GLint);
  void(GLAD_API_PTR* TexStorageMemFlags2D)(GLenum, GLsizei, GLenum, GLsizei, GLsizei, GLuint, GLuint64, GLbitfield,
                                           GLbitfield, const void*);
  void(GLAD_API_PTR* GenSemaphores)(GLsizei, GLuint*);
  void(GLAD_API_PTR* DeleteSemaphores)(GLsizei, const GLuint*);
  void(GLAD_API_PTR* ImportSemaphoreFd)(GLuint, GLenum, GLint);
  void(GLAD_API_PTR* WaitSemaphore)(GLuint, GLuint, const GLuint*, GLuint, const GLuint*, const GLenum*);
  void(GLAD_API_PTR* SignalSemaphore)(GLuint, GLuint, const GLuint*, GLuint, const GLuint*, const GLenum*);
};

std::shared_ptr<const SharingFunctions> load_sharing(const Device&);  // null where the context lacks a function

std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<const Device>&,
                                            const std::shared_ptr<const SharingFunctions>&,
                                            const std::shared_ptr<SharedImage>&);

}  // namespace tessera::gles
