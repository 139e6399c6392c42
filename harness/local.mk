# harness/local.mk - included by the top-level Makefile.am; %D% is harness.

dist_bin_SCRIPTS += \
	%D%/assay \
	# end of dist_bin_SCRIPTS

dist_perl_DATA += \
	# end of dist_perl_DATA

nodist_perl_DATA += \
	%D%/Assay/Config.pm \
	# end of nodist_perl_DATA
