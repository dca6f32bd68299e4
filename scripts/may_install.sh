# Sourced by those who install a package of Debian where they may. Sets `may` to what goes before
# apt-get: nothing for root, sudo for who needs no password; `no` where this user may not, or where
# there is no apt-get.
may=""
if [ "$(id -u)" -ne 0 ]; then
    may="sudo -n"
    if ! $may true 2>/dev/null; then may="no"; fi
fi
if ! command -v apt-get >/dev/null; then may="no"; fi
export DEBIAN_FRONTEND=noninteractive
