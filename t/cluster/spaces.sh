# spaces.sh - what every machine of the cluster, login node or not, does about
# its namespaces.  Sourced by its first process.
# shellcheck shell=sh

mount -t tmpfs -o mode=1777 shm /dev/shm
# UCX asks /sys/class/net for devices, which has to show those of this network;
# cgroups stay those of the machine.
if mount --rbind /sys/fs/cgroup "$CLUSTER/mnt"; then
    if mount -t sysfs sysfs /sys; then
        mount --rbind "$CLUSTER/mnt" /sys/fs/cgroup || :
    fi
    umount -l "$CLUSTER/mnt"
fi
echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/all/disable_ipv6 || :
ip link set lo up
