# run_scripts/local.mk - included by the top-level Makefile.am; %D% is
# run_scripts.

# Scripts proper, and what they source: all bear places that make fills in.
filled_scripts += \
	%D%/batch.flux.in \
	%D%/batch.lsf.in \
	%D%/batch.pbs.in \
	%D%/run_launch.in \
	%D%/run_manmem.in \
	%D%/commbw_rank.in \
	%D%/run_commbw.in \
	%D%/run_mpi_overhead.in \
	%D%/run_msgrate.in \
	%D%/run_stream.in \
	# end of filled_scripts
filled_files += \
	%D%/paths.sh.in \
	# end of filled_files

dist_runscript_DATA += \
	%D%/assay.sh \
	# end of dist_runscript_DATA

fill_mpi = -e 's|@assay_mpi''@|$(MPI_LIBRARY)|g' \
	-e 's|@assay_mpirun''@|$(MPIRUN)|g'

fill_here = $(SED) \
	-e 's|@assay_layout''@|build|g' \
	-e 's|@assay_run_scripts''@|$(abs_builddir)/%D%|g' \
	-e 's|@assay_programs''@|$(abs_builddir)|g' \
	-e 's|@assay_command''@|$(abs_builddir)/harness/assay|g' \
	-e 's|@assay_reference''@|$(abs_builddir)/reference|g' \
	$(fill_mpi)

fill_installed = $(SED) \
	-e 's|@assay_layout''@|installed|g' \
	-e 's|@assay_run_scripts''@|$(runscriptdir)|g' \
	-e 's|@assay_programs''@|$(benchdir)|g' \
	-e 's|@assay_command''@|$(bindir)/assay|g' \
	-e 's|@assay_reference''@|$(pkgdatadir)/reference|g' \
	$(fill_mpi)

# Of what has a file NAME.in and no rule of its own: these alone.
SUFFIXES = .in
.in:
	$(AM_V_GEN)$(MKDIR_P) %D% && rm -f $@ && \
	$(fill_here) '$<' >$@.new && \
	chmod +x $@.new && mv -f $@.new $@

$(filled_scripts:.in=) $(filled_files:.in=): Makefile

CLEANFILES += $(filled_scripts:.in=) $(filled_files:.in=)

install-exec-local:
	$(MKDIR_P) "$(DESTDIR)$(runscriptdir)"
	for file in $(filled_scripts:.in=) $(filled_files:.in=); do \
	  installed="$(DESTDIR)$(runscriptdir)/$${file##*/}"; \
	  $(fill_installed) "$(srcdir)/$$file.in" >"$$installed.new" && \
	  mv -f "$$installed.new" "$$installed" && \
	  case " $(filled_scripts) " in \
	    *" $$file.in "*) chmod 755 "$$installed" ;; \
	    *) chmod 644 "$$installed" ;; \
	  esac || exit 1; \
	done

uninstall-local:
	for file in $(filled_scripts:.in=) $(filled_files:.in=); do \
	  rm -f "$(DESTDIR)$(runscriptdir)/$${file##*/}"; \
	done
