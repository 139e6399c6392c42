# t/local.mk - included by the top-level Makefile.am; %D% is t.
#
# Blocks: 00xx the build and the front door.

unit_tests += \
	%D%/unit/clock \
	%D%/unit/sha256 \
	%D%/unit/stats \
	%D%/unit/units \
	# end of unit_tests

# Programs that tests run, each of one file of its name.
test_programs += \
	%D%/programs/probe \
	# end of test_programs

test_scripts += \
	%D%/0000-quickstart.t \
	%D%/0001-configure.t \
	%D%/0002-fastmath.t \
	%D%/0010-dist.t \
	%D%/0020-house.t \
	%D%/0030-scripts.t \
	%D%/0500-ledger.t \
	%D%/0600-run_scripts-options.t \
	# end of test_scripts

# Those of test_scripts that depend on how the programs were compiled.
compiled_tests += \
	%D%/0002-fastmath.t \
	# end of compiled_tests

test_data += \
	%D%/data/run_scripts/TestTree.pm \
	%D%/data/run_scripts/standin \
	%D%/data/units.tsv \
	%D%/unit/tap.h \
	# end of test_data
