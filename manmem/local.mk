# manmem/local.mk - included by the top-level Makefile.am; %D% is manmem.
# Managed memory of GPUs.
