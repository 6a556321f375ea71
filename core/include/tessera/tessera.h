// tessera: tensors on the GPU, for engines whose frames are already there. Include this one.
#pragma once
#include <tessera/context.h>
#include <tessera/dtype.h>
#include <tessera/error.h>
#include <tessera/gather.h>
#include <tessera/matmul.h>
#include <tessera/pointwise.h>
#include <tessera/program.h>
#include <tessera/quantize.h>
#include <tessera/random.h>
#include <tessera/reduce.h>
#include <tessera/row.h>
#include <tessera/scan.h>
#include <tessera/shape.h>
#include <tessera/sort.h>
#include <tessera/tensor.h>
