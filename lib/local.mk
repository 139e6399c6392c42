# lib/local.mk - included by the top-level Makefile.am; %D% is lib.

noinst_LIBRARIES += %D%/libassay.a %D%/libkernels.a
if MPI
noinst_LIBRARIES += %D%/libassaympi.a
endif

%C%_libassay_a_SOURCES = \
	%D%/affinity.c \
	%D%/affinity.h \
	%D%/assay.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/fail.c \
	%D%/fail.h \
	%D%/finite.h \
	%D%/kernels.c \
	%D%/kernels.h \
	%D%/kernels_body.h \
	%D%/kernels_table.h \
	%D%/launcher.c \
	%D%/launcher.h \
	%D%/map.c \
	%D%/map.h \
	%D%/memory.c \
	%D%/memory.h \
	%D%/mix.h \
	%D%/option.c \
	%D%/option.h \
	%D%/provenance.c \
	%D%/provenance.h \
	%D%/provenance_dmi.c \
	%D%/provenance_dmi.h \
	%D%/record.c \
	%D%/record.h \
	%D%/run.c \
	%D%/run.h \
	%D%/sha256.c \
	%D%/sha256.h \
	%D%/sizes.c \
	%D%/sizes.h \
	%D%/stats.c \
	%D%/stats.h \
	%D%/team.c \
	%D%/team.h \
	%D%/team_options.h \
	%D%/topology.c \
	%D%/topology.h \
	%D%/topology_backend.h \
	%D%/topology_cgroup.c \
	%D%/topology_file.c \
	%D%/topology_hwloc.c \
	%D%/topology_mask.c \
	%D%/topology_sysfs.c \
	%D%/units.c \
	%D%/units.h \
	%D%/verify.c \
	%D%/verify.h \
	# end of %C%_libassay_a_SOURCES

%C%_libassaympi_a_SOURCES = \
	%D%/job.c \
	%D%/job.h \
	%D%/job_facts.c \
	%D%/job_facts.h \
	%D%/job_kernel.c \
	%D%/job_lost.c \
	%D%/job_lost.h \
	# end of %C%_libassaympi_a_SOURCES

# Timed loops: a library with flags of its own, whose objects become part of
# libassay.a (see COMPILE in Makefile.am).
%C%_libkernels_a_SOURCES = \
	%D%/kernels_avx2.c \
	%D%/kernels_avx512.c \
	%D%/kernels_neon.c \
	%D%/kernels_plain.c \
	# end of %C%_libkernels_a_SOURCES
%C%_libkernels_a_CFLAGS = $(AM_CFLAGS)

%C%_libassay_a_LIBADD = $(%C%_libkernels_a_OBJECTS)
%C%_libassay_a_DEPENDENCIES = $(%C%_libkernels_a_OBJECTS)

# The flags really used, which `make CFLAGS=...' may change at any time: the
# header changes only when they do.
BUILT_SOURCES += %D%/flags.h %D%/revision.h
CLEANFILES += %D%/flags.h %D%/revision.h

%D%/flags.h: FORCE
	@$(MKDIR_P) %D%
	@printf '#define ASSAY_CFLAGS "%s"\n' \
	    "`echo '$(CFLAGS) $(OPENMP_CFLAGS)' | \
	      $(SED) -e 's/[\\\\"]/\\\\&/g' -e 's/  */ /g' -e 's/ $$//'`" >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi

%D%/revision.h: FORCE
	@$(MKDIR_P) %D%
	@printf '#define ASSAY_GIT_REVISION "%s"\n' \
	    "`$(SHELL) $(srcdir)/build-aux/revision '$(srcdir)'`" >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi
