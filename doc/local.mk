# doc/local.mk - included by the top-level Makefile.am; %D% is doc.

dist_man_MANS += \
	%D%/assay-campaign.5 \
	%D%/assay-record.5 \
	%D%/assay-reference.5 \
	%D%/assay-sweep.7 \
	%D%/assay.1 \
	%D%/manmem.1 \
	%D%/jobstream.1 \
	%D%/mpi_overhead.1 \
	%D%/msgrate.1 \
	%D%/pmi2.1 \
	%D%/run_launch.1 \
	%D%/run_manmem.1 \
	%D%/indexgather.1 \
	%D%/ra.1 \
	%D%/run_commbw.1 \
	%D%/run_mpi_overhead.1 \
	%D%/run_msgrate.1 \
	%D%/run_stream.1 \
	%D%/simpleBandwidth.1 \
	%D%/stream.1 \
	# end of dist_man_MANS
