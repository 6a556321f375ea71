// tessera: tensors on the GPU, for engines whose frames are already there. Include this one.
#pragma once
#include <tessera/context.h>
#include <tessera/dtype.h>
#include <tessera/error.h>
#include <tessera/image.h>
#include <tessera/pointwise.h>
#include <tessera/reduce.h>
#include <tessera/shape.h>
#include <tessera/tensor.h>
