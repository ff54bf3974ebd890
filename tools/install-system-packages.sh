#!/bin/sh
# Java (Spark) and Chromium (the policy page) come from Debian's packages. Where we may install,
# we do; elsewhere the tests that need them are skipped with a reason, and this script says so.
set -u

missing=""
command -v java >/dev/null 2>&1 || missing="openjdk-17-jre-headless"
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing:$(printf ' %s' $missing)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null && exit 0
fi
echo "not installed:$(printf ' %s' $missing); the tests that need them will be skipped." >&2
echo "To run them: sudo apt-get install $missing" >&2
exit 0
