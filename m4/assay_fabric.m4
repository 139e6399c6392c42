# What moves bytes below MPI: UCX and libfabric, each a transport of
# simpleBandwidth.

# SYNOPSIS
#
#   ASSAY_CHECK_UCX
#
# DESCRIPTION
#
#   UCX 1.10 or newer: DIR, pkg-config, or where the linker looks anyhow.
#   Defines HAVE_UCX; substitutes UCX_CFLAGS and UCX_LIBS.

AC_DEFUN([ASSAY_CHECK_UCX], [
ASSAY_ARG_WITH([ucx], [UCX, a transport below MPI @<:@if found@:>@])
ASSAY_TRY_FABRIC([ucx], [UCX], [UCX 1.10 or newer], [-lucp -lucs],
  [AC_LANG_PROGRAM([
#include <ucp/api/ucp.h>
#if UCP_API_VERSION < UCP_VERSION(1, 10)
#error too old
#endif
], [
ucp_request_param_t p = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH};
return ucp_put_nbx(0, 0, 0, 0, 0, &p) != 0;
])],
  [#include <ucp/api/ucp_version.h>], [
#ifdef UCP_API_MAJOR
UCP_API_MAJOR . UCP_API_MINOR
#endif
],
  [ucp/api/ucp.h], [ucp])
AS_IF([test "$assay_with_ucx" = yes],
  [AC_DEFINE([HAVE_UCX], [1], [Define to 1 to move blocks by UCX, too.])])
])

# SYNOPSIS
#
#   ASSAY_CHECK_LIBFABRIC
#
# DESCRIPTION
#
#   libfabric 1.9 or newer, looked for as UCX is.  Defines HAVE_LIBFABRIC;
#   substitutes LIBFABRIC_CFLAGS and LIBFABRIC_LIBS.

AC_DEFUN([ASSAY_CHECK_LIBFABRIC], [
ASSAY_ARG_WITH([libfabric],
  [libfabric, a transport below MPI @<:@if found@:>@])
ASSAY_TRY_FABRIC([libfabric], [LIBFABRIC], [libfabric 1.9 or newer],
  [-lfabric],
  [AC_LANG_PROGRAM([
#include <rdma/fabric.h>
#include <rdma/fi_rma.h>
#if FI_VERSION_LT(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), FI_VERSION(1, 9))
#error too old
#endif
], [return fi_getinfo(FI_VERSION(1, 9), 0, 0, 0, 0, 0);])],
  [#include <rdma/fabric.h>], [
#ifdef FI_MAJOR_VERSION
FI_MAJOR_VERSION . FI_MINOR_VERSION
#endif
],
  [rdma/fabric.h], [fabric])
AS_IF([test "$assay_with_libfabric" = yes],
  [AC_DEFINE([HAVE_LIBFABRIC], [1],
    [Define to 1 to move blocks by libfabric, too.])])
])

# SYNOPSIS
#
#   ASSAY_TRY_FABRIC(NAME, PREFIX, WHAT, LIBS, PROGRAM, HEADERS, VERSION,
#     HEADER, LIBRARY)
#
# DESCRIPTION
#
#   What both have in common.  Sets PREFIX_CFLAGS and PREFIX_LIBS to what
#   compiles and links PROGRAM, and closes the search.  HEADER and LIBRARY are
#   what DIR must have.

AC_DEFUN([ASSAY_TRY_FABRIC], [
$2_CFLAGS=
$2_LIBS=
AS_IF([test "$assay_ask_$1" != no], [
  AC_MSG_CHECKING([for $3])
  AS_IF([test -n "$assay_dir_$1"],
      [assay_tried=$assay_dir_$1
       ASSAY_FEATURE_IN_DIR([$1], [$8], [$9])
       $2_CFLAGS="-I$assay_dir_$1/include"
       $2_LIBS="-L$assay_lib_$1 -Wl,-rpath,$assay_lib_$1 $4"],
    [$PKG_CONFIG --exists $1 >/dev/null 2>&1 && test "$PKG_CONFIG" != :],
      [assay_tried="$PKG_CONFIG $1"
       $2_CFLAGS=`$PKG_CONFIG --cflags $1`
       $2_LIBS=`$PKG_CONFIG --libs $1`],
      [assay_tried="headers and $4 where compiler and linker look"
       $2_LIBS="$4"])
  assay_save_CFLAGS=$CFLAGS
  assay_save_LIBS=$LIBS
  CFLAGS="$CFLAGS $$2_CFLAGS"
  LIBS="$$2_LIBS $LIBS"
  AC_LINK_IFELSE([$5],
    [assay_with_$1=yes
     ASSAY_CPP_WORDS([assay_why_$1], [$6], [$7])
     AS_IF([test -z "$assay_why_$1"], [assay_why_$1=found])
     AC_MSG_RESULT([$assay_why_$1])],
    [assay_why_$1="no $3 that compiles and links (tried $assay_tried)"
     $2_CFLAGS=
     $2_LIBS=
     AC_MSG_RESULT([no])])
  CFLAGS=$assay_save_CFLAGS
  LIBS=$assay_save_LIBS
])
AC_SUBST([$2_CFLAGS])
AC_SUBST([$2_LIBS])
ASSAY_FEATURE_RESULT([$1])
])
