# manmem/local.mk - included by the top-level Makefile.am; %D% is manmem.
# Managed memory of GPUs.  The program is pure C and needs no GPU to be built;
# a back end for GPUs is a plugin, which lies beside it.

bench_PROGRAMS += %D%/manmem

%C%_manmem_SOURCES = \
	%D%/backend.c \
	%D%/curve.c \
	%D%/curve.h \
	%D%/device.c \
	%D%/device.h \
	%D%/gpu.h \
	%D%/gpu_host.c \
	%D%/main.c \
	%D%/measure.c \
	%D%/options.c \
	%D%/options.h \
	%D%/pattern.c \
	%D%/pattern.h \
	%D%/plan.c \
	%D%/plan.h \
	%D%/report.c \
	%D%/session.h \
	# end of %C%_manmem_SOURCES

# Plugins: one source, compiled for HIP and for CUDA.
plugindir = $(benchdir)
plugin_DATA =
gpu_source = \
	%D%/cuda_names.h \
	%D%/gpu.h \
	%D%/gpu.hip \
	# end of gpu_source

if HIP
plugin_DATA += %D%/manmem-hip.so
endif
if CUDA
plugin_DATA += %D%/manmem-cuda.so
endif
CLEANFILES += %D%/manmem-hip.so %D%/manmem-cuda.so %D%/gpu_hip.o %D%/gpu.flags

# Compiled anew when the compilers or their options change, and not whenever
# configure runs.
%D%/gpu.flags: FORCE
	@$(MKDIR_P) %D%
	@printf '%s\n' '$(CC) $(LDFLAGS)' \
	    '$(HIPCC) $(HIPCCFLAGS) $(HIP_FLAGS) $(HIP_LIBS)' \
	    '$(NVCC) $(NVCC_FLAGS)' >$@.new
	@if cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi

%D%/manmem-hip.so: $(gpu_source) %D%/gpu.flags
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	"$(HIPCC)" $(HIPCCFLAGS) $(HIP_FLAGS) -fPIC -I$(top_srcdir) \
	  '-DMANMEM_ARCHS="$(HIP_BUILT)"' -c $(srcdir)/%D%/gpu.hip \
	  -o %D%/gpu_hip.o && \
	$(CC) -shared $(LDFLAGS) -o $@ %D%/gpu_hip.o $(HIP_LIBS)

%D%/manmem-cuda.so: $(gpu_source) %D%/gpu.flags
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	"$(NVCC)" $(NVCC_FLAGS) -Xcompiler -fPIC -I$(top_srcdir) -DMANMEM_CUDA \
	  '-DMANMEM_ARCHS="$(CUDA_BUILT)"' -shared -o $@ \
	  -x cu $(srcdir)/%D%/gpu.hip

EXTRA_DIST += \
	%D%/cuda_names.h \
	%D%/gpu.hip \
	# end of EXTRA_DIST

# What of it needs no device is tested by itself.
t_unit_manmem_SOURCES = t/unit/manmem.c %D%/curve.c %D%/pattern.c
