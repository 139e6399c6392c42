# harness/local.mk - included by the top-level Makefile.am; %D% is harness.

dist_bin_SCRIPTS += \
	%D%/assay \
	# end of dist_bin_SCRIPTS

dist_perl_DATA += \
	%D%/Assay/Attempt.pm \
	%D%/Assay/Blame.pm \
	%D%/Assay/Campaign.pm \
	%D%/Assay/Collect.pm \
	%D%/Assay/Command.pm \
	%D%/Assay/Compare.pm \
	%D%/Assay/Culprits.pm \
	%D%/Assay/Figures.pm \
	%D%/Assay/Import.pm \
	%D%/Assay/Judge.pm \
	%D%/Assay/Launch.pm \
	%D%/Assay/Ledger.pm \
	%D%/Assay/Lint.pm \
	%D%/Assay/Matrix.pm \
	%D%/Assay/Nodes.pm \
	%D%/Assay/Picture.pm \
	%D%/Assay/Places.pm \
	%D%/Assay/Point.pm \
	%D%/Assay/Progress.pm \
	%D%/Assay/Record.pm \
	%D%/Assay/Reference.pm \
	%D%/Assay/Report.pm \
	%D%/Assay/Results.pm \
	%D%/Assay/Rule.pm \
	%D%/Assay/RunScript.pm \
	%D%/Assay/Series.pm \
	%D%/Assay/Stats.pm \
	%D%/Assay/Summary.pm \
	%D%/Assay/Sweep.pm \
	%D%/Assay/Tap.pm \
	%D%/Assay/Text.pm \
	%D%/Assay/Tournament.pm \
	%D%/Assay/Units.pm \
	%D%/Assay/Verdict.pm \
	# end of dist_perl_DATA

nodist_perl_DATA += \
	%D%/Assay/Config.pm \
	# end of nodist_perl_DATA
