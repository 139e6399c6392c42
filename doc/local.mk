# doc/local.mk - included by the top-level Makefile.am; %D% is doc.

dist_man_MANS += \
	# end of dist_man_MANS
