#!/bin/sh
# preToolUse, for bash: nobody pushes to git from here.
if grep -Eq 'git( -[^ ]+( [^ ]+)?)* push'; then
  echo "Nobody pushes from here. Leave the branch as it is, and say what is on it." >&2
  exit 2
fi
