# smb/local.mk - included by the top-level Makefile.am; %D% is smb.
# Programs on MPI, built where there is one.

mpi_programs = \
	%D%/mpi_overhead \
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
	%D%/msgrate_text.c \
	%D%/msgrate_text.h \
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
	%D%/msgrate_text.c \
	# end of t_unit_msgrate_SOURCES

%C%_mpi_overhead_SOURCES = \
	%D%/overhead.h \
	%D%/overhead_find.c \
	%D%/overhead_find.h \
	%D%/overhead_main.c \
	%D%/overhead_measure.c \
	%D%/overhead_options.c \
	%D%/overhead_pair.c \
	%D%/overhead_pair.h \
	%D%/overhead_plan.c \
	%D%/overhead_plot.c \
	%D%/overhead_plot.h \
	%D%/overhead_print.c \
	%D%/overhead_record.c \
	%D%/overhead_work.c \
	%D%/overhead_work.h \
	# end of %C%_mpi_overhead_SOURCES
%C%_mpi_overhead_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

unit_tests += t/unit/overhead
t_unit_overhead_SOURCES = \
	t/unit/overhead.c \
	%D%/overhead_find.c \
	%D%/overhead_work.c \
	# end of t_unit_overhead_SOURCES
