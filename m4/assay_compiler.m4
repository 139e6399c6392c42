# SYNOPSIS
#
#   ASSAY_IDENTIFY_CC
#
# DESCRIPTION
#
#   Ask the compiler, through its predefined macros and so also when cross
#   compiling, who it is.  Sets assay_cc_version ("gcc 12.2.0") and defines
#   ASSAY_CC_VERSION in config.h, for the record of every run.

AC_DEFUN([ASSAY_IDENTIFY_CC], [
AC_REQUIRE([AC_PROG_CC])
AC_MSG_CHECKING([which compiler $CC is])
ASSAY_CPP_WORDS([assay_cc_version], [], [
#if defined _CRAYC
cce _RELEASE_MAJOR . _RELEASE_MINOR . _RELEASE_PATCHLEVEL
#elif defined __INTEL_LLVM_COMPILER
icx __INTEL_LLVM_COMPILER
#elif defined __NVCOMPILER
nvc __NVCOMPILER_MAJOR__ . __NVCOMPILER_MINOR__ . __NVCOMPILER_PATCHLEVEL__
#elif defined __clang__
clang __clang_major__ . __clang_minor__ . __clang_patchlevel__
#elif defined __GNUC__
gcc __GNUC__ . __GNUC_MINOR__ . __GNUC_PATCHLEVEL__
#endif
])
AS_IF([test -z "$assay_cc_version"], [assay_cc_version="unknown compiler"])
AC_MSG_RESULT([$assay_cc_version])
AC_DEFINE_UNQUOTED([ASSAY_CC_VERSION], ["$assay_cc_version"],
  [Name and version of the compiler that built this])
])

# SYNOPSIS
#
#   ASSAY_CPP_WORDS(VARIABLE, INCLUDES, TEXT)
#
# DESCRIPTION
#
#   Preprocess INCLUDES and TEXT, with CFLAGS as they stand, and put into
#   VARIABLE what TEXT expands to, "name 1 . 2 . 3" drawn together to
#   "name 1.2.3".  A macro that is not defined stays as a word, so guard it in
#   TEXT.  Nothing is run.

AC_DEFUN([ASSAY_CPP_WORDS], [
AC_LANG_CONFTEST([AC_LANG_SOURCE([$2
assay_words_begin
$3
assay_words_end])])
$1=`$CC -E $CPPFLAGS $CFLAGS conftest.$ac_ext 2>&AS_MESSAGE_LOG_FD |
  sed -e '1,/^ *assay_words_begin/d' -e '/assay_words_end/,$d' -e '/^#/d' |
  tr '\n' ' ' |
  sed -e 's/  */ /g' -e 's/ \. /./g' -e 's/"//g' -e 's/^ //' -e 's/ $//'`
rm -f conftest.$ac_ext
])

# SYNOPSIS
#
#   ASSAY_APPEND_FLAG_IF(VARIABLE, FLAG)
#
# DESCRIPTION
#
#   Append FLAG to VARIABLE if the compiler takes it without a murmur.

AC_DEFUN([ASSAY_APPEND_FLAG_IF], [
AC_MSG_CHECKING([whether $CC accepts $2])
assay_flag_save=$CFLAGS
CFLAGS="$CFLAGS -Werror $2"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
  [$1="${$1:+$$1 }$2"
   AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])])
CFLAGS=$assay_flag_save
])

# SYNOPSIS
#
#   ASSAY_STRICT_MATH
#
# DESCRIPTION
#
#   Find the flags that undo -ffast-math and its parts.  They stand after the
#   user's CFLAGS wherever data are verified, so that a NaN is noticed at
#   -Ofast too.  Substitutes STRICT_CFLAGS, and STRICT_LDFLAGS, which keeps
#   crtfastmath.o, that is the flushing of denormals, out of the programs.

AC_DEFUN([ASSAY_STRICT_MATH], [
STRICT_CFLAGS=
ASSAY_APPEND_FLAG_IF([STRICT_CFLAGS], [-fno-fast-math])
ASSAY_APPEND_FLAG_IF([STRICT_CFLAGS], [-fno-unsafe-math-optimizations])
ASSAY_APPEND_FLAG_IF([STRICT_CFLAGS], [-fno-associative-math])
ASSAY_APPEND_FLAG_IF([STRICT_CFLAGS], [-fno-finite-math-only])
ASSAY_APPEND_FLAG_IF([STRICT_CFLAGS], [-fsigned-zeros])

# At link time a later -O2 stands in for -Ofast, which would pull it in.
STRICT_LDFLAGS=
AS_IF([test -n "$STRICT_CFLAGS"], [STRICT_LDFLAGS="-O2 $STRICT_CFLAGS"])
AC_SUBST([STRICT_CFLAGS])
AC_SUBST([STRICT_LDFLAGS])

AC_MSG_CHECKING([whether not-a-number can be told from a number])
assay_flag_save=$CFLAGS
CFLAGS="$CFLAGS $STRICT_CFLAGS"
AC_COMPILE_IFELSE([AC_LANG_SOURCE([
#if (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__) || defined __FAST_MATH__
#error finite math only
#endif
int main(void) { return 0; }])],
  [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([with CFLAGS="$CFLAGS" no NaN can be found in data, so no measurement could be trusted: leave out the fast-math option])])
CFLAGS=$assay_flag_save
])

# SYNOPSIS
#
#   ASSAY_WARNINGS
#
# DESCRIPTION
#
#   Find the warnings that `make warnings' and --enable-warnings add.
#   Substitutes WARN_CFLAGS and, empty unless enabled, MAYBE_WARN_CFLAGS.

AC_DEFUN([ASSAY_WARNINGS], [
AC_ARG_ENABLE([warnings],
  [AS_HELP_STRING([--enable-warnings], [compile with many warnings])],
  [],
  [enable_warnings=no])
WARN_CFLAGS=
ASSAY_APPEND_FLAG_IF([WARN_CFLAGS], [-Wall])
ASSAY_APPEND_FLAG_IF([WARN_CFLAGS], [-Wextra])
ASSAY_APPEND_FLAG_IF([WARN_CFLAGS], [-Wshadow])
AS_IF([test "x$enable_warnings" = xno],
  [MAYBE_WARN_CFLAGS=],
  [MAYBE_WARN_CFLAGS=$WARN_CFLAGS])
AC_SUBST([WARN_CFLAGS])
AC_SUBST([MAYBE_WARN_CFLAGS])
])

# SYNOPSIS
#
#   ASSAY_HOLD_WERROR
#   ASSAY_RELEASE_WERROR
#
# DESCRIPTION
#
#   Between the two a plain -Werror is out of CFLAGS, since it would turn a
#   careless test program into "not found".  It is back for the build.

AC_DEFUN([ASSAY_HOLD_WERROR], [
assay_held_cflags=
assay_held_werror=
for assay_word in $CFLAGS
do
  AS_CASE([$assay_word],
    [-Werror], [assay_held_werror=" -Werror"],
    [assay_held_cflags="${assay_held_cflags:+$assay_held_cflags }$assay_word"])
done
AS_IF([test -n "$assay_held_werror"], [CFLAGS=$assay_held_cflags])
])

AC_DEFUN([ASSAY_RELEASE_WERROR], [
CFLAGS="$CFLAGS$assay_held_werror"
])
