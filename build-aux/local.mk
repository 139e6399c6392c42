# build-aux/local.mk - included by the top-level Makefile.am; %D% is build-aux.

EXTRA_DIST += \
	%D%/check-matrix \
	%D%/revision \
	# end of EXTRA_DIST

# A tarball has no git to ask, so it carries the answer.  Commands are taken
# from the source, since a build elsewhere has copies, which may be old.
dist-hook:
	$(SHELL) $(srcdir)/%D%/revision '$(srcdir)' >'$(distdir)/%D%/revision.txt'
	for file in $(dist_bin_SCRIPTS); do \
	  cp -p "$(srcdir)/$$file" "$(distdir)/$$file" || exit 1; \
	done
