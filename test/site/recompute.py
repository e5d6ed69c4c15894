#!/usr/bin/env python3
"""Computes ratios that pages show again, from data/results alone.

recompute.py SITE [N [SEED]]: N ratios (60) of a built site, drawn at random. It shares no code with
the lab: a ratio is the median over blocks of one condition's figure over another's, of trials that
no gate refused, over all runs of a machine with the same programs. Only experiments whose trials
take turns, and figures that follow from their slots, are drawn: requests a second, and CPU time a
request of server and client.
"""
import glob, html, json, random, re, statistics, sys

AT, DURATION, FILL, REQUESTS, SERVER, CLIENT = range(6)  # of a slot, times in microseconds
FIGURES = {
    "throughput_rps": lambda s: s[REQUESTS] / (s[DURATION] / 1e6),
    "server_cpu_per_request_s": lambda s: s[SERVER] / 1e6 / s[REQUESTS],
    "client_cpu_per_request_s": lambda s: s[CLIENT] / 1e6 / s[REQUESTS],
}


def blocks(path, metric):
    """Figures of a run's valid trials: for each block, by the condition's levels."""
    run = json.load(open(path))
    levels = {c["id"]: None if "control_of" in c else c["levels"] for c in run["conditions"]}
    out, block = [], 0
    for trial in run["trials"]:
        if trial.get("block", block) != block:  # earlier runs say it in the first trial of a block
            block = trial["block"]
            out.append({})
        if trial.get("reasons") or not trial.get("slots") or levels[trial["of"]] is None:
            continue  # refused by a gate, not in turns, or the A/A control
        slots = [sum(column) for column in zip(*(s[:6] for s in trial["slots"]))]
        key = json.dumps(levels[trial["of"]], sort_keys=True)
        if slots[REQUESTS]:
            out[-1][key] = FIGURES[metric](slots)
    return out


def programs(path):
    """What decides whether runs count together: host, design, and what its programs are made of, or
    are, where they do not say what they are made of."""
    p = json.load(open(path))
    made = {n: b.get("made_of") or b["sha256"] for n, b in p["provenance"]["binaries"].items() if n != "lab"}
    return json.dumps([p["hosts"], p["settings"], [c["levels"] for c in p["conditions"] if "control_of" not in c], made])


def ratio(experiment, run, effect):
    """The median of the blocks' ratios, or None where the figures are of another kind."""
    newest = f"data/results/{experiment}/{run}.json"
    of = programs(newest)
    a = json.dumps({**effect.get("at", {}), **effect["a"]}, sort_keys=True)
    b = json.dumps({**effect.get("at", {}), **effect["b"]}, sort_keys=True)
    ratios = []
    for path in sorted(glob.glob(f"data/results/{experiment}/*.json")):
        if programs(path) == of:
            ratios += [x[a] / x[b] for x in blocks(path, effect["metric"]) if a in x and b in x]
    return (statistics.median(ratios), len(ratios)) if ratios else (None, 0)


def main():
    site = sys.argv[1]
    n, seed = (int(x) for x in (sys.argv[2:] + ["60", "1"][len(sys.argv) - 2:])[:2])
    shown = []
    for path in glob.glob("derived/data/claims/*.json"):
        experiment = json.load(open(path))
        if not experiment.get("record"):
            continue
        name, run = experiment["experiment"], experiment["record"]
        said = json.load(open(f"derived/pages/runs/{name}/{run}.json"))
        for claim in said["claims"]:
            for e in claim.get("effects", []):
                if e["metric"] in FIGURES and e.get("ratio") and "a" in e:
                    shown.append((name, run, claim["id"], e))
        for e in said.get("relative", {}).get("rows", []):
            if e["metric"] in FIGURES and e.get("ratio"):
                shown.append((name, run, None, e))
    random.Random(seed).shuffle(shown)
    checked, wrong = 0, 0
    for name, run, claim, e in shown:
        if checked == n:
            break
        got, pairs = ratio(name, run, e)
        # Measured in one piece; or blocks in which nothing was full, which slots do not tell.
        if got is None or e["metric"] == "throughput_rps" and pairs != e["pairs"]:
            continue
        checked += 1
        # A table of ratios to one level stands in the entry, and shows some as changes in percent.
        paths = [f"{site}/claims/{name}/index.html"] if claim else glob.glob(f"{site}/journal/*/index.html")
        page = "".join(html.unescape(open(path).read()) for path in paths)
        digits = len(e["text"].partition(".")[2])
        text = f"{got:.{digits}f}"
        printed = [text] if claim else [text, e["change"]]
        if text != e["text"] or not any(re.search(rf'>{re.escape(t)}[<\s]', page) for t in printed):
            wrong += 1
            print(f"{name}/{claim}: {e['metric']} of {e['a']} over {e['b']}: the page shows {e['text']}, "
                  f"the results give {text}, of {pairs} blocks")
    print(f"{checked} ratios drawn from {len(shown)}, {checked - wrong} as the results give them")
    sys.exit(1 if wrong or checked < n else 0)


if __name__ == "__main__":
    main()
