# reference/local.mk - included by the top-level Makefile.am; %D% is reference.

references += \
	%D%/any-machine.ref \
	%D%/dual-rail-genoa/indexgather.ref \
	%D%/dual-rail-genoa/ra.ref \
	%D%/dual-rail-genoa/simpleBandwidth.ref \
	%D%/dual-rail-genoa/jobstream.ref \
	%D%/functional/indexgather.ref \
	%D%/functional/manmem.ref \
	%D%/functional/mpi_overhead.ref \
	%D%/functional/msgrate.ref \
	%D%/functional/ra.ref \
	%D%/functional/simpleBandwidth.ref \
	%D%/functional/jobstream.ref \
	%D%/hosts \
	%D%/manmem-mi210-hip/manmem.ref \
	%D%/manmem-mi210-scale/manmem.ref \
	%D%/manmem-mi355-hip/manmem.ref \
	%D%/manmem-mi355-scale/manmem.ref \
	%D%/sandia-smb/mpi_overhead.ref \
	%D%/sandia-smb/msgrate.ref \
	%D%/streambenchmark-10core-benchmark/stream.ref \
	%D%/streambenchmark-10core-length/stream.ref \
	%D%/streambenchmark-10core-original/stream.ref \
	%D%/streambenchmark-10core-scaling/stream.ref \
	%D%/streambenchmark-10core-single/stream.ref \
	%D%/streambenchmark-10core/stream.ref \
	# end of references
