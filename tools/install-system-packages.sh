#!/bin/sh
# Java (Spark), Chromium (pages), strace (failing disks), PostgreSQL (databases), npm (a check of
# accessibility) and R (its client) come from Debian's packages.
# Where we may install, we do; elsewhere the tests that need them are skipped with a reason, and
# this script says so.
set -u

java_is_new_enough() {
    command -v java >/dev/null 2>&1 || return 1
    major=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${major:-0}" -ge 17 ]
}

install() { # the first of the packages that there is
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        [ -n "${updated:-}" ] || apt-get update -qq
        updated=yes
        for package in "$@"; do
            echo "installing $package"
            DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq --no-install-recommends "$package" >/dev/null && return 0
        done
    fi
    echo "not installed: $1; the tests that need it will be skipped." >&2
    echo "To run them: sudo apt-get install $1" >&2
}

java_is_new_enough || install openjdk-17-jre-headless default-jre-headless
command -v chromium >/dev/null 2>&1 || install chromium
command -v strace >/dev/null 2>&1 || install strace
command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ||
    install postgresql
command -v npm >/dev/null 2>&1 || install npm
command -v Rscript >/dev/null 2>&1 || install r-base-core
Rscript -e 'library(jsonlite)' >/dev/null 2>&1 || install r-cran-jsonlite
exit 0
