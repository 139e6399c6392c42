# commbw/local.mk - included by the top-level Makefile.am; %D% is commbw.
# Communication benchmarks on MPI, built where there is one.

# One-sided access, which all of them share.
commbw_window = \
	%D%/window.c \
	%D%/window.h \
	# end of commbw_window

# Which interfaces carry the bytes.
commbw_paths = \
	%D%/counters.c \
	%D%/counters.h \
	%D%/paths.c \
	%D%/paths.h \
	# end of commbw_paths

unit_tests += t/unit/counters
t_unit_counters_SOURCES = t/unit/counters.c %D%/counters.c %D%/counters.h

if MPI
test_programs += t/programs/mpi_window
endif

t_programs_mpi_window_SOURCES = \
	t/programs/mpi_window.c \
	$(commbw_paths) \
	$(commbw_window) \
	# end of t_programs_mpi_window_SOURCES
t_programs_mpi_window_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)
