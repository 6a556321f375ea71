#!/bin/sh
# For gcc's option -wrapper: has lld link instead of the linker that gcc was built for, which takes a hundred times as long.
case $1 in
  */collect2) shift && exec ld.lld "$@" ;;
esac
exec "$@"
