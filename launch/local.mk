# launch/local.mk - included by the top-level Makefile.am; %D% is launch.
# Job start and wire-up.
