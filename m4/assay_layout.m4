# SYNOPSIS
#
#   ASSAY_CHECK_LAYOUT
#
# DESCRIPTION
#
#   The installed command finds its modules and references at ../share/assay
#   from its own folder, so that an installed tree can be moved.  Refuses
#   folders for which that is not so.

AC_DEFUN([ASSAY_CHECK_LAYOUT], [
AC_MSG_CHECKING([whether datadir is ../share seen from bindir])
assay_layout=`
  test "x$prefix" != xNONE || prefix=$ac_default_prefix
  test "x$exec_prefix" != xNONE || exec_prefix=$prefix
  for assay_word in bindir datadir
  do
    eval "assay_value=\\$$assay_word"
    for assay_turn in 1 2 3
    do
      eval "assay_value=\"$assay_value\""
    done
    eval "assay_$assay_word=\\$assay_value"
  done
  test "$assay_datadir" = "${assay_bindir%/*}/share" && echo yes`
AS_IF([test "$assay_layout" = yes],
  [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([the command assay looks for its modules in ../share seen from bindir: set bindir and datadir accordingly])])
])
