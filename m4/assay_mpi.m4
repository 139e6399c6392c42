# SYNOPSIS
#
#   ASSAY_CHECK_MPI
#
# DESCRIPTION
#
#   MPI for an ordinary CC.  If CC compiles and links MPI programs itself (CC
#   is mpicc, or Cray's cc), nothing is added.  Otherwise the wrapper MPICC, or
#   the first of mpicc, mpicc.openmpi, mpicc.mpich and cc that knows, is asked
#   what it would add, and the answer must link.  Substitutes MPICC,
#   MPI_CFLAGS, MPI_LIBS and MPIRUN, the launcher that belongs to the library.

AC_DEFUN([ASSAY_CHECK_MPI], [
ASSAY_ARG_WITH([mpi], [MPI, found through MPICC @<:@if found@:>@])
AC_ARG_VAR([MPICC], [MPI's compiler wrapper, which is asked for its flags])
AC_ARG_VAR([MPIRUN], [MPI's launcher, of the same library])
MPI_CFLAGS=
MPI_LIBS=
assay_mpicc=$MPICC
AS_IF([test "$assay_ask_mpi" != no], [
  AS_IF([test -n "$MPICC"],
      [assay_candidates=$MPICC
       AS_IF([! command -v "$MPICC" >/dev/null 2>&1],
         [AC_MSG_ERROR([MPICC=$MPICC: no such program])])],
    [test -n "$assay_dir_mpi"],
      [assay_candidates=$assay_dir_mpi/bin/mpicc],
      [assay_candidates="$CC mpicc mpicc.openmpi mpicc.mpich cc"])
  for assay_mpicc in "$MPICC" $assay_candidates
  do
    AS_IF([test -n "$assay_mpicc" && test "$assay_with_mpi" = no],
      [ASSAY_TRY_MPI])
  done
  AS_IF([test "$assay_with_mpi" = no],
    [assay_why_mpi="no MPI that compiles and links (tried $assay_candidates)"
     AS_IF([test -n "$MPICC"],
       [AC_MSG_ERROR([MPICC=$MPICC: $CC with the flags that it names (MPI_CFLAGS, MPI_LIBS in config.log) links no MPI program])])
     MPI_CFLAGS=
     MPI_LIBS=])
])
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])
AC_SUBST([MPI_LIBRARY])
ASSAY_FEATURE_RESULT([mpi])
])

# SYNOPSIS
#
#   ASSAY_TRY_MPI
#
# DESCRIPTION
#
#   One candidate of ASSAY_CHECK_MPI, $assay_mpicc: on success sets
#   assay_with_mpi, MPI_CFLAGS, MPI_LIBS, MPICC, MPIRUN and assay_why_mpi.

AC_DEFUN([ASSAY_TRY_MPI], [
AC_MSG_CHECKING([for MPI as $assay_mpicc has it])
MPI_CFLAGS=
MPI_LIBS=
AS_IF([test "$assay_mpicc" != "$CC"], [
  # Open MPI answers -showme:*, Cray --cray-print-opts; MPICH, Intel MPI and
  # MVAPICH print the whole command for -show, of which what concerns neither
  # optimisation nor language is kept.
  assay_words=`$assay_mpicc -showme:compile 2>/dev/null` &&
    assay_more=`$assay_mpicc -showme:link 2>/dev/null` ||
  { assay_words=`$assay_mpicc --cray-print-opts=cflags 2>/dev/null` &&
    assay_more=`$assay_mpicc --cray-print-opts=libs 2>/dev/null`; } ||
  { assay_words=`$assay_mpicc -show 2>/dev/null`; assay_more=; } ||
    assay_words=
  for assay_word in $assay_words $assay_more
  do
    AS_CASE([$assay_word],
      [-I* | -D*], [MPI_CFLAGS="${MPI_CFLAGS:+$MPI_CFLAGS }$assay_word"],
      [-L* | -l* | -Wl,* | -pthread],
        [MPI_LIBS="${MPI_LIBS:+$MPI_LIBS }$assay_word"])
  done
  AS_ECHO(["MPI_CFLAGS=$MPI_CFLAGS MPI_LIBS=$MPI_LIBS"]) >&AS_MESSAGE_LOG_FD
])
assay_save_CFLAGS=$CFLAGS
assay_save_LIBS=$LIBS
CFLAGS="$CFLAGS $MPI_CFLAGS"
LIBS="$MPI_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <mpi.h>], [return MPI_Init(0, 0);])],
  [assay_with_mpi=yes
   ASSAY_CPP_WORDS([assay_why_mpi], [#include <mpi.h>], [
#if defined OMPI_MAJOR_VERSION
"Open MPI" OMPI_MAJOR_VERSION . OMPI_MINOR_VERSION . OMPI_RELEASE_VERSION
#elif defined CRAY_MPICH_VERSION
"Cray MPICH" CRAY_MPICH_VERSION
#elif defined MVAPICH2_VERSION
"MVAPICH2" MVAPICH2_VERSION
#elif defined I_MPI_VERSION
"Intel MPI" I_MPI_VERSION
#elif defined MPICH_VERSION
"MPICH" MPICH_VERSION
#else
MPI MPI_VERSION . MPI_SUBVERSION
#endif
])
   AC_MSG_RESULT([$assay_why_mpi])
   MPI_LIBRARY=$assay_why_mpi
   ASSAY_FIND_MPIRUN
   MPICC=$assay_mpicc
   assay_why_mpi="$assay_why_mpi ($assay_mpicc${MPIRUN:+, $MPIRUN})"],
  [AC_MSG_RESULT([no])])
CFLAGS=$assay_save_CFLAGS
LIBS=$assay_save_LIBS
])

# SYNOPSIS
#
#   ASSAY_FIND_MPIRUN
#
# DESCRIPTION
#
#   Unless MPIRUN is given, take the launcher that stands beside
#   $assay_mpicc under the same ending (mpicc.mpich: mpirun.mpich), or, where
#   the library's own ending is known, that one: the launcher of another
#   library starts N programs that each believe to be alone.

AC_DEFUN([ASSAY_FIND_MPIRUN], [
AS_IF([test -z "$MPIRUN"], [
  assay_path=`command -v ${assay_mpicc%% *}`
  assay_ending=${assay_path##*/mpicc}
  AS_IF([test "$assay_ending" = "$assay_path"], [assay_ending=])
  AS_CASE([$assay_why_mpi],
    [Open\ MPI*], [assay_endings=".openmpi $assay_ending"],
    [MPICH*], [assay_endings=".mpich $assay_ending"],
    [assay_endings=$assay_ending])
  for assay_word in $assay_endings ''
  do
    AS_IF([test -z "$MPIRUN" && test -x "${assay_path%/*}/mpirun$assay_word"],
      [MPIRUN=${assay_path%/*}/mpirun$assay_word])
  done
])
])
