# SYNOPSIS
#
#   ASSAY_CHECK_HIP
#
# DESCRIPTION
#
#   A hipcc that really compiles, for each architecture of HIP_ARCHS, and a
#   HIP run-time library that the C compiler links.  A hipcc that is broken is
#   as good as none.  Substitutes HIPCC, HIP_FLAGS (its --offload-arch words),
#   HIP_CFLAGS and HIP_LIBS (for the C compiler).

AC_DEFUN([ASSAY_CHECK_HIP], [
ASSAY_ARG_WITH([hip], [ROCm's HIP, for AMD GPUs @<:@if found@:>@])
AC_ARG_VAR([HIPCC], [HIP compiler])
AC_ARG_VAR([HIP_ARCHS], [GPUs to compile for, those that HIPCC does not know
  are left out @<:@gfx908,gfx90a,gfx942,gfx950@:>@])
: "${HIP_ARCHS=gfx908,gfx90a,gfx942,gfx950}"
HIP_FLAGS=
HIP_CFLAGS=
HIP_LIBS=
AS_IF([test "$assay_ask_hip" != no], [
  AS_IF([test -n "$assay_dir_hip" && test -z "$HIPCC"],
    [HIPCC=$assay_dir_hip/bin/hipcc],
    [test -z "$HIPCC"],
    [AC_PATH_PROG([HIPCC], [hipcc], [],
      [$PATH$PATH_SEPARATOR${ROCM_PATH:-/opt/rocm}/bin])])
  AS_IF([test -z "$HIPCC"],
    [assay_why_hip="hipcc not found in PATH or ${ROCM_PATH:-/opt/rocm}/bin"],
    [ASSAY_PROBE_HIP])
])
AC_SUBST([HIP_FLAGS])
AC_SUBST([HIP_CFLAGS])
AC_SUBST([HIP_LIBS])
ASSAY_FEATURE_RESULT([hip])
])

# SYNOPSIS
#
#   ASSAY_PROBE_HIP
#
# DESCRIPTION
#
#   The tries of ASSAY_CHECK_HIP, which calls it with HIPCC set.

AC_DEFUN([ASSAY_PROBE_HIP], [
cat >conftest.hip <<'_ACEOF'
#include <hip/hip_runtime.h>
extern "C" __global__ void add(int *p) { p[[threadIdx.x]] += 1; }
_ACEOF
for assay_arch in `AS_ECHO(["$HIP_ARCHS"]) | tr ',' ' '`
do
  AC_MSG_CHECKING([whether $HIPCC compiles for $assay_arch])
  rm -f conftest.o
  AS_IF([("$HIPCC" --offload-arch=$assay_arch -c conftest.hip -o conftest.o) >&AS_MESSAGE_LOG_FD 2>&1 &&
         test -s conftest.o],
    [HIP_FLAGS="${HIP_FLAGS:+$HIP_FLAGS }--offload-arch=$assay_arch"
     AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])])
done
rm -f conftest.hip conftest.o
AS_IF([test -z "$HIP_FLAGS"],
  [assay_why_hip="$HIPCC compiles for none of $HIP_ARCHS (see config.log)"
   AS_IF([test "$assay_ask_hip" = maybe],
     [AC_MSG_NOTICE([$HIPCC is there but does not work: HIP is left out])])],
  [assay_hip_root=$assay_dir_hip
   AS_IF([test -z "$assay_hip_root"],
     [assay_hip_root=`AS_DIRNAME(["$HIPCC"])`/..])
   AS_IF([test -f /usr/include/hip/hip_runtime_api.h && test -z "$assay_dir_hip"],
     [HIP_CFLAGS=-D__HIP_PLATFORM_AMD__
      HIP_LIBS=-lamdhip64],
     [HIP_CFLAGS="-D__HIP_PLATFORM_AMD__ -isystem $assay_hip_root/include"
      HIP_LIBS="-L$assay_hip_root/lib -Wl,-rpath,$assay_hip_root/lib -lamdhip64"])
   AC_MSG_CHECKING([whether $CC links the HIP library])
   assay_save_CFLAGS=$CFLAGS
   assay_save_LIBS=$LIBS
   CFLAGS="$CFLAGS $HIP_CFLAGS"
   LIBS="$HIP_LIBS $LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <hip/hip_runtime_api.h>],
     [int n; return hipGetDeviceCount(&n) != hipSuccess;])],
     [assay_with_hip=yes
      AC_MSG_RESULT([yes])
      ASSAY_CPP_WORDS([assay_why_hip], [#include <hip/hip_version.h>],
        [HIP_VERSION_MAJOR . HIP_VERSION_MINOR . HIP_VERSION_PATCH])
      assay_why_hip="$assay_why_hip ($HIPCC, `AS_ECHO(["$HIP_FLAGS"]) | sed 's/--offload-arch=//g'`)"],
     [assay_why_hip="$CC does not link hipGetDeviceCount with $HIP_CFLAGS $HIP_LIBS"
      AC_MSG_RESULT([no])])
   CFLAGS=$assay_save_CFLAGS
   LIBS=$assay_save_LIBS])
])

# SYNOPSIS
#
#   ASSAY_CHECK_CUDA
#
# DESCRIPTION
#
#   An nvcc that really compiles.  Substitutes NVCC and NVCC_FLAGS.

AC_DEFUN([ASSAY_CHECK_CUDA], [
ASSAY_ARG_WITH([cuda], [NVIDIA's CUDA, for NVIDIA GPUs @<:@if found@:>@])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCC_FLAGS], [its options, such as -arch=sm_90])
AS_IF([test "$assay_ask_cuda" != no], [
  AS_IF([test -n "$assay_dir_cuda" && test -z "$NVCC"],
    [NVCC=$assay_dir_cuda/bin/nvcc],
    [test -z "$NVCC"],
    [AC_PATH_PROG([NVCC], [nvcc], [],
      [$PATH$PATH_SEPARATOR${CUDA_HOME:-/usr/local/cuda}/bin])])
  AS_IF([test -z "$NVCC"],
    [assay_why_cuda="nvcc not found in PATH or ${CUDA_HOME:-/usr/local/cuda}/bin"],
    [AC_MSG_CHECKING([whether $NVCC compiles])
     cat >conftest.cu <<'_ACEOF'
__global__ void add(int *p) { p[[threadIdx.x]] += 1; }
int main() { return 0; }
_ACEOF
     rm -f conftest.o
     AS_IF([("$NVCC" $NVCC_FLAGS -c conftest.cu -o conftest.o) >&AS_MESSAGE_LOG_FD 2>&1 &&
            test -s conftest.o],
       [assay_with_cuda=yes
        assay_why_cuda=`"$NVCC" --version 2>/dev/null | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
        assay_why_cuda="${assay_why_cuda:-found} ($NVCC)"
        AC_MSG_RESULT([yes])],
       [assay_why_cuda="$NVCC does not compile a kernel (see config.log)"
        AC_MSG_RESULT([no])
        AS_IF([test "$assay_ask_cuda" = maybe],
          [AC_MSG_NOTICE([$NVCC is there but does not work: CUDA is left out])])])
     rm -f conftest.cu conftest.o])
])
ASSAY_FEATURE_RESULT([cuda])
])
