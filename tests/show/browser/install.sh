#!/bin/sh
# A browser for the tests of the page: Debian's chromium, installed where that can be done without asking anyone.
# Without one the tests of tests/show/browser are skipped and say so; this script never fails the run.
for name in "$POLHODE_BROWSER" chromium chromium-browser google-chrome; do
  if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing chromium for the browser tests"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 && exit 0
  echo "chromium could not be installed"
fi
echo "no browser: the tests of the page in tests/show/browser will be skipped (install chromium, or set POLHODE_BROWSER to a browser)"
