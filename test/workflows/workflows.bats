#!/usr/bin/env bats
# Runs the workflows by act: on this machine, without containers, with a stub of a few
# lines for each action. What is committed is run. `make test-workflows` calls this.

setup_file() {
  export SOURCE=$PWD
  export HERE=$PWD/test/workflows
  export ACT=$PWD/.tools/bin/act
  # What was compiled stays compiled, though act gets a cache of its own below.
  export GOCACHE GOFLAGS
  GOCACHE=$(go env GOCACHE) GOFLAGS=$(cat tools/goflags)
  # A stub for each action at the commit that is pinned; act refuses what has none.
  stubs=()
  while read -r action; do
    name=${action%@*}
    stubs+=(--local-repository "$action=$HERE/actions/${name#*/}")
  done < <(grep -hoE 'uses: [^ ]+' .github/workflows/*.yml .github/actions/*/action.yml | cut -d' ' -f2 | sort -u)
  export STUBS="${stubs[*]}"
}

setup() {
  export CALLS=$BATS_TEST_TMPDIR/calls ARTIFACTS=$BATS_TEST_TMPDIR/artifacts CHECKED_OUT=$BATS_TEST_TMPDIR/checked-out
  mkdir "$ARTIFACTS"
  : >"$CALLS"
  # act's own files; an empty configuration keeps it from asking for one.
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache XDG_CONFIG_HOME=$BATS_TEST_TMPDIR/config
  mkdir -p "$XDG_CONFIG_HOME/act"
  : >"$XDG_CONFIG_HOME/act/actrc"
  export PATH=$HERE/bin:$PATH
  # On a runner, jobs under test must not find that runner's own variables.
  local variable
  for variable in ${!GITHUB_@} ${!RUNNER_@} ${!ACTIONS_@}; do unset "$variable"; done
}

# acted DIRECTORY FILE EVENT [FLAG…] runs a workflow of a repository for an event of test/workflows/events.
acted() {
  local in=$1 file=$2 event=$3 name=$3
  shift 3
  [ "$event" != tag ] || name=push
  # shellcheck disable=SC2086 # STUBS holds many arguments, none with a blank
  (cd "$in" && "$ACT" "$name" --workflows ".github/workflows/$file.yml" --eventpath "$HERE/events/$event.json" \
    --platform ubuntu-24.04=-self-hosted --pull=false --no-skip-checkout --use-new-action-cache --action-offline-mode --no-cache-server \
    --env GITHUB_REPOSITORY=line-rate/line-rate --secret GITHUB_TOKEN=token $STUBS "$@")
}

# workflow EVENT FILE [JOB] [FLAG…] runs one of the journal's own, or one job of it.
workflow() {
  local event=$1 file=$2 job=()
  shift 2
  if [ $# -gt 0 ] && [[ $1 != --* ]]; then job=(--job "$1"); shift; fi
  acted "$HERE/../.." "$file" "$event" "${job[@]}" "$@"
}

# offered EVENT FILE [FLAG…] runs one that the site offers, in a repository of others; its actions
# are those of this commit.
offered() {
  acted "$BATS_TEST_TMPDIR/theirs" "$2" "$1" --local-repository "line-rate/line-rate@v1=$BATS_TEST_TMPDIR/actions" "${@:3}"
}

# theirs makes a repository of others that uses these: a server, and a change of it that spends more
# on a request, merged as GitHub merges a pull request to test it. Its commits have fixed digests.
theirs() {
  local at=$BATS_TEST_TMPDIR/theirs
  export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_AUTHOR_DATE=2000-01-01T00:00:00Z
  export GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org GIT_COMMITTER_DATE=2000-01-01T00:00:00Z
  git clone --quiet --shared "$PWD" "$BATS_TEST_TMPDIR/actions"
  git init --quiet -b main "$at"
  mkdir -p "$at/.github/workflows"
  cp "$SOURCE"/static/examples/compare*.yml "$at/.github/workflows/"
  # What a user changes, and less time.
  sed -i -e 's/build: make server/build: go build -o server main.go/' -e 's/^\( *\)fail-above: .*/&\n\1flags: --warmup 100ms/' \
    "$at/.github/workflows/compare.yml"
  cat >"$at/main.go" <<'GO'
package main

import (
	"net/http"
	"os"
	"time"
)

const spent = 0

func main() {
	http.HandleFunc("/read", func(w http.ResponseWriter, _ *http.Request) {
		for began := time.Now(); time.Since(began) < spent*time.Microsecond; {
		}
		w.Write([]byte("an answer"))
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
}
GO
  git -C "$at" add .
  git -C "$at" commit --quiet -m 'A server'
  git -C "$at" checkout --quiet -b change
  sed -i 's/spent = 0/spent = 200/' "$at/main.go"
  git -C "$at" commit --quiet -am 'More on each request'
  git -C "$at" checkout --quiet main
  git -C "$at" merge --quiet --no-ff -m 'The pull request, merged' change
}

@test "each workflow is planned for its events, with all of its jobs" {
  # Not by --dryrun, which without containers runs every step.
  while read -r event file jobs; do
    run workflow "$event" "$file" --list
    [ "$status" -eq 0 ] || { echo "$file for $event: $output"; false; }
    seen=$(grep -cE "^[0-9] .* $file\.yml " <<<"$output")
    [ "$seen" -eq "$jobs" ] || { echo "$file for $event: $seen jobs, not $jobs: $output"; false; }
  done <<'END'
push ci 5
pull_request ci 5
push pages 2
workflow_run comment 1
tag release 3
schedule calibrate 1
END
}

@test "the job of the site builds it, with its search index" {
  workflow push ci site
  [ -e "$ARTIFACTS/site/index.html" ]
  [ -e "$ARTIFACTS/site/pagefind/pagefind.js" ]
  [ -e "$ARTIFACTS/site/runs/index.html" ]
}

@test "pages are built and deployed from main" {
  PATH=$HERE/made:$PATH
  workflow push pages
  [ "$(cat "$ARTIFACTS/github-pages/index.html")" = site ]
  grep -qx deployed "$CALLS"
}

@test "a pull request is checked against its base, and its report is kept" {
  PATH=$HERE/made:$PATH
  workflow pull_request ci history
  grep -qx 'lab check --against HEAD^1' "$CALLS"
  grep -qx 'lab report --against HEAD^1 --markdown' "$CALLS"
  [ "$(cat "$ARTIFACTS/report/report.md")" = '# What this moves' ]
}

@test "a push to main is checked by itself" {
  PATH=$HERE/made:$PATH
  workflow push ci history
  grep -qx 'lab check' "$CALLS"
  [ "$(grep -c '^lab check' "$CALLS")" -eq 1 ]
}

# posted ARTIFACT FILE… [COMMENTS] runs a workflow that comments, on an archive of these files:
# the journal's own of the artifact report, or the one that the site offers. COMMENTS, as JSON,
# are there already.
posted() {
  local artifact=$1 comments='[]'
  shift
  if [[ ${*: -1} == [[]* ]]; then comments=${*: -1}; set -- "${@:1:$#-1}"; fi
  (cd "$BATS_TEST_TMPDIR" && python3 -m zipfile -c "$artifact.zip" "$@")
  rm -f "$BATS_TEST_TMPDIR/port"
  node "$HERE/api.mjs" "$BATS_TEST_TMPDIR/$artifact.zip" "$BATS_TEST_TMPDIR/wrote" "$artifact" "$comments" >"$BATS_TEST_TMPDIR/port" &
  api=$!
  : >"$BATS_TEST_TMPDIR/wrote"
  until [ -s "$BATS_TEST_TMPDIR/port" ]; do sleep 0.1; done
  status=0
  local run=(workflow workflow_run comment)
  [ "$artifact" = report ] || run=(offered workflow_run compare-comment)
  "${run[@]}" --env "GITHUB_API_URL=http://127.0.0.1:$(cat "$BATS_TEST_TMPDIR/port")" >"$BATS_TEST_TMPDIR/said" 2>&1 || status=$?
  kill "$api"
}
report() { posted report "$@"; }

@test "the report of a pull request becomes one comment of it, made by main" {
  echo '# What this moves' >"$BATS_TEST_TMPDIR/report.md"
  report report.md
  [ "$status" -eq 0 ] || { cat "$BATS_TEST_TMPDIR/said"; false; }
  [ "$(wc -l <"$BATS_TEST_TMPDIR/wrote")" -eq 1 ]
  grep -q '^POST /issues/12/comments "<!-- lab report -->\\n# What this moves' "$BATS_TEST_TMPDIR/wrote"
  [ "$(cat "$CHECKED_OUT")" = main ]
}

@test "a forged report becomes none" {
  cd "$BATS_TEST_TMPDIR"
  echo '# What this moves' >report.md
  echo 1 >number
  report report.md number
  [ "$status" -ne 0 ]
  [ ! -s wrote ]
  echo '<b>Approved</b>' >report.md
  report report.md
  [ "$status" -ne 0 ]
  [ ! -s wrote ]
  grep -q "the report is refused: line 1: '<' outside of code" said
  yes 'much' | head -c 70000 >report.md
  report report.md
  [ "$status" -ne 0 ]
  [ ! -s wrote ]
}

# told is a comment whose figures, each a run's own, are all the same; without what a machine need not
# tell, and without the calls that depend on time.
told() {
  node -e 'process.stdout.write(JSON.parse(require("fs").readFileSync(0, "utf8").replace(/^[^"]*/, "")))' <"$BATS_TEST_TMPDIR/wrote" |
    sed -E -e 's/[0-9a-f]{40}/COMMIT/g' -e 's/[0-9]+([.,][0-9]+)*/0/g' -e 's/0 (µs|ms|ns)\b/0 s/g' -e '/^note: /d' \
      -e 's/^(machine|lab): .*/\1: …/' -e 's/^bound: .*/bound: …/' -e '/^\| own work/d' -e '/^\| `?[a-z_0]+`?( \(eventfd\))?`? \| 0 \| 0 \|$/d'
}

@test "two revisions of a server are compared in a pull request, which gets one comment" {
  theirs
  SOURCE=$BATS_TEST_TMPDIR/theirs run offered pull_request compare
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *'a request costs the new server more than fail-above allows'* ]]
  cp "$ARTIFACTS/linerate/linerate.json" "$BATS_TEST_TMPDIR/"
  posted linerate linerate.json
  [ "$status" -eq 0 ] || { cat "$BATS_TEST_TMPDIR/said"; false; }
  [ "$(wc -l <"$BATS_TEST_TMPDIR/wrote")" -eq 1 ]
  grep -q '^POST /issues/12/comments "<!-- linerate linerate -->' "$BATS_TEST_TMPDIR/wrote"
  told | diff "$HERE/comment.md" -
  # Of the next push it is edited.
  posted linerate linerate.json '[{"id": 3, "user": {"login": "github-actions[bot]", "type": "Bot"}, "body": "<!-- linerate linerate -->"}]'
  grep -q '^PATCH /issues/comments/3 ' "$BATS_TEST_TMPDIR/wrote"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/wrote")" -eq 1 ]
}

@test "a tag makes archives with checksums, which are attested and published" {
  git clone --quiet --shared "$SOURCE" "$BATS_TEST_TMPDIR/tagged"
  sed -i 's/^version: .*/version: 9.9.9/' "$BATS_TEST_TMPDIR/tagged/CITATION.cff"
  git -C "$BATS_TEST_TMPDIR/tagged" -c user.name=x -c user.email=x@example.org commit -qam 'Nine'
  git -C "$BATS_TEST_TMPDIR/tagged" -c user.name=x -c user.email=x@example.org tag -a v9.9.9 -m 'Nine' -m 'What is new.'
  SOURCE=$BATS_TEST_TMPDIR/tagged workflow tag release
  (cd "$ARTIFACTS/dist" && sha256sum --check --quiet SHA256SUMS)
  [ "$(wc -l <"$ARTIFACTS/dist/SHA256SUMS")" -eq 4 ]
  grep -q 'What is new.' "$ARTIFACTS/dist/NOTES.md"
  tar -tzf "$ARTIFACTS/dist/line-rate-v9.9.9-linux-amd64.tar.gz" | grep -qx 'line-rate-v9.9.9-linux-amd64/lab'
  tar -xzf "$ARTIFACTS/dist/line-rate-v9.9.9-linux-amd64.tar.gz" -C "$BATS_TEST_TMPDIR"
  grep -q 'github.com/valyala/fasthttp v' "$BATS_TEST_TMPDIR/line-rate-v9.9.9-linux-amd64/NOTICES"
  "$BATS_TEST_TMPDIR/line-rate-v9.9.9-linux-amd64/lab" help | grep -q reproduce
  grep -qx 'attested 4 archives' "$CALLS"
  tar -xzf "$ARTIFACTS/dist/linerate-linux-amd64.tar.gz" -C "$BATS_TEST_TMPDIR" linerate
  "$BATS_TEST_TMPDIR/linerate" version | grep -q '^linerate v9.9.9, built from commit '
  grep -q '^gh release create v9.9.9 ' "$CALLS"
  grep -q '^docker manifest push ghcr.io/[^ ]*/linerate:latest' "$CALLS"
}

@test "the smoke benchmark runs as on a runner" {
  workflow push ci smoke
  grep -q '^sudo sysctl -w kernel.apparmor' "$CALLS"
  grep -qE '^[0-9]+ of [0-9]+ claims decided here' "$ARTIFACTS/run/reproduce.log"
  [ -e "$ARTIFACTS/run/public/index.html" ]
}

@test "pairs of known truth are measured on four runners, each a file of its own" {
  PATH=$HERE/made:$PATH
  workflow schedule calibrate
  [ "$(grep -c '^make calibrate ARGS=--host github-.*c --hosted --pairs 4 --shares 0,0.5,1,2,5 --budget 120s' "$CALLS")" -eq 4 ]
  [ "$(ls "$ARTIFACTS"/calibration-[1-4]/ | grep -c '^github-.*-[0-9]*[1-4].json$')" -eq 4 ]
}
