# commbw/local.mk - included by the top-level Makefile.am; %D% is commbw.
# Communication benchmarks on MPI, built where there is one.

# One-sided access, which all of them share.
commbw_window = \
	%D%/window.c \
	%D%/window.h \
	# end of commbw_window

if MPI
test_programs += t/programs/mpi_window
endif

t_programs_mpi_window_SOURCES = t/programs/mpi_window.c $(commbw_window)
t_programs_mpi_window_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)
