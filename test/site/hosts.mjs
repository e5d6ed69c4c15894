// A claim that a thousand machines measured: the site builds, and its pages stay small.
// The journal as it is gets two entries more that are alike, except that the claims of one
// were measured by few machines and those of the other by a thousand. Only the pages in
// question are built.
//
//   hosts.mjs [--keep]
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { names } from '../pages/names.mjs'
import { addHost, copy, costFalls, decide, design, figures, hugo, pad, run, scratch, write } from './journal.mjs'

const keep = process.argv.includes('--keep')
const kB = 1000
const numbers = { few: '0000', many: '0001' }
const machines = { few: 3, many: 1000 }
const nameOf = (n) => `${numbers[n]}-made-up`
const host = (n) => `made-up-${pad(n)}`
const designOf = (n) => design({
  entry: numbers[n],
  title: 'Many machines',
  question: 'Does it hold on all of them?',
  metrics: ['throughput_rps', 'server_cpu_per_request_s'],
  levels: [20, 200],
  rounds: 1,
  claims: [costFalls('A tenth is asked.'), `
id = "cost-flat"
kind = "flat"
text = "A request costs the same with more connections."
why = "A quarter is allowed."
metric = "server_cpu_per_request_s"
over = "connections"
margin = 0.25`]
})
const entry = (n) => `+++
number = "${numbers[n]}"
title = "Many machines"
date = 2026-01-01
status = "done"
chapter = "1"
tags = ["CPU"]
finding = "It holds on most."
thought = "It holds on all."
held = "It holds on most."
fell = "It does not hold on all."
experiments = ["${nameOf(n)}"]
${figures(nameOf(n))}
+++

{{< results exp="${nameOf(n)}" name="all" title="What it cost" metrics="throughput_rps server_cpu_per_request_s" >}}

{{< figure "cost" >}}

{{< figure "cost-falls" >}}
`

const home = scratch('hosts')
const dir = join(home, 'site')
const complaints = []
const expect = (ok, what) => { if (!ok) { complaints.push(what); console.log(what) } }
try {
  copy(dir)
  for (let i = 0; i < machines.many; i++) addHost(dir, host(i), `Made-up machine ${i >> 1}`)
  const plans = []
  for (const [n, count] of Object.entries(machines)) {
    write(join(dir, `lab/experiments/${nameOf(n)}.toml`), designOf(n))
    write(join(dir, `content/journal/${nameOf(n)}.md`), entry(n))
    for (let i = 0; i < count; i++) {
      // Most lie about 0.8; every twentieth at 1.1, and every tenth near the bar.
      const ratio = i % 20 === 7 ? 1.1 : i % 10 === 3 ? 0.9 : 0.76 + 0.08 * ((i * 37) % 101) / 101
      plans.push({ experiment: nameOf(n), host: host(i), started: new Date(Date.UTC(2026, 0, 1) + i * 6e4).toISOString(), seed: i + 1, blocks: 8, ended: 'decided', costs: { 20: 1, 200: ratio } })
    }
  }
  decide(dir, plans)
  write(join(dir, 'some.toml'), ['/claims', '/runs', ...Object.keys(machines).flatMap((n) => [`/journal/${nameOf(n)}`, `/claims/${nameOf(n)}/**`, `/runs/${nameOf(n)}{,/?,/??}`])].map((p) => `[[segments.some.includes]]\npath = '${p}'\n`).join(''))
  run(hugo, ['--panicOnWarning', '--noBuildLock', '--config', 'config.toml,some.toml', '--renderSegments', 'some', '--source', dir, '--destination', join(dir, 'public')], { env: { GOGC: '400', ...process.env } })

  for (const c of names(join(dir, 'public'))) expect(false, c)

  const page = (path) => readFileSync(join(dir, 'public', path, 'index.html'), 'utf8')
  const entries = { few: page(`journal/${nameOf('few')}`), many: page(`journal/${nameOf('many')}`) }
  const size = (html) => Buffer.byteLength(html)
  const grown = size(entries.many) - size(entries.few)
  const claim = page(`claims/${nameOf('many')}/cost-falls`)
  const ledger = page('claims')
  console.log(`with ${machines.many} machines instead of ${machines.few} the entry grows by ${grown} bytes; the claim's page has ${size(claim)} bytes, the ledger ${size(ledger)}, both uncompressed`)
  expect(grown < 5 * kB, `the entry grows by ${grown} bytes, and may by ${5 * kB}`)
  expect(size(claim) < 150 * kB, `the claim's page has ${size(claim)} bytes, and may have ${150 * kB}`)
  // A limit for each row, since the journal's own claims are in it and may be any number.
  const rows = ledger.split('<tr').length - 1
  expect(size(ledger) < 1.3 * kB * rows, `the ledger has ${size(ledger)} bytes, and may have ${1.3 * kB * rows} with ${rows} rows`)

  // The sum is in words, every machine has its mark, those that differ have their names,
  // and the entry names one machine only.
  const sum = /confirmed on [\d,]+ of 1,000 machines, refuted on (\d+)/i.exec(claim)
  expect(sum !== null && entries.many.toLowerCase().includes(sum[0].toLowerCase()), 'the sum over machines is not on both pages')
  const marks = [...claim.matchAll(/<path class="dots[^>]*d="([^"]*)"/g)].reduce((n, [, d]) => n + d.split('M').length - 1, 0)
  expect(marks === machines.many, `${marks} marks for ${machines.many} machines`)
  const named = /<ul class="outliers">([\s\S]*?)<\/ul>/.exec(claim)?.[1] ?? ''
  expect(named.split('<li>').length - 1 === 12 && !/confirmed/.test(named), `the machines that differ are not named: ${named}`)
  const on = new Set([...entries.many.matchAll(/href="[^"]*\/hosts\/(made-up-\d+)\/"/g)].map((m) => m[1]))
  expect(on.size <= 6, `the entry names ${on.size} machines`)
  expect(page(`claims/${nameOf('few')}/cost-falls`).split('<circle').length - 1 === machines.few, 'not one row for each of few machines')

  // The list of all runs names a few of each experiment; the experiment's own list, with
  // its parts, leads to each of them.
  const runs = page('runs')
  const lists = ['', ...readdirSync(join(dir, 'public/runs', nameOf('many')))].filter((f) => !f.includes('.')).map((f) => page(`runs/${nameOf('many')}/${f}`))
  const leads = (html) => [...html.matchAll(new RegExp(`href="?[^">]*(/runs/${nameOf('many')}/[^"/>]{3,}/)`, 'g'))].map((m) => m[1])
  const heaviest = Math.max(...lists.map(size))
  console.log(`/runs/ has ${size(runs)} bytes, the heaviest of ${lists.length} lists of ${machines.many} runs ${heaviest}`)
  expect(leads(runs).length === 3, `/runs/ names ${leads(runs).length} of ${machines.many} runs, and should name three`)
  expect(size(runs) < 60 * kB, `/runs/ has ${size(runs)} bytes, and may have ${60 * kB}`)
  expect(heaviest < 60 * kB, `a list of runs has ${heaviest} bytes, and may have ${60 * kB}`)
  const led = new Set(lists.flatMap(leads))
  expect(led.size === machines.many, `the lists of runs lead to ${led.size} of ${machines.many} runs`)
  const csv = readFileSync(join(dir, 'public/data/ledger.csv'), 'utf8')
  expect(csv.split('\n').filter((l) => l.includes(`,${nameOf('many')},`)).length === 2 * machines.many, 'the CSV has not one line for each claim and machine')
} finally {
  if (keep) console.log(`sites kept in ${home}`)
  else rmSync(home, { recursive: true, force: true })
}
if (complaints.length > 0) process.exit(1)
