#!/usr/bin/env python3
"""Computes figures that pages show again, from data/results alone.

recompute.py SITE [N [SEED]]: N figures (60) of a built site, drawn at random: a third of them from claims, pictures and
sentences each. It shares no code with the lab: a figure is the median over blocks of one condition's figure, or of its
ratio to another's, of trials that no fault refused, over all runs of a machine with the same programs. Only figures that
follow from slots are drawn: requests a second, and CPU time a request of server and client.
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


def wants(levels, wanted):
    """Whether a condition's levels, as JSON, have those that a figure names."""
    return all(str(json.loads(levels).get(k)).lower() == str(v).lower() for k, v in wanted.items())


def figure(experiment, run, metric, of):
    """The median of the blocks' figures or, of two conditions, of their ratios, and of how many blocks."""
    same, all = programs(f"data/results/{experiment}/{run}.json"), []
    for path in sorted(glob.glob(f"data/results/{experiment}/*.json")):
        for block in blocks(path, metric) if programs(path) == same else []:
            found = [[v for levels, v in block.items() if wants(levels, wanted)] for wanted in of]
            if any(len(f) > 1 for f in found):
                return None, 0  # the levels are of several conditions
            if all_there := [f[0] for f in found if f]:
                if len(all_there) == len(of):
                    all.append(all_there[0] / (all_there[1] if len(of) == 2 else 1))
    return (statistics.median(all), len(all)) if all else (None, 0)


UNITS = {"": 1, "s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def agrees(text, value):
    """Whether a figure is printed as its value rounds."""
    number, _, unit = text.replace("\u00a0", " ").replace(",", "").partition(" ")
    digits = len(number.partition(".")[2])
    whole = number.rstrip("0") if not digits else number  # 63,200 may have been rounded to hundreds
    step = 10.0 ** (len(number) - len(whole) if not digits else -digits)
    return abs(value / UNITS[unit] - float(number)) <= step * 0.5001


def shown():
    """All figures of claims, pictures and sentences that can be computed: where, of what, and as which text."""
    whole, runs = json.load(open("derived/site.json")), {}
    claims, pictures, prose = [], [], []
    for path in glob.glob("derived/x/*.json"):
        x = json.load(open(path))
        runs[x["name"]] = x.get("run")
        for c in x["claims"]:
            for e in c.get("effects", []):
                if e["metric"] in FIGURES and e.get("ratio") and "a" in e:
                    of = [{**e.get("at", {}), **e["a"]}, {**e.get("at", {}), **e["b"]}]
                    claims.append((f"claims/{x['name']}/", c["id"], x["name"], e["metric"], of, e["text"], e["pairs"]))
    for name, page in whole["pages"].items():
        at = {"_index": "", "method": "method/"}.get(name, f"journal/{name}/")
        for figure, f in page.get("figures", {}).items():
            for chart in f["charts"]:
                for row in chart.get("table", {}).get("rows", []):
                    if chart.get("metric") in FIGURES and row.get("of"):
                        pictures.append((at, f"figure-{figure}", chart["experiment"], chart["metric"], row["of"],
                                         row["cells"][1]["text"], None))
    for reference, n in json.load(open("derived/numbers.json")).items():
        words = reference.split()
        if len(words) > 3 and words[1] in ("ratio", "value") and words[2] in FIGURES and runs.get(words[0]):
            pairs = [w.partition("=") for w in words[3:]]
            of = [{k: v.split("/")[0] or v for k, _, v in pairs}]
            if words[1] == "ratio":
                of.append({k: v.split("/")[1] if "/" in v and v.split("/")[0] else v for k, _, v in pairs})
            if "'" not in reference:
                prose.append(("", reference, words[0], words[2], of, n.get("text", ""), None))
    return runs, claims, pictures, prose


def main():
    site = sys.argv[1]
    n, seed = (int(x) for x in (sys.argv[2:] + ["60", "1"][len(sys.argv) - 2:])[:2])
    runs, *kinds = shown()
    texts = {path: html.unescape(open(path).read()) for path in glob.glob(f"{site}/**/index.html", recursive=True)}
    checked, wrong = 0, 0
    for kind in kinds:
        random.Random(seed).shuffle(kind)
        left = -(-n // len(kinds))
        for at, where, name, metric, of, text, pairs in kind:
            if left == 0:
                break
            got, blocks = figure(name, runs[name], metric, of)
            # Measured in one piece; or blocks in which nothing was full, which slots do not tell.
            if got is None or not text[:1].isdigit() or len(of) == 2 and metric == "throughput_rps" and pairs != blocks:
                continue
            left, checked = left - 1, checked + 1
            page = texts.get(f"{site}/{at}index.html", "") if at or kind is not kinds[2] else "".join(texts.values())
            if kind is kinds[1]:
                page = page.partition(f'id="{where}"')[2].partition("</figure>")[0]
            if not agrees(text, got) or not re.search(rf'>{re.escape(text)}[<\s]', page):
                wrong += 1
                print(f"{at}{where}: {metric} of {of}: the page shows {text}, the results give {got}, of {blocks} blocks")
    print(f"{checked} figures drawn from {sum(map(len, kinds))}, {checked - wrong} as the results give them")
    sys.exit(1 if wrong or checked < n or not all(kinds) else 0)


if __name__ == "__main__":
    main()
