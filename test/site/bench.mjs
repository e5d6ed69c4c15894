// What a build costs as the journal grows: the real site with N made-up entries and three
// runs of each, built cold, for several N in one call, so that the rows compare even on a
// machine whose speed changes. It asserts nothing; look at the CPU seconds and the last
// column.
//
//   bench.mjs [--keep] [--hugo=FLAG]… [N…]     N: 100 300 1000 unless given
//
// An entry has prose with figures, tables and charts, one experiment with two claims, and
// three runs by two of twenty hosts; two of these runs form a record. A run has twelve
// blocks of two or three conditions and an A/A control, three slots each, with everything
// that the lab records of a trial. The lab makes up the runs, and derives what follows
// from them.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addHost, copy, costFalls, decide, design, figures, hugo, pad, scratch, timed, write } from './journal.mjs'

const args = process.argv.slice(2)
const keep = args.includes('--keep')
const flags = args.filter((a) => a.startsWith('--hugo=')).map((a) => a.slice('--hugo='.length))
const sizes = args.filter((a) => /^\d+$/.test(a)).map(Number)
if (sizes.length === 0) sizes.push(100, 300, 1000)
const hosts = 20

// xorshift32, because Math.random cannot be seeded.
let state = 2463534242
const random = () => {
  state ^= state << 13; state ^= state >>> 17; state ^= state << 5
  return (state >>> 0) / 2 ** 32
}
const pick = (list) => list[Math.floor(random() * list.length)]
const host = (n) => `bench-host-${pad(n % hosts)}`
const experiment = (n) => `${pad(n)}-bench`

const words = 'a the of and to in is that it with as for each one this when by from more than request server client core wire answer cost trial claim margin level worker thread packet call buffer queue route load block host figure interval'.split(' ')
const sentence = () => {
  const s = Array.from({ length: 8 + Math.floor(random() * 12) }, () => pick(words)).join(' ')
  return s[0].toUpperCase() + s.slice(1) + '.'
}
const prose = (n) => Array.from({ length: n }, sentence).join(' ')

const levelsOf = (n) => n % 2 ? [20, 200] : [20, 200, 1000]

const designOf = (n) => design({
  entry: pad(n),
  title: `Bench ${pad(n)}`,
  question: sentence().replace('.', '?'),
  metrics: ['threads_per_worker', 'throughput_rps', 'server_cpu_per_request_s', 'latency_p99_s'],
  levels: levelsOf(n),
  rounds: 3,
  claims: [`
id = "threads-flat"
kind = "flat"
text = "Threads per worker stay the same."
why = "${sentence()}"
metric = "threads_per_worker"
over = "connections"
margin = 0.25`, costFalls(sentence())]
})

// The first two runs are by one host, and form a record.
const by = (n, k) => host(n * 3 + (k === 1 ? 0 : k))
const runName = (n, k) => `2026010${k + 1}t000000z-${by(n, k)}`

function plan (n, k) {
  const effect = 0.8 + random() * 0.3
  return {
    experiment: experiment(n),
    host: by(n, k),
    started: `2026-01-0${k + 1}T00:00:00Z`,
    seed: n * 3 + k + 1,
    blocks: 12,
    ended: pick(['decided', 'budget']),
    costs: Object.fromEntries(levelsOf(n).map((l, i) => [l, effect ** i]))
  }
}

function entry (n) {
  const exp = experiment(n)
  const value = (m) => `{{< value exp="${exp}" metric="${m}" connections=${pick(levelsOf(n))} >}}`
  const ratio = (m) => `{{< ratio exp="${exp}" metric="${m}" a="connections=${levelsOf(n).at(-1)}" b="connections=20" >}}`
  const said = () => `${prose(2)} It was ${value('throughput_rps')} at ${value('server_cpu_per_request_s')}, or ${ratio('server_cpu_per_request_s')} of it. ${prose(3)} Then ${value('latency_p99_s')}, and ${value('threads_per_worker')} threads. ${prose(2)}`
  return `+++
number = "${pad(n)}"
title = "Bench entry ${pad(n)}"
date = 2026-01-01
status = "done"
chapter = "1"
tags = ["${pick(['NIC', 'Threads', 'Prefork'])}", "${pick(['Latency', 'CPU', 'Pipelining'])}"]
finding = "${sentence()}"
believed = "${sentence()}"
found = "${sentence()}"
experiments = ["${exp}"]
${figures(exp)}
+++

## Why

${said()}

${said()}

## Setup

${prose(8)} See {{< claim exp="${exp}" claim="cost-falls" >}} and {{< host id="${host(n * 3)}" >}}.

\`\`\`sh
.tools/bin/lab run ${exp}
\`\`\`

## Results

{{< results exp="${exp}" name="all" title="All hosts" metrics="throughput_rps server_cpu_per_request_s latency_p99_s" >}}

{{< figure "cost" >}}

{{< figure "cost-falls" >}}

## What it means

${said()}

> [!mistake]
> ${prose(3)}

> [!finding]
> ${prose(2)} ${value('throughput_rps')}.
`
}

// site makes the real site with n more entries at dir.
function site (dir, n) {
  copy(dir)
  if (n === 0) return
  state = 2463534242
  for (let i = 0; i < hosts; i++) addHost(dir, host(i), `Bench host ${i}`)
  const plans = []
  for (let i = 0; i < n; i++) {
    write(join(dir, `lab/experiments/${experiment(i)}.toml`), designOf(i))
    for (let k = 0; k < 3; k++) plans.push(plan(i, k))
  }
  for (let i = 0; i < n; i++) write(join(dir, `content/journal/${pad(i)}-bench.md`), entry(i))
  decide(dir, plans) // and draws what the entries declare
}

// build runs Hugo cold, as in `make site`.
async function build (dir) {
  const b = await timed(hugo, ['--panicOnWarning', '--noBuildLock', '--ignoreCache', '--source', dir, '--destination', join(dir, 'public'), ...flags], { env: { GOGC: '200', ...process.env } })
  return { ...b, pages: readdirSync(join(dir, 'public'), { recursive: true }).filter((f) => f.endsWith('.html')).length }
}

const home = scratch('bench')
try {
  console.log('entries added    runs   pages  seconds  CPU s  peak MB  ms an entry  of the first')
  let alone = 0
  let first = 0
  for (const n of [0, ...sizes]) {
    const dir = join(home, String(n))
    site(dir, n)
    const b = await build(dir)
    if (flags.length > 0) console.log(b.out)
    // The journal as it is costs the same in each row, so it is subtracted from an
    // entry's cost.
    const each = (Number.isNaN(b.cpu) ? b.seconds : b.cpu) - alone
    if (n === 0) alone = each
    else first ||= each / n
    const cells = [[n, 13], [n * 3, 8], [b.pages, 8], [b.seconds.toFixed(1), 9], [b.cpu.toFixed(1), 7], [(b.memory / 1e6).toFixed(0), 9]]
    if (n > 0) cells.push([(each / n * 1000).toFixed(1), 13], [(each / n / first).toFixed(2), 14])
    console.log(cells.map(([v, w]) => String(v).padStart(w)).join(''))
    if (!keep) rmSync(dir, { recursive: true })
  }
  console.log('ms an entry: CPU time beyond that of the journal alone, the first row')
  if (keep) console.log(`sites kept in ${home}`)
} finally {
  if (!keep) rmSync(home, { recursive: true, force: true })
}
