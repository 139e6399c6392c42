# stream/local.mk - included by the top-level Makefile.am; %D% is stream.
