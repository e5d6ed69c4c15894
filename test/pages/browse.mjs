// Visits every page of a built site in a real browser, narrow and wide, light
// and dark: axe finds nothing, the console stays silent, nothing is asked of
// another origin, no page scrolls sideways, every internal link and anchor
// leads somewhere, and the page reads the same without JavaScript.
//
//   browse.mjs DIRECTORY [--shots DIRECTORY]
import { existsSync, readFileSync, readdirSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { serve } from './serve.mjs'
import { ledger } from './ledger.mjs'

const args = process.argv.slice(2)
const root = args[0]
const shots = args[1] === '--shots' ? args[2] : ''
if (!root || !existsSync(root)) { console.error('usage: browse.mjs DIRECTORY [--shots DIRECTORY]'); process.exit(2) }
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log('skip: the pinned browser is for Linux on x86-64')
  process.exit(0)
}

const { default: chromium } = await import('@sparticuz/chromium')
const { chromium: playwright } = await import('playwright-core')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const { base, locate, origin, close } = await serve(root)

const pages = readdirSync(root, { recursive: true })
  // A page that only sends its reader on is gone before it can be looked at.
  .filter((f) => f.endsWith('.html') && !/http-equiv="?refresh/.test(readFileSync(join(root, f), 'utf8'))).sort()
  .map((f) => `${base}/${f.replace(/(^|\/)index\.html$/, '$1')}`)

const complaints = []
const complain = (what) => { complaints.push(what); console.log(what) }
const links = new Map() // target → a page that links there
const anchors = new Map() // page → its ids

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  headless: true
})
let visits = 0
try {
  for (const javaScriptEnabled of [true, false]) {
    for (const width of [360, 1280]) {
      for (const colorScheme of ['light', 'dark']) {
        if (!javaScriptEnabled && (width === 360 || colorScheme === 'dark')) continue
        const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, javaScriptEnabled })
        const page = await context.newPage()
        let at = ''
        page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) complain(`${at}: console: ${m.text()}`) })
        page.on('pageerror', (e) => complain(`${at}: ${e}`))
        page.on('request', (r) => { if (new URL(r.url()).origin !== origin && !r.url().startsWith('data:')) complain(`${at}: asks another origin: ${r.url()}`) })
        page.on('response', (r) => { if (r.status() >= 400) complain(`${at}: ${r.status()} for ${r.url()}`) })
        for (const path of pages) {
          at = `${path} (${width} px, ${colorScheme}${javaScriptEnabled ? '' : ', no JavaScript'})`
          await page.goto(origin + path, { waitUntil: 'load' })
          visits++
          if (!javaScriptEnabled) {
            if ((await page.locator('main').innerText()).trim().length < 20) complain(`${at}: nothing to read`)
            continue
          }
          await page.evaluate(axe)
          const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
          for (const v of violations) complain(`${at}: axe ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', ')}`)
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
          if (over > 0) complain(`${at}: the page scrolls sideways by ${over} px`)
          const found = await page.evaluate(() => ({
            ids: [...document.querySelectorAll('[id]')].map((e) => e.id),
            links: [...document.querySelectorAll('a[href], link[href], img[src]')].map((e) => e.href || e.src)
          }))
          anchors.set(path, new Set(found.ids))
          for (const l of found.links) if (!links.has(l)) links.set(l, path)
          if (shots) {
            mkdirSync(shots, { recursive: true })
            const name = path.slice(base.length).replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '') || 'home'
            await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true })
          }
        }
        if (width === 1280 && colorScheme === 'light') {
          at = `${base}/claims/ filtered${javaScriptEnabled ? '' : ', no JavaScript'}`
          await ledger(page, `${origin}${base}/claims/`, javaScriptEnabled, (what) => complain(`${at}: ${what}`))
        }
        await context.close()
      }
    }
  }
} finally {
  await browser.close()
  close()
}
for (const [link, from] of links) {
  const url = new URL(link)
  if (url.origin !== origin) continue
  const file = locate(url.pathname)
  if (!file) { complain(`${from}: the link ${url.pathname} leads nowhere`); continue }
  const ids = anchors.get(url.pathname)
  if (url.hash && ids && !ids.has(decodeURIComponent(url.hash.slice(1)))) complain(`${from}: no anchor ${url.hash} on ${url.pathname}`)
}
if (complaints.length > 0) { console.log(`${complaints.length} complaints`); process.exit(1) }
console.log(`${pages.length} pages, ${visits} visits, ${links.size} links: nothing to complain of`)
