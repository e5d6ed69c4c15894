#!/usr/bin/env bash
# A bar in prose is shown with the digits that it was written with (the lab words the
# criteria of claims, and tests theirs), and a ratio of a measured run is the one that its
# verdict is based on. Uses the golden pages' site, with a few lines changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R config.toml content layouts assets static data "$copy/"
mkdir -p "$copy/lab" "$copy/test/site"
cp -R lab/experiments "$copy/lab/"
cp -R test/site/config.toml test/site/fixture "$copy/test/site/"
fixture=$copy/test/site/fixture
entry=$fixture/content/journal/90-workers.md

was=$(sha256sum <"$fixture/lab/experiments/90-workers.toml" | cut -d' ' -f1)

# change FILE FROM TO replaces text, and fails if it is not there.
change() { grep -qF -- "$2" "$1" || { echo "$1 has no $2"; exit 1; }; sed -i "s/$2/$3/" "$1"; }
change "$fixture/lab/experiments/90-workers.toml" 'at_least = 1.5' 'at_least = 1.125'
change "$fixture/lab/experiments/90-workers.toml" 'margin = 0.5' 'margin = 0.1125'
# Its runs are said to be of the design with these bars.
design=$fixture/lab/experiments/90-workers.toml
now=$(sha256sum <"$design" | cut -d' ' -f1)
cp "$design" "$fixture/data/designs/$now.toml"
sed -i "s/$was/$now/" "$fixture"/data/results/90-workers/*.json
(cd "$fixture" && "$OLDPWD/.tools/bin/lab" derive >/dev/null)

build() { said=$(.tools/bin/hugo --panicOnWarning --noBuildLock --source "$copy" --config config.toml,test/site/config.toml --destination "$copy/public" 2>&1); }
# shows PAGE WORDS checks that the page contains the words.
shows() { grep -qF -- "$2" "$copy/public/$1/index.html" || { echo "$1 does not show: $2"; exit 1; }; }

nb=$'\xc2\xa0' # keeps a figure and its sign on one line; as bytes, since a locale may not be UTF-8

# The ratio of the medians, and the median of the ratios.
run=20261120t080000z-small-cpu-2c-0000aaaa
medians=$(node -e '
  const d = JSON.parse(require("fs").readFileSync(process.argv[1]))
  const at = (n) => d.conditions.find((c) => c.levels.workers === n).metrics.server_cpu_per_request_s.median
  const e = d.claims.flatMap((c) => c.effects ?? []).find((e) => e.metric === "server_cpu_per_request_s" && e.a.workers === 4)
  if ((at(4) / at(1)).toFixed(3) === e.ratio.toFixed(3)) process.exit(1)
  console.log(e.ratio)' "$fixture/derived/pages/runs/90-workers/$run.json") || { echo "the run does not tell the two ratios apart"; exit 1; }
cat >>"$entry" <<EOF

Rests on {{< ratio exp="90-workers" run="$run" metric="server_cpu_per_request_s" a="workers=4" b="workers=1" >}}, so much more: {{< ratio exp="90-workers" run="$run" metric="server_cpu_per_request_s" a="workers=4" b="workers=1" as="percent" >}}.
EOF
build || { echo "$said"; exit 1; }
shows journal/90-workers '>1.125<'
shows journal/90-workers ">11.25$nb%<"
shows journal/90-workers "value=\"$medians\""

# A ratio that no claim compares has no such figure, and a measured figure has words only
# if its experiment names the metric.
cat >>"$entry" <<EOF

Nobody asked {{< ratio exp="90-workers" run="$run" metric="latency_p50_s" a="workers=4" b="workers=1" >}} or {{< value exp="90-workers" metric="requests" workers=4 >}}.
EOF
if build; then echo "a ratio that no claim rests on is shown, or a figure without words"; exit 1; fi
for why in 'its claims compare' 'has no words for a figure of requests'; do
  grep -qF "$why" <<<"$said" || { echo "$said"; exit 1; }
done
echo "bars are shown as written, and measured ratios as decided"
