#!/bin/sh
# Tests that need more than npm brings. Installs what is missing (Debian), then runs them.
set -eu
cd "$(dirname "$0")/.."
if ! command -v python3 >/dev/null; then
  apt-get update -q && apt-get install -qy --no-install-recommends python3
fi
npm run build
exec npx vitest run --config vitest.opt-in.config.ts
