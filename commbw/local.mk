# commbw/local.mk - included by the top-level Makefile.am; %D% is commbw.
# Communication benchmarks on MPI, built where there is one.
