# SYNOPSIS
#
#   ASSAY_CHECK_HIP
#
# DESCRIPTION
#
#   A hipcc that really compiles, for each architecture of HIP_ARCHS, and a
#   HIP run-time library that the C compiler links.  A hipcc that is broken is
#   as good as none; its own default architecture is never used.  Substitutes
#   HIPCC, HIPCCFLAGS, HIP_FLAGS (its --offload-arch words), HIP_BUILT (the
#   architectures), HIP_CFLAGS and HIP_LIBS (for the C compiler).

AC_DEFUN([ASSAY_CHECK_HIP], [
ASSAY_ARG_WITH([hip], [ROCm's HIP, for AMD GPUs @<:@if found@:>@])
AC_ARG_VAR([HIPCC], [HIP compiler])
AC_ARG_VAR([HIP_ARCHS], [GPUs to compile for, those that HIPCC does not know
  are left out @<:@gfx908,gfx90a:xnack+,gfx90a:xnack-,gfx940,gfx942,gfx950@:>@])
AC_ARG_VAR([HIPCCFLAGS], [its options @<:@-O3@:>@])
: "${HIP_ARCHS=gfx908,gfx90a:xnack+,gfx90a:xnack-,gfx940,gfx942,gfx950}"
: "${HIPCCFLAGS=-O3}"
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
HIP_BUILT=`AS_ECHO(["$HIP_FLAGS"]) | sed 's/--offload-arch=//g'`
AC_SUBST([HIP_BUILT])
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
assay_left_hip=
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
    [assay_left_hip="$assay_left_hip $assay_arch"
     AC_MSG_RESULT([no])])
done
dnl gfx90a and gfx90a:xnack+, say, exclude each other.
rm -f conftest.o
assay_hip_together=yes
AS_IF([test -n "$HIP_FLAGS"],
  [AC_MSG_CHECKING([whether $HIPCC compiles for all of these at once])
   AS_IF([("$HIPCC" $HIPCCFLAGS $HIP_FLAGS -c conftest.hip -o conftest.o) >&AS_MESSAGE_LOG_FD 2>&1 &&
          test -s conftest.o],
     [],
     [assay_hip_together=no])
   AC_MSG_RESULT([$assay_hip_together])])
rm -f conftest.hip conftest.o
AS_IF([test "$assay_hip_together" = no],
  [assay_why_hip="$HIPCC compiles for each of $HIP_ARCHS, but not for all at once (see config.log): set HIP_ARCHS"
   HIP_FLAGS=
   AS_IF([test "$assay_ask_hip" = maybe],
     [AC_MSG_NOTICE([HIP is left out: $assay_why_hip])])],
  [test -z "$HIP_FLAGS"],
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
      assay_why_hip="$assay_why_hip ($HIPCC, `AS_ECHO(["$HIP_FLAGS"]) | sed 's/--offload-arch=//g'`${assay_left_hip:+; it knows not:$assay_left_hip})"],
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
#   An nvcc, NVIDIA's or SCALE's, that really compiles and links a shared
#   object.  Substitutes NVCC, NVCC_FLAGS (as given, or code for each of
#   CUDA_ARCHS that it knows, and for later ones) and CUDA_BUILT (what that
#   is for).

AC_DEFUN([ASSAY_CHECK_CUDA], [
ASSAY_ARG_WITH([cuda], [NVIDIA's CUDA, for NVIDIA GPUs @<:@if found@:>@])
AC_ARG_VAR([NVCC], [CUDA compiler, or SCALE's])
AC_ARG_VAR([NVCC_FLAGS], [its options, such as -arch=sm_90 or, of SCALE's,
  -arch=gfx942, instead of CUDA_ARCHS])
AC_ARG_VAR([CUDA_ARCHS], [GPUs to compile for @<:@75,80,90,100@:>@])
: "${CUDA_ARCHS=75,80,90,100}"
CUDA_BUILT=$NVCC_FLAGS
AS_IF([test "$cross_compiling" = yes && test "$assay_ask_cuda" = maybe],
    [assay_why_cuda="cross compiling"],
  [test "$assay_ask_cuda" != no], [
  AS_IF([test -n "$assay_dir_cuda" && test -z "$NVCC"],
    [NVCC=$assay_dir_cuda/bin/nvcc],
    [test -z "$NVCC"],
    [AC_PATH_PROG([NVCC], [nvcc], [],
      [$PATH$PATH_SEPARATOR${CUDA_HOME:-/usr/local/cuda}/bin])])
  AS_IF([test -z "$NVCC"],
    [assay_why_cuda="nvcc not found in PATH or ${CUDA_HOME:-/usr/local/cuda}/bin"],
    [ASSAY_PROBE_CUDA])
])
AC_SUBST([CUDA_BUILT])
ASSAY_FEATURE_RESULT([cuda])
])

# SYNOPSIS
#
#   ASSAY_PROBE_CUDA
#
# DESCRIPTION
#
#   The tries of ASSAY_CHECK_CUDA, which calls it with NVCC set.

AC_DEFUN([ASSAY_PROBE_CUDA], [
assay_left_cuda=
cat >conftest.cu <<'_ACEOF'
__global__ void add(int *p) { p[[threadIdx.x]] += 1; }
extern "C" int run(int *p) { add<<<1, 1>>>(p); return (int)cudaGetLastError(); }
_ACEOF
AS_IF([test -z "$NVCC_FLAGS"], [
  for assay_arch in `AS_ECHO(["$CUDA_ARCHS"]) | tr ',' ' '`
  do
    AC_MSG_CHECKING([whether $NVCC compiles for sm_$assay_arch])
    assay_word="-gencode arch=compute_$assay_arch,code=sm_$assay_arch"
    rm -f conftest.o
    AS_IF([("$NVCC" $assay_word -c conftest.cu -o conftest.o) >&AS_MESSAGE_LOG_FD 2>&1 &&
           test -s conftest.o],
      [NVCC_FLAGS="${NVCC_FLAGS:+$NVCC_FLAGS }$assay_word"
       CUDA_BUILT="${CUDA_BUILT:+$CUDA_BUILT }sm_$assay_arch"
       assay_last=$assay_arch
       AC_MSG_RESULT([yes])],
      [assay_left_cuda="$assay_left_cuda sm_$assay_arch"
       AC_MSG_RESULT([no])])
  done
  AS_IF([test -n "$NVCC_FLAGS"],
    [NVCC_FLAGS="-O3 $NVCC_FLAGS -gencode arch=compute_$assay_last,code=compute_$assay_last"
     CUDA_BUILT="$CUDA_BUILT compute_$assay_last"])
])
AC_MSG_CHECKING([whether $NVCC makes a shared object])
rm -f conftest.so
AS_IF([test -z "$NVCC_FLAGS"],
  [assay_why_cuda="$NVCC compiles for none of $CUDA_ARCHS (see config.log)"
   AC_MSG_RESULT([no])],
  [("$NVCC" $NVCC_FLAGS -Xcompiler -fPIC -shared conftest.cu -o conftest.so) >&AS_MESSAGE_LOG_FD 2>&1 &&
   test -s conftest.so],
  [assay_with_cuda=yes
   assay_why_cuda=`"$NVCC" --version 2>/dev/null | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
   assay_why_cuda="${assay_why_cuda:-found} ($NVCC, $CUDA_BUILT${assay_left_cuda:+; it knows not:$assay_left_cuda})"
   AC_MSG_RESULT([yes])],
  [assay_why_cuda="$NVCC $NVCC_FLAGS makes no shared object (see config.log)"
   AC_MSG_RESULT([no])])
rm -f conftest.cu conftest.o conftest.so
AS_IF([test "$assay_with_cuda" = no && test "$assay_ask_cuda" = maybe],
  [AC_MSG_NOTICE([$NVCC is there but does not work: CUDA is left out])])
])
