# stream/local.mk - included by the top-level Makefile.am; %D% is stream.

bench_PROGRAMS += %D%/stream

%C%_stream_SOURCES = \
	%D%/child.c \
	%D%/child.h \
	%D%/defaults.c \
	%D%/layout.h \
	%D%/layout_box.c \
	%D%/layout_classic.c \
	%D%/main.c \
	%D%/measure.c \
	%D%/measure.h \
	%D%/mode_numa.c \
	%D%/mode_original.c \
	%D%/mode_scaling.c \
	%D%/modes.c \
	%D%/modes.h \
	%D%/options.c \
	%D%/options.h \
	%D%/peer.c \
	%D%/peer.h \
	%D%/plan.h \
	%D%/plot.c \
	%D%/plot.h \
	# end of %C%_stream_SOURCES
