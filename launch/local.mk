# launch/local.mk - included by the top-level Makefile.am; %D% is launch.
# Job start and wire-up. The program that times is on libassay alone; what it
# starts is as small as can be: ranks on libpmi2, and ranks on MPI.

bench_PROGRAMS += %D%/pmi2
%C%_pmi2_SOURCES = \
	%D%/hear.c \
	%D%/job.c \
	%D%/launch.h \
	%D%/pmi2_main.c \
	# end of %C%_pmi2_SOURCES

if PMI2
bench_PROGRAMS += %D%/pmi2_rank
endif
%C%_pmi2_rank_LDADD = $(PMI2_LIBS)

if MPI
bench_PROGRAMS += %D%/mpi_init
endif
%C%_mpi_init_LDADD = $(MPI_LIBS)
