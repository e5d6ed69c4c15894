#!/usr/bin/env bash
# What the action beside it runs. Its inputs come as variables; none becomes part of a
# command's text.
#
# linerate is built from the sources that the action itself is of, so that a pinned action pins
# all that it runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$RUNNER_TEMP/linerate
mkdir -p "$out"
[[ $NAME =~ ^[A-Za-z0-9-]*$ ]] || { echo "::error::$NAME: name has letters, digits and - only"; exit 3; }

(cd "$root/lab" && GOWORK=off go build -trimpath -buildvcs=false -o "$out/bin" ./cmd/linerate)
args=(--base "$BASE" --head "$HEAD" --budget "$BUDGET" --margin "$MARGIN" --json-file "$out/$NAME.json" --markdown-file "$out/$NAME.md")
[ -z "$BUILD" ] || args+=(--build "$BUILD")
[ -z "$URL" ] || args+=(--url "$URL")
[ -z "$SCENARIOS" ] || args+=(--scenario "$SCENARIOS")
[ -z "$FAIL_ABOVE" ] || args+=(--fail-above "$FAIL_ABOVE")
# Words as a shell would have them, without what else a shell does to them.
mapfile -t further < <(xargs -n 1 printf '%s\n' <<<"$FLAGS")
mapfile -t server < <(xargs -n 1 printf '%s\n' <<<"$COMMAND")
status=0
"$out/bin" compare "${args[@]}" ${FLAGS:+"${further[@]}"} -- "${server[@]}" || status=$?
cat "$out/$NAME.md" >>"$GITHUB_STEP_SUMMARY" || true
# What was not decided is a warning and never red.
case $status in
  0) ;;
  1) echo '::warning::not decided within the budget; give it more' ;;
  2) echo '::warning::no verdict: the runner was too noisy, so most trials were refused; run the job again' ;;
  4) echo '::error::a request costs the new server more than fail-above allows'; exit 4 ;;
  *) echo '::error::nothing was compared; the last line above says why'; exit "$status" ;;
esac
