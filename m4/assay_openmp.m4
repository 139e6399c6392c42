# SYNOPSIS
#
#   ASSAY_OPENMP
#
# DESCRIPTION
#
#   Find the OpenMP flags (AC_OPENMP) and stop if there are none, since one
#   thread does not measure a node; --disable-openmp says that this is meant.
#   Refuses to start where files that the probes would overwrite exist.  Sets
#   assay_openmp to what the table at the end says.

AC_DEFUN([ASSAY_OPENMP], [
for assay_file in mp penmp
do
  AS_IF([test -e "$assay_file" || test -h "$assay_file"],
    [AC_MSG_ERROR([the OpenMP probe would overwrite the file $assay_file in this folder: move it away, or configure in another folder])])
done
AC_OPENMP
AS_IF([test "x$enable_openmp" = xno],
    [assay_openmp="no: --disable-openmp, one thread only"],
  [test "x$ac_cv_prog_c_openmp" = xunsupported],
    [AC_MSG_ERROR([$CC does not compile and link OpenMP (clang wants the package libomp-dev); --disable-openmp builds programs of one thread])],
    [assay_openmp="yes, ${OPENMP_CFLAGS:-no flag needed}"])
])
