# bench/local.mk - included by the top-level Makefile.am; %D% is bench.
# Nothing here is built or run unless asked for by name.

EXTRA_DIST += \
	%D%/judge_scale \
	%D%/msgrate-peers \
	%D%/overhead-peers \
	%D%/rma-peers \
	%D%/rma_loop.c \
	%D%/stream-peers \
	%D%/stream-peers.awk \
	# end of EXTRA_DIST
