#!/usr/bin/env python3
"""Counts how often linerate compare is right where the truth is known.

It compares a server with itself, and with a copy that burns a planted share more CPU time a request, and adds a row for
each pair to data/calibration/pairs.csv. make calibrate builds what it needs. Leave the machine alone meanwhile.
"""
import argparse, csv, glob, json, os, random, socket, statistics, subprocess, sys, time

LINERATE, PLANTED, FILE = ".tools/bin/linerate", ".tools/bin/planted", "data/calibration/pairs.csv"
DOUBLED = 16_000  # steps that about double what a request costs: a step is known by what it adds
BURN = """import os, sys, time
share, parent = float(sys.argv[1]), os.getppid()
while os.getppid() == parent:
    end = time.perf_counter() + share / 10
    while time.perf_counter() < end:
        pass
    time.sleep((1 - share) / 10)
"""


class Server:
    """A planted server on the first core that this process may use."""

    def __init__(self, steps):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.addr = "127.0.0.1:%d" % s.getsockname()[1]
        self.process = subprocess.Popen([PLANTED, "--addr", self.addr, "--steps", str(steps)],
                                        preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]))
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", int(self.addr.split(":")[1]))) == 0:
                    return
            time.sleep(0.02)
        raise SystemExit(f"calibrate: no server listens on {self.addr}")

    def cpu(self):
        return sum(int(open(f).read().split()[0]) for f in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat")) / 1e9

    def cost(self):
        """CPU seconds a request, over half a second of load; the server sleeps at both readings."""
        before = self.cpu()
        out = subprocess.run([LINERATE, "load", "--json", "-c", "32", "-d", "500ms", f"http://{self.addr}/"], check=True,
                             capture_output=True, text=True).stdout
        return (self.cpu() - before) / json.loads(out)["summary"]["targets"][0]["answered"]


def more(steps, rounds):
    """By how much more a request costs with so many steps, in rounds that take turns, and what it costs with none."""
    servers = [Server(0), Server(steps)]
    try:
        for s in servers:
            s.cost()  # warm
        rows = [[s.cost() for s in servers] for _ in range(rounds)]
    finally:
        for s in servers:
            s.process.kill()
            s.process.wait()
    return [b / a - 1 for a, b in rows], statistics.median(a for a, _ in rows)


def span(values, times=1.0):
    """The median, and the interval between order statistics that misses it once in twenty."""
    values, n, k, tail = sorted(values), len(values), 0, 0.5 ** len(values)
    term = tail
    while tail <= 0.025:
        k += 1
        term = term * (n - k + 1) / k
        tail += term
    k = max(k - 1, 0)
    return [times * v for v in (statistics.median(values), values[k], values[n - 1 - k])]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--pairs", type=int, default=20, help="pairs of each share (20)")
    p.add_argument("--shares", default="0,1,3,10", help="planted shares, in percent of the CPU time a request")
    p.add_argument("--budget", type=int, default=60, help="seconds of each pair, as linerate compare --budget (60)")
    p.add_argument("--margin", type=float, default=3, help="in percent, as linerate compare --margin (3)")
    p.add_argument("--beside", type=float, default=0, help="share of a core that one other process uses meanwhile (0)")
    p.add_argument("--rounds", type=int, default=30, help="rounds in which the plant itself is measured (30)")
    a = p.parse_args()
    step, cost = more(DOUBLED, a.rounds)
    plants = {}
    for percent in (float(s) for s in a.shares.split(",")):
        steps = round(percent / 100 / statistics.median(step) * DOUBLED)
        plants[percent] = steps, span(step, steps / DOUBLED), span(more(steps, a.rounds)[0])
        print("%g %% planted: %d steps, which are %.2f %% (%.2f to %.2f); counted beside it: %.2f %% (%.2f to %.2f)" % (
            percent, steps, *(100 * v for v in plants[percent][1] + plants[percent][2])))
    todo = list(plants) * a.pairs
    random.shuffle(todo)  # what favours one hour of the day favours no share
    version = subprocess.run([LINERATE, "version"], capture_output=True, text=True, check=True).stdout.strip()
    names = next(csv.reader(open(FILE)))
    if a.beside:  # it ends with this process
        subprocess.Popen([sys.executable, "-c", BURN, str(a.beside)])
    for i, percent in enumerate(todo):
        steps, known, counted = plants[percent]
        call = [LINERATE, "compare", "--json", "--url", "/", "--budget", f"{a.budget}s", "--margin", f"{a.margin:g}%",
                f"base={PLANTED} --addr {{addr}}", f"head={PLANTED} --addr {{addr}} --steps {steps}"]
        done = subprocess.run(call, capture_output=True, text=True)
        if not done.stdout:
            raise SystemExit("calibrate: " + done.stderr.strip().split("\n")[-1])
        o = json.loads(done.stdout)
        c = o["comparisons"][0]
        r = c.get("server_cpu_per_request_s", {})
        row = dict(machine=o["machine"], commit=o["lab"], linerate=version, margin=a.margin / 100, budget_s=a.budget, beside=a.beside or "", cost_s=cost,
                   share=percent / 100, steps=steps, started_at=o["started_at"], seed=o["seed"], duration_s=o["duration_s"],
                   blocks=o["blocks"], invalid_trials=o["invalid_trials"], verdict=c["verdict"], ratio=r.get("ratio", ""),
                   low=r.get("low", ""), high=r.get("high", ""))
        for name, values in (("known", known), ("counted", counted)):
            row.update(zip((name, name + "_low", name + "_high"), values))
        with open(FILE, "a", newline="") as f:
            csv.DictWriter(f, names, lineterminator="\n").writerow(row)
        print(f"{i + 1} of {len(todo)}, {percent:g} % planted: {c['says']} ({o['duration_s']:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
