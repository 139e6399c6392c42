# commbw/local.mk - included by the top-level Makefile.am; %D% is commbw.
# Communication benchmarks on MPI, built where there is one.

commbw_programs = \
	%D%/indexgather \
	%D%/jobstream \
	%D%/ra \
	# end of commbw_programs

if MPI
bench_PROGRAMS += $(commbw_programs)
test_programs += t/programs/indexgather_faulty t/programs/ra_faulty
test_programs += t/programs/jobstream_faulty t/programs/mpi_table
endif

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

unit_tests += t/unit/bandwidth t/unit/counters
t_unit_bandwidth_SOURCES = \
	t/unit/bandwidth.c \
	%D%/block.c \
	%D%/locales.c \
	# end of t_unit_bandwidth_SOURCES
t_unit_counters_SOURCES = t/unit/counters.c %D%/counters.c %D%/counters.h

if MPI
bench_PROGRAMS += %D%/simpleBandwidth
test_programs += t/programs/mpi_window
endif

%C%_simpleBandwidth_SOURCES = \
	%D%/bandwidth.h \
	%D%/bandwidth_main.c \
	%D%/bandwidth_measure.c \
	%D%/bandwidth_options.c \
	%D%/bandwidth_plan.c \
	%D%/bandwidth_report.c \
	%D%/block.c \
	%D%/block.h \
	%D%/clocks.c \
	%D%/clocks.h \
	%D%/locales.c \
	%D%/locales.h \
	%D%/transport.c \
	%D%/transport.h \
	%D%/transport_mpi.c \
	$(commbw_paths) \
	$(commbw_window) \
	# end of %C%_simpleBandwidth_SOURCES
%C%_simpleBandwidth_LDADD = \
	lib/libassaympi.a \
	$(LDADD) \
	$(UCX_LIBS) \
	$(LIBFABRIC_LIBS) \
	$(MPI_LIBS) \
	# end of %C%_simpleBandwidth_LDADD

# Transports below MPI, where they are found.
if UCX
%C%_simpleBandwidth_SOURCES += %D%/transport_ucx.c
endif
if LIBFABRIC
%C%_simpleBandwidth_SOURCES += %D%/transport_ofi.c
endif

t_programs_mpi_window_SOURCES = \
	t/programs/mpi_window.c \
	$(commbw_paths) \
	$(commbw_window) \
	# end of t_programs_mpi_window_SOURCES
t_programs_mpi_window_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

# A table of words in a window, and the tasks that work with them.
commbw_table = \
	%D%/bucket.c \
	%D%/bucket.h \
	%D%/clocks.c \
	%D%/clocks.h \
	%D%/draw.c \
	%D%/draw.h \
	%D%/exchange.c \
	%D%/exchange.h \
	%D%/messages.c \
	%D%/messages.h \
	%D%/rates.c \
	%D%/rates.h \
	%D%/span.c \
	%D%/span.h \
	%D%/spread.c \
	%D%/spread.h \
	%D%/table.c \
	%D%/table.h \
	# end of commbw_table

t_programs_mpi_table_SOURCES = \
	t/programs/mpi_table.c \
	$(commbw_paths) \
	$(commbw_table) \
	$(commbw_window) \
	# end of t_programs_mpi_table_SOURCES
t_programs_mpi_table_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

# What of it needs no MPI is tested by itself.
unit_tests += t/unit/commbw_words
t_unit_commbw_words_SOURCES = \
	t/unit/commbw_words.c \
	%D%/bucket.c \
	%D%/draw.c \
	%D%/span.c \
	%D%/spread.c \
	# end of t_unit_commbw_words_SOURCES

%C%_indexgather_SOURCES = \
	%D%/gather.h \
	%D%/gather_main.c \
	%D%/gather_measure.c \
	%D%/gather_modes.c \
	%D%/gather_options.c \
	%D%/gather_report.c \
	$(commbw_paths) \
	$(commbw_table) \
	$(commbw_window) \
	# end of %C%_indexgather_SOURCES
%C%_indexgather_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

%C%_ra_SOURCES = \
	%D%/ra.h \
	%D%/ra_main.c \
	%D%/ra_measure.c \
	%D%/ra_modes.c \
	%D%/ra_options.c \
	%D%/ra_report.c \
	%D%/ra_undo.c \
	$(commbw_paths) \
	$(commbw_table) \
	$(commbw_window) \
	# end of %C%_ra_SOURCES
%C%_ra_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

%C%_jobstream_SOURCES = \
	%D%/jobstream.h \
	%D%/jobstream_main.c \
	%D%/jobstream_measure.c \
	%D%/jobstream_options.c \
	%D%/jobstream_plan.c \
	%D%/jobstream_report.c \
	%D%/share.c \
	%D%/share.h \
	$(commbw_paths) \
	$(commbw_window) \
	# end of %C%_jobstream_SOURCES
%C%_jobstream_LDADD = lib/libassaympi.a $(LDADD) $(MPI_LIBS)

unit_tests += t/unit/share
t_unit_share_SOURCES = t/unit/share.c %D%/share.c %D%/share.h

# The same with words that go wrong on demand.
t_programs_jobstream_faulty_SOURCES = \
	t/programs/mpi_arrays.c \
	$(%C%_jobstream_SOURCES) \
	# end of t_programs_jobstream_faulty_SOURCES
t_programs_jobstream_faulty_LDADD = $(%C%_jobstream_LDADD)
t_programs_jobstream_faulty_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=assay_arrays_map
t_programs_indexgather_faulty_SOURCES = \
	t/programs/mpi_nodes.c \
	t/programs/mpi_words.c \
	$(%C%_indexgather_SOURCES) \
	# end of t_programs_indexgather_faulty_SOURCES
t_programs_indexgather_faulty_LDADD = $(%C%_indexgather_LDADD)
t_programs_ra_faulty_SOURCES = \
	t/programs/mpi_words.c \
	$(%C%_ra_SOURCES) \
	# end of t_programs_ra_faulty_SOURCES
t_programs_ra_faulty_LDADD = $(%C%_ra_LDADD)
