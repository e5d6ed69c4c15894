// Runs autocannon as trial.sh asks for it, and keeps its results raw: one line of JSON, a
// list with the results of each event loop, as autocannon's aggregateResult takes them.
//
//   trial.sh --generator autocannon --raw --at "$(date --date '10 seconds' +%s)" …   on each client
//   cat client-*.json | node lab/scripts/aggregate.mjs
//
// AT, in seconds since 1970, is when it begins to load, by this machine's clock; nothing:
// at once. By then all is loaded that takes a moment, so that several machines begin
// together. A warm-up's results are left out.
import autocannon from 'autocannon'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

const [at, ...args] = isMainThread ? process.argv.slice(2) : workerData

async function load () {
  const { connections, workers, json, ...rest } = autocannon.parseArguments(args)
  // As autocannon's own manager of workers deals them out. That manager always
  // aggregates, so workers are started here.
  const opts = { ...rest, workers: 0, skipAggregateResult: true, connections: Math.max(Math.floor(connections / (workers || 1)), 1) }
  delete opts[Symbol.for('internal')] // or it would print tables
  if (at) {
    const left = Number(at) * 1000 - Date.now()
    if (!(left <= 3600e3)) throw new Error(`give a time within an hour, in seconds since 1970, not ${at}`)
    if (left < 0) throw new Error(`began ${(-left / 1000).toFixed(2)} s late`)
    await new Promise(resolve => setTimeout(resolve, left))
  }
  const { warmup, ...result } = await autocannon(opts)
  return result
}

function worker () {
  return new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url), { workerData: [at, ...args] }).on('message', resolve).on('error', reject)
  })
}

if (!isMainThread) {
  parentPort.postMessage(await load())
} else {
  try {
    const { workers } = autocannon.parseArguments(args)
    const results = await Promise.all(workers ? Array.from({ length: workers }, worker) : [load()])
    console.log(JSON.stringify(results))
  } catch (err) {
    console.error(`autocannon.mjs: ${err.message}`)
    process.exit(1)
  }
}
