# t/local.mk - included by the top-level Makefile.am; %D% is t.
#
# Blocks: 00xx the build and the front door; 02xx the run of a program.

unit_tests += \
	%D%/unit/affinity \
	%D%/unit/clock \
	%D%/unit/job \
	%D%/unit/kernels \
	%D%/unit/manmem \
	%D%/unit/memory \
	%D%/unit/option \
	%D%/unit/provenance \
	%D%/unit/record \
	%D%/unit/run \
	%D%/unit/sha256 \
	%D%/unit/sizes \
	%D%/unit/stats \
	%D%/unit/team \
	%D%/unit/topology \
	%D%/unit/units \
	%D%/unit/verify \
	# end of unit_tests

if MPI
test_programs += %D%/programs/msgrate_faulty %D%/programs/overhead_faulty
test_programs += %D%/programs/bandwidth_faulty
endif
%C%_programs_overhead_faulty_SOURCES = \
	%D%/programs/mpi_faults.c \
	$(smb_mpi_overhead_SOURCES) \
	# end of %C%_programs_overhead_faulty_SOURCES
%C%_programs_overhead_faulty_LDADD = $(smb_mpi_overhead_LDADD)
%C%_programs_msgrate_faulty_SOURCES = \
	%D%/programs/mpi_faults.c \
	%D%/programs/mpi_nodes.c \
	$(smb_msgrate_SOURCES) \
	# end of %C%_programs_msgrate_faulty_SOURCES
%C%_programs_msgrate_faulty_LDADD = $(smb_msgrate_LDADD)

%C%_programs_bandwidth_faulty_SOURCES = \
	%D%/programs/mpi_rma_faults.c \
	$(commbw_simpleBandwidth_SOURCES) \
	# end of %C%_programs_bandwidth_faulty_SOURCES
%C%_programs_bandwidth_faulty_LDADD = $(commbw_simpleBandwidth_LDADD)

# Programs that tests run, each of one file of its name.
test_programs += \
	%D%/cluster/hog \
	%D%/cluster/relay \
	%D%/programs/noufd \
	%D%/programs/probe \
	%D%/programs/topology \
	# end of test_programs

# A back end of manmem's for tests.
check_DATA += %D%/programs/fake/manmem-hip.so
CLEANFILES += %D%/programs/fake/manmem-hip.so
EXTRA_DIST += %D%/programs/manmem_fake.c

# A stand-in for the HIP library, where there is one to stand in for.
if HIP
check_DATA += %D%/programs/hip_stub.so
endif
CLEANFILES += %D%/programs/hip_stub.so
EXTRA_DIST += %D%/programs/hip_stub.c

%D%/programs/hip_stub.so: %D%/programs/hip_stub.c config.h
	$(AM_V_CCLD)$(MKDIR_P) %D%/programs && \
	$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) \
	  $(HIP_CFLAGS) -fPIC -shared -o $@ $(srcdir)/%D%/programs/hip_stub.c

%D%/programs/fake/manmem-hip.so: %D%/programs/manmem_fake.c manmem/gpu.h config.h
	$(AM_V_CCLD)$(MKDIR_P) %D%/programs/fake && \
	$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) \
	  -fPIC -shared -o $@ $(srcdir)/%D%/programs/manmem_fake.c $(LIBM)

test_scripts += \
	%D%/0000-quickstart.t \
	%D%/0001-configure.t \
	%D%/0002-fastmath.t \
	%D%/0010-dist.t \
	%D%/0020-house.t \
	%D%/0030-scripts.t \
	%D%/0200-run.t \
	%D%/0201-run-signals.t \
	%D%/0202-run-options.t \
	%D%/0203-run-nomem.t \
	%D%/0300-topology.t \
	%D%/0400-judge-cases.t \
	%D%/0410-judge-figures.t \
	%D%/0420-judge-lint.t \
	%D%/0430-judge-command.t \
	%D%/0500-ledger.t \
	%D%/0510-campaign.t \
	%D%/0600-run_scripts-options.t \
	%D%/0610-run_scripts-attempt.t \
	%D%/0620-run_scripts-stream.t \
	%D%/0650-run_scripts-mpi.t \
	%D%/0660-run_scripts-batch.t \
	%D%/0700-references.t \
	%D%/0750-references-smb.t \
	%D%/0760-references-bandwidth.t \
	%D%/0760-references-manmem.t \
	%D%/0770-references-commbw.t \
	%D%/1000-stream-layouts.t \
	%D%/1010-stream-record.t \
	%D%/1020-stream-options.t \
	%D%/1030-stream-limits.t \
	%D%/1040-stream-threads.t \
	%D%/1050-stream-original.t \
	%D%/1060-stream-clock.t \
	%D%/2000-job.t \
	%D%/2100-overhead.t \
	%D%/2110-overhead-refusals.t \
	%D%/2500-msgrate-layout.t \
	%D%/2510-msgrate-refusals.t \
	%D%/2520-msgrate-faults.t \
	%D%/2530-msgrate-nodes.t \
	%D%/3000-window.t \
	%D%/3010-bandwidth.t \
	%D%/3020-bandwidth-faults.t \
	%D%/3030-bandwidth-transports.t \
	%D%/4000-manmem-layout.t \
	%D%/4010-manmem-refusals.t \
	%D%/4020-manmem-faults.t \
	%D%/4030-manmem-gpu.t \
	%D%/4040-run_manmem.t \
	%D%/3200-indexgather.t \
	%D%/3300-ra.t \
	%D%/3330-jobstream.t \
	%D%/3400-commbw-matrix.t \
	%D%/3420-two-sockets.t \
	%D%/5500-blame.t \
	%D%/5510-tournament.t \
	%D%/5520-sweep.t \
	%D%/5540-import.t \
	%D%/5560-report.t \
	%D%/3600-launch.t \
	# end of test_scripts

# Those of test_scripts that depend on how the programs were compiled.
compiled_tests += \
	%D%/0002-fastmath.t \
	%D%/0200-run.t \
	%D%/0201-run-signals.t \
	%D%/0202-run-options.t \
	%D%/0203-run-nomem.t \
	%D%/0300-topology.t \
	%D%/1000-stream-layouts.t \
	%D%/1010-stream-record.t \
	%D%/1020-stream-options.t \
	%D%/1030-stream-limits.t \
	%D%/1040-stream-threads.t \
	%D%/1050-stream-original.t \
	%D%/1060-stream-clock.t \
	%D%/2100-overhead.t \
	%D%/2500-msgrate-layout.t \
	%D%/4000-manmem-layout.t \
	%D%/4010-manmem-refusals.t \
	%D%/4020-manmem-faults.t \
	%D%/4030-manmem-gpu.t \
	# end of compiled_tests

# Those of test_scripts that depend on the MPI library.
mpi_tests += \
	%D%/unit/job \
	%D%/0650-run_scripts-mpi.t \
	%D%/2000-job.t \
	%D%/2100-overhead.t \
	%D%/2110-overhead-refusals.t \
	%D%/2500-msgrate-layout.t \
	%D%/2510-msgrate-refusals.t \
	%D%/2520-msgrate-faults.t \
	%D%/2530-msgrate-nodes.t \
	%D%/3000-window.t \
	%D%/3200-indexgather.t \
	%D%/3300-ra.t \
	%D%/3330-jobstream.t \
	%D%/3420-two-sockets.t \
	%D%/3010-bandwidth.t \
	%D%/3020-bandwidth-faults.t \
	%D%/3030-bandwidth-transports.t \
	# end of mpi_tests

# Those that `make check` leaves to `make check-long`: not of test_scripts. Of them
# the waiting ones wait for others more than they compute, and hang on no speed:
# several may run at once, the longest first.
waiting_tests += \
	%D%/6200-faults.t \
	%D%/6110-slurm-trouble.t \
	%D%/6100-slurm-launch.t \
	%D%/5530-sweep-faults.t \
	%D%/6150-slurm-smb.t \
	%D%/3650-launch-slurm.t \
	# end of waiting_tests
long_tests += \
	%D%/1070-stream-kernels.t \
	%D%/1080-stream-memcheck.t \
	%D%/3090-bandwidth-long.t \
	%D%/3095-bandwidth-rails.t \
	%D%/3210-words.t \
	%D%/3410-two-rails.t \
	%D%/6000-cluster.t \
	%D%/6500-sweep.t \
	# end of long_tests

# Files, and folders of which everything is distributed.
test_data += \
	%D%/Cluster.pm \
	%D%/Manmem.pm \
	%D%/Mpi.pm \
	%D%/Probe.pm \
	%D%/Stream.pm \
	%D%/cluster/down \
	%D%/cluster/exec \
	%D%/cluster/fault \
	%D%/cluster/faults \
	%D%/cluster/lab.sh \
	%D%/cluster/login-init \
	%D%/cluster/node \
	%D%/cluster/node-init \
	%D%/cluster/run_link \
	%D%/cluster/run_node \
	%D%/cluster/slurm.conf.in \
	%D%/cluster/spaces.sh \
	%D%/cluster/up \
	%D%/Sweep.pm \
	%D%/data/commbw \
	%D%/data/import \
	%D%/data/judge \
	%D%/data/machines \
	%D%/data/manmem \
	%D%/data/nomem.c \
	%D%/data/run_scripts \
	%D%/data/stream \
	%D%/data/units.tsv \
	%D%/unit/tap.h \
	%D%/unit/tree.h \
	# end of test_data
