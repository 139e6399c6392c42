# reference/local.mk - included by the top-level Makefile.am; %D% is reference.

references += \
	# end of references
