# smb/local.mk - included by the top-level Makefile.am; %D% is smb.
# Programs on MPI, built where there is one.

mpi_programs = \
	%D%/msgrate \
	# end of mpi_programs

if MPI
bench_PROGRAMS += $(mpi_programs)
test_programs += t/programs/mpi_probe
endif

t_programs_mpi_probe_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

%C%_msgrate_SOURCES = \
	%D%/msgrate.h \
	%D%/msgrate_cache.c \
	%D%/msgrate_cache.h \
	%D%/msgrate_main.c \
	%D%/msgrate_measure.c \
	%D%/msgrate_message.c \
	%D%/msgrate_message.h \
	%D%/msgrate_options.c \
	%D%/msgrate_patterns.c \
	%D%/msgrate_plan.c \
	%D%/msgrate_rate.c \
	%D%/msgrate_rate.h \
	%D%/msgrate_report.c \
	%D%/peers.c \
	%D%/peers.h \
	# end of %C%_msgrate_SOURCES
%C%_msgrate_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

# What of it needs no MPI is tested by itself.
unit_tests += t/unit/peers t/unit/msgrate
t_unit_peers_SOURCES = t/unit/peers.c %D%/peers.c
t_unit_msgrate_SOURCES = \
	t/unit/msgrate.c \
	%D%/msgrate_cache.c \
	%D%/msgrate_message.c \
	%D%/msgrate_rate.c \
	# end of t_unit_msgrate_SOURCES
