// Adds up raw results of autocannon, which trial.sh --raw printed on one machine or more,
// by autocannon's own aggregateResult, and prints one result as autocannon does:
//
//   cat client-*.json | node lab/scripts/aggregate.mjs
//
// What comes out right: counts and bytes add up, and histograms of latency are merged. What
// does not: start, finish, duration and samples are those of the first result, and the
// percentiles of requests and bytes a sample are of nothing. So start and finish are
// replaced here, by the first begin and the last end, and figures a sample are left out.
import autocannon from 'autocannon'
import { readFileSync } from 'node:fs'

try {
  const lines = readFileSync(0, 'utf8').split('\n').filter(line => line.trim())
  const results = lines.flatMap(line => JSON.parse(line))
  if (!results.length) throw new Error('there are no results; give it what trial.sh --raw printed')
  for (const r of results) {
    if (typeof r.latencies !== 'string' || !(r.totalCompletedRequests >= 0)) throw new Error('a result is not raw; let trial.sh print it with --raw')
  }
  const [start] = results.map(r => r.start).sort()
  const finish = results.map(r => r.finish).sort().at(-1)
  const { duration, samples, requests, throughput, connections, pipelining, sampleInt, workers, url, ...sum } = autocannon.aggregateResult(results, { url: 'http://localhost' })
  console.log(JSON.stringify({ ...sum, start, finish, requests: { total: requests.total, sent: requests.sent }, throughput: { total: throughput.total } }))
} catch (err) {
  console.error(`aggregate.mjs: ${err.message}`)
  process.exit(1)
}
