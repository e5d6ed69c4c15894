#!/usr/bin/env bash
# What the actions beside it run: linerate.sh compare|combine. Their inputs come as
# variables; none becomes part of a command's text.
#
# linerate is built from the sources that the action itself is of, so that a pinned action pins
# all that it runs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$RUNNER_TEMP/linerate
mkdir -p "$out"
for word in "$NAME" "${RUNNER-}"; do
  [[ $word =~ ^[A-Za-z0-9-]*$ ]] || { echo "::error::$word: name and runner have letters, digits and - only"; exit 3; }
done

built() {
  [ -x "$out/bin" ] || (cd "$root/lab" && GOWORK=off go build -trimpath -buildvcs=false -o "$out/bin" ./cmd/linerate)
}

# judged STATUS ends the step as the page says: what was not decided is a warning and never red.
judged() {
  "$out/bin" combine --markdown "$out/$NAME.json" >>"$GITHUB_STEP_SUMMARY" || true
  case $1 in
    0) ;;
    1) echo '::warning::not decided within the budget; give it more, or more runners' ;;
    2) echo '::warning::no verdict: the runner was too noisy, so most trials were refused; run the job again' ;;
    4) echo '::error::a request costs the new server more than fail-above allows'; exit 4 ;;
  esac
}

case $1 in
  compare)
    built
    name=$NAME
    [ -z "$RUNNER" ] || NAME=$NAME-$RUNNER
    echo "artifact=$NAME" >>"$GITHUB_OUTPUT"
    args=(--base "$BASE" --head "$HEAD" --budget "$BUDGET" --margin "$MARGIN" --json)
    [ -z "$BUILD" ] || args+=(--build "$BUILD")
    [ -z "$URL" ] || args+=(--url "$URL")
    [ -z "$SCENARIOS" ] || args+=(--scenario "$SCENARIOS")
    [ -z "$FAIL_ABOVE" ] || args+=(--fail-above "$FAIL_ABOVE")
    # Words as a shell would have them, without what else a shell does to them.
    mapfile -t further < <(xargs -n 1 printf '%s\n' <<<"$FLAGS")
    mapfile -t server < <(xargs -n 1 printf '%s\n' <<<"$COMMAND")
    status=0
    "$out/bin" compare "${args[@]}" ${FLAGS:+"${further[@]}"} -- "${server[@]}" >"$out/$NAME.json" || status=$?
    case $status in
      0 | 1 | 2 | 4) ;;
      *) rm -f "$out/$NAME.json"; echo '::error::nothing was compared; the last line above says why'; exit "$status" ;;
    esac
    "$out/bin" combine "$out/$NAME.json" || true
    if [ -n "$RUNNER" ]; then
      echo "::notice::runner $RUNNER of $name has its part; the job that combines all gives the verdict"
    else
      judged "$status"
    fi ;;
  combine)
    built
    status=0
    (cd "$PARTS" && "$out/bin" combine --json -- *.json) >"$out/$NAME.json" || status=$?
    case $status in
      0 | 1 | 2 | 4) ;;
      *) rm -f "$out/$NAME.json"; echo '::error::the runs could not be combined; the last line above says why'; exit "$status" ;;
    esac
    "$out/bin" combine "$out/$NAME.json" || true
    judged "$status" ;;
esac
