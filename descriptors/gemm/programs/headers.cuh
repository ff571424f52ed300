// What a program includes.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "plan_headers.cuh"
#if BARRIERS_USED
#include <cuda.h>
#include <cudaTypedefs.h>
#endif
#include <cuda_runtime.h>
