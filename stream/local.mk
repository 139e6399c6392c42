# stream/local.mk - included by the top-level Makefile.am; %D% is stream.

bench_PROGRAMS += %D%/stream

%C%_stream_SOURCES = \
	%D%/defaults.c \
	%D%/layout.h \
	%D%/layout_box.c \
	%D%/main.c \
	%D%/measure.c \
	%D%/measure.h \
	%D%/modes.c \
	%D%/modes.h \
	%D%/options.c \
	%D%/options.h \
	%D%/plan.h \
	# end of %C%_stream_SOURCES
