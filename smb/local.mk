# smb/local.mk - included by the top-level Makefile.am; %D% is smb.
# Programs on MPI, built where there is one.

mpi_programs = \
	# end of mpi_programs

if MPI
bench_PROGRAMS += $(mpi_programs)
test_programs += t/programs/mpi_probe
endif

t_programs_mpi_probe_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)
