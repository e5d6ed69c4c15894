// A stream of events as three readers have it: a browser's EventSource, event_reader, and Node's
// http, which takes the bytes as they come. All must have the same events.
//
//   streams.mjs DIRECTORY-OF-PROGRAMS
import { spawn } from 'node:child_process'
import { get } from 'node:http'
import { join } from 'node:path'
import { deepStrictEqual, strictEqual } from 'node:assert'

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log('skip: the pinned browser is for Linux on x86-64')
  process.exit(0)
}
const { default: chromium } = await import('@sparticuz/chromium')
const { chromium: playwright } = await import('playwright-core')

const program = (name) => join(process.argv[2], name)
const server = spawn(program('fanout_server'), ['--addr', '127.0.0.1:0', '--topics', '1', '--subscriber', '1000'])
const url = await new Promise((found, failed) => {
  let said = ''
  server.stderr.on('data', (text) => {
    said += text
    const addr = /listening addr=(\S+)/.exec(said)
    if (addr) found(`http://${addr[1]}`)
  })
  server.on('exit', (status) => failed(new Error(`fanout_server ended with ${status}: ${said}`)))
})
let browser
try {
  let plain = ''
  const stream = get(`${url}/events/0`, (answer) => answer.setEncoding('utf8').on('data', (text) => { plain += text }))
  stream.on('error', () => {}) // that it is cut off below
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox', '--disable-gpu'], headless: true })
  const page = await browser.newPage()
  await page.goto(`${url}/live`)
  await page.evaluate(() => new Promise((open, failed) => {
    globalThis.came = []
    const source = new EventSource('/events/0')
    source.onopen = open
    source.onerror = failed
    source.onmessage = (e) => globalThis.came.push([e.lastEventId, e.data])
  }))
  const reader = spawn(program('event_reader'),
    ['--server', url.replace('http://', ''), '--topics', '1', '--connections', '1', '--rate', '200', '--warmup', '0.3', '--duration', '1'])
  let printed = ''
  reader.stdout.on('data', (text) => { printed += text })
  strictEqual(await new Promise((ended) => reader.on('close', ended)), 0, 'event_reader failed')
  const { account } = JSON.parse(printed)

  let shown = []
  for (let n = 0; n < 100 && shown.length < account.published; n++) {
    await page.waitForTimeout(50)
    shown = await page.evaluate(() => globalThis.came)
  }
  stream.destroy()
  const raw = plain.split('\n\n').filter(Boolean).map((event) => {
    const field = (name) => event.split('\n').filter((l) => l.startsWith(`${name}: `)).map((l) => l.slice(name.length + 2)).join('\n')
    return [field('id'), field('data')]
  })
  if (account.published < 100) throw new Error(`${account.published} events are too few`)
  strictEqual(account.received, account.published, 'event_reader does not have all')
  strictEqual(raw.length, account.published, 'the bytes do not have all')
  deepStrictEqual(shown, raw, 'EventSource has others than the bytes')
  console.log(`${raw.length} events, the same to EventSource, event_reader and as bytes`)
} finally {
  await browser?.close()
  server.removeAllListeners('exit')
  server.kill()
}
