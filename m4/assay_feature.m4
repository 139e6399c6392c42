# Optional parts of the machine.  For each of them a macro sets
#
#   assay_with_NAME    yes or no
#   assay_why_NAME     for the table: the version found, or why not
#
# and obeys one rule: --with-NAME[=DIR] that finds nothing is an error that
# says what was tried; nothing asked for and nothing found leaves out what
# needs it, and says so in the table.

# SYNOPSIS
#
#   ASSAY_ARG_WITH(NAME, WHAT)
#
# DESCRIPTION
#
#   The option --with-NAME[=DIR|no].  Sets assay_ask_NAME to yes (asked for),
#   no (refused) or maybe, and assay_dir_NAME to DIR or nothing.

AC_DEFUN([ASSAY_ARG_WITH], [
AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1@<:@=DIR|no@:>@], [$2])],
  [],
  [with_$1=maybe])
assay_dir_$1=
AS_CASE([$with_$1],
  [yes | no | maybe], [assay_ask_$1=$with_$1],
  [''], [AC_MSG_ERROR([--with-$1= is empty: give a folder, or no])],
  [assay_ask_$1=yes
   assay_dir_$1=$with_$1
   AS_IF([test ! -d "$with_$1"],
     [AC_MSG_ERROR([--with-$1=$with_$1: no such folder])])])
assay_with_$1=no
assay_why_$1=
])

# SYNOPSIS
#
#   ASSAY_FEATURE_IN_DIR(NAME, HEADER, LIBRARY)
#
# DESCRIPTION
#
#   Of --with-NAME=DIR: stop unless DIR has include/HEADER and libLIBRARY,
#   since compiler and linker would go on and find those of elsewhere.  Sets
#   assay_lib_NAME to the folder of the library: DIR/lib, lib64, or one of the
#   machine's kind below lib.

AC_DEFUN([ASSAY_FEATURE_IN_DIR], [
AS_IF([test ! -f "$assay_dir_$1/include/$2"],
  [AC_MSG_ERROR([--with-$1=$assay_dir_$1: no include/$2 there])])
assay_lib_$1=
for assay_word in "$assay_dir_$1"/lib/lib$3.* "$assay_dir_$1"/lib64/lib$3.* \
  "$assay_dir_$1"/lib/*/lib$3.*
do
  AS_IF([test -z "$assay_lib_$1" && test -f "$assay_word"],
    [assay_lib_$1=${assay_word%/*}])
done
AS_IF([test -z "$assay_lib_$1"],
  [AC_MSG_ERROR([--with-$1=$assay_dir_$1: no lib$3 in lib or lib64 there])])
])

# SYNOPSIS
#
#   ASSAY_FEATURE_RESULT(NAME)
#
# DESCRIPTION
#
#   Close a search: stop if what was asked for is missing, else go on.  Sets
#   the automake conditional of that name in capitals (pmi2: PMI2).

AC_DEFUN([ASSAY_FEATURE_RESULT], [
AS_IF([test "$assay_ask_$1" = no], [assay_why_$1="--without-$1"])
AS_IF([test "$assay_ask_$1" = yes && test "$assay_with_$1" = no],
  [AC_MSG_ERROR([--with-$1 was asked for, but $assay_why_$1])])
AM_CONDITIONAL(m4_toupper([$1]), [test "$assay_with_$1" = yes])
])

# SYNOPSIS
#
#   ASSAY_CHECK_HWLOC
#
# DESCRIPTION
#
#   hwloc 2.4, through HWLOC_CFLAGS and HWLOC_LIBS if given, DIR, pkg-config, or
#   where the linker looks anyhow.  Without it the library reads /sys itself.
#   Defines HAVE_HWLOC; substitutes HWLOC_CFLAGS and HWLOC_LIBS.

AC_DEFUN([ASSAY_CHECK_HWLOC], [
ASSAY_ARG_WITH([hwloc], [hwloc, which describes the machine @<:@if found@:>@])
AC_ARG_VAR([HWLOC_CFLAGS], [compiler flags for hwloc, instead of a search])
AC_ARG_VAR([HWLOC_LIBS], [linker flags for hwloc, instead of a search])
AC_CHECK_TOOL([PKG_CONFIG], [pkg-config], [:])
AS_IF([test "$assay_ask_hwloc" != no], [
  AC_MSG_CHECKING([for hwloc 2.4 or newer])
  AS_IF([test -n "$HWLOC_CFLAGS$HWLOC_LIBS"],
      [assay_tried="HWLOC_CFLAGS and HWLOC_LIBS as given"],
    [test -n "$assay_dir_hwloc"],
      [assay_tried=$assay_dir_hwloc
       ASSAY_FEATURE_IN_DIR([hwloc], [hwloc.h], [hwloc])
       HWLOC_CFLAGS="-I$assay_dir_hwloc/include"
       HWLOC_LIBS="-L$assay_lib_hwloc -Wl,-rpath,$assay_lib_hwloc -lhwloc"],
    [$PKG_CONFIG --exists hwloc >/dev/null 2>&1 && test "$PKG_CONFIG" != :],
      [assay_tried="$PKG_CONFIG hwloc"
       HWLOC_CFLAGS=`$PKG_CONFIG --cflags hwloc`
       HWLOC_LIBS=`$PKG_CONFIG --libs hwloc`],
      [assay_tried="hwloc.h and -lhwloc where compiler and linker look"
       HWLOC_LIBS=-lhwloc])
  assay_save_CFLAGS=$CFLAGS
  assay_save_LIBS=$LIBS
  CFLAGS="$CFLAGS $HWLOC_CFLAGS"
  LIBS="$HWLOC_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([
#include <hwloc.h>
#if HWLOC_API_VERSION < 0x00020400
#error too old
#endif
], [
hwloc_topology_t t;
return hwloc_topology_init(&t);
])],
    [assay_with_hwloc=yes
     ASSAY_CPP_WORDS([assay_why_hwloc], [#include <hwloc.h>], [
#ifdef HWLOC_VERSION
HWLOC_VERSION
#endif
])
     AS_IF([test -z "$assay_why_hwloc"], [assay_why_hwloc="version 2"])
     AC_MSG_RESULT([$assay_why_hwloc])
     AC_DEFINE([HAVE_HWLOC], [1], [Define to 1 to read the topology by hwloc.])],
    [assay_why_hwloc="no hwloc 2.4 or newer that compiles and links (tried $assay_tried)"
     HWLOC_CFLAGS=
     HWLOC_LIBS=
     AC_MSG_RESULT([no])])
  CFLAGS=$assay_save_CFLAGS
  LIBS=$assay_save_LIBS
], [
  HWLOC_CFLAGS=
  HWLOC_LIBS=
])
ASSAY_FEATURE_RESULT([hwloc])
])

# SYNOPSIS
#
#   ASSAY_CHECK_PMI2
#
# DESCRIPTION
#
#   Slurm's PMI-2 client library.  Substitutes PMI2_CFLAGS and PMI2_LIBS.

AC_DEFUN([ASSAY_CHECK_PMI2], [
ASSAY_ARG_WITH([pmi2], [Slurm's libpmi2, for job launch @<:@if found@:>@])
PMI2_CFLAGS=
PMI2_LIBS=
AS_IF([test "$assay_ask_pmi2" != no], [
  AC_MSG_CHECKING([for libpmi2])
  AS_IF([test -n "$assay_dir_pmi2"],
    [ASSAY_FEATURE_IN_DIR([pmi2], [slurm/pmi2.h], [pmi2])
     PMI2_CFLAGS="-I$assay_dir_pmi2/include"
     PMI2_LIBS="-L$assay_lib_pmi2 -Wl,-rpath,$assay_lib_pmi2 -lpmi2"],
    [PMI2_LIBS=-lpmi2])
  assay_save_CFLAGS=$CFLAGS
  assay_save_LIBS=$LIBS
  CFLAGS="$CFLAGS $PMI2_CFLAGS"
  LIBS="$PMI2_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <slurm/pmi2.h>],
    [int spawned, size, rank, appnum;
     return PMI2_Init(&spawned, &size, &rank, &appnum);])],
    [assay_with_pmi2=yes
     assay_why_pmi2="found ($PMI2_LIBS)"
     AC_MSG_RESULT([yes])],
    [assay_why_pmi2="slurm/pmi2.h and -lpmi2 don't compile and link${assay_dir_pmi2:+ from $assay_dir_pmi2}"
     PMI2_CFLAGS=
     PMI2_LIBS=
     AC_MSG_RESULT([no])])
  CFLAGS=$assay_save_CFLAGS
  LIBS=$assay_save_LIBS
])
AC_SUBST([PMI2_CFLAGS])
AC_SUBST([PMI2_LIBS])
ASSAY_FEATURE_RESULT([pmi2])
])
