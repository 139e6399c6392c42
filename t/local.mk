# t/local.mk - included by the top-level Makefile.am; %D% is t.

test_scripts += \
	# end of test_scripts

test_data += \
	# end of test_data
