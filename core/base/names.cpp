// The names of enumerators, as messages print them.
#include <tessera/dtype.h>
#include <tessera/error.h>
#include <tessera/tensor.h>

namespace tessera {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::shape_mismatch: return "shape_mismatch";
    case ErrorCode::dtype_mismatch: return "dtype_mismatch";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::wrong_backend: return "wrong_backend";
    case ErrorCode::wrong_thread: return "wrong_thread";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::compile_failed: return "compile_failed";
    case ErrorCode::io: return "io";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::busy: return "busy";
  }
  return "unknown";
}

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::f16: return "f16";
    case DType::i32: return "i32";
    case DType::i8: return "i8";
    case DType::u8: return "u8";
    case DType::boolean: return "boolean";
  }
  return "unknown";
}

std::string_view to_string(BackendKind kind) {
  switch (kind) {
    case BackendKind::webgpu: return "webgpu";
    case BackendKind::gles: return "gles";
    case BackendKind::cpu: return "cpu";
  }
  return "unknown";
}

}  // namespace tessera
