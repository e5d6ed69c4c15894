// Visits pages of a built site in a real browser and acts as a reader would: narrow and
// wide, light and dark, by keyboard, on paper, without JavaScript. axe must find nothing,
// the console must stay silent (a breach of the content security policy is an error
// there), no request may go to another origin, no page may scroll sideways, and on a phone
// nothing may be hidden (fits.mjs). It visits all kinds of pages and all entries; of a kind
// with many pages it visits some, and prints which. links.mjs checks links.
//
//   browse.mjs DIRECTORY [--shots DIRECTORY]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { axe, look } from './axe.mjs'
import { serve } from './serve.mjs'
import { base, open, sample } from './site.mjs'
import { fits } from './fits.mjs'
import { median, story, tables, unfold } from './reader.mjs'

const args = process.argv.slice(2)
const site = open(args[0])
const shots = args[1] === '--shots' ? args[2] : ''
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log('skip: the pinned browser is for Linux on x86-64')
  process.exit(0)
}

const { default: chromium } = await import('@sparticuz/chromium')
const { chromium: playwright } = await import('playwright-core')

const { origin, close } = await serve(site)

const complaints = []
const complain = (what) => { complaints.push(what); console.log(what) }
const pages = sample(site.pages)
// What depends on the kind of page and not on its content is tested on the heaviest page.
const ofKind = new Map()
for (const p of pages) if (!(ofKind.get(p.kind)?.bytes > p.bytes)) ofKind.set(p.kind, p)

// A page lives too short for code that is optimised beside it to be worth its cost.
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--js-flags=--no-turbofan --single-threaded-gc'],
  headless: true
})

// visitor opens a page and reports every complaint of the browser.
async function visitor (options) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  let at = ''
  let visits = 0
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) complain(`${at}: console: ${m.text()}`) })
  page.on('pageerror', (e) => complain(`${at}: ${e}`))
  page.on('request', (r) => { if (new URL(r.url()).origin !== origin && !/^(data|blob):/.test(r.url())) complain(`${at}: asks another origin: ${r.url()}`) })
  page.on('response', (r) => { if (r.status() >= 400) complain(`${at}: ${r.status()} for ${r.url()}`) })
  return {
    page,
    visits: () => visits,
    say: (what) => complain(`${at}: ${what}`),
    how: (words) => { at = at.replace(/ \(.*/, '') + ` (${words})` },
    async go (path) { at = path; visits++; await page.goto(origin + path, { waitUntil: 'load' }) }
  }
}

// A reader at the keyboard: the first stop is the link past the site's head. It is
// visible there and leads into the text. No element sets its own place in the order.
async function keyboard (v) {
  const jumps = await v.page.locator('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])').count()
  if (jumps > 0) v.say('a positive tabindex: focus leaves the order of the page')
  await v.page.keyboard.press('Tab')
  const first = await v.page.evaluate(() => {
    const e = document.activeElement
    const r = e.getBoundingClientRect()
    return { href: e.getAttribute('href'), seen: r.width > 1 && r.height > 1 && r.left >= 0 && r.top >= 0 && r.right <= innerWidth }
  })
  if (!/^#./.test(first.href ?? '')) { v.say('the first stop of the keyboard is no link past the head'); return }
  if (!first.seen) v.say('the link past the head has the focus and cannot be seen')
  await v.page.keyboard.press('Enter')
  // The browser follows the link some time after the key: a Tab before that would go on
  // from the old focus.
  await v.page.waitForFunction((href) => location.hash === href, first.href, { timeout: 5000 }).catch(() => {})
  await v.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  await v.page.keyboard.press('Tab')
  const next = await v.page.evaluate(() => {
    const main = document.querySelector('main')
    // With the page open, a summary can be reached, and folded content cannot.
    const stops = [...main.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter((e) => !e.disabled && e.checkVisibility())
    const at = document.activeElement
    return { stops: stops.length, first: at === stops[0], inside: main.contains(at) }
  })
  if (next.stops > 0 && !next.first) v.say(`the link past the head does not lead to the text's first stop${next.inside ? ', but further' : ''}`)
}

// On paper a dark theme is light, and its text is readable.
async function paper (v) {
  await v.page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  v.how('print, dark')
  const ground = await v.page.evaluate(() => [document.documentElement, document.body].map((e) => getComputedStyle(e).backgroundColor).find((c) => !/^(transparent|rgba\(.*, 0\))$/.test(c)) ?? 'rgb(255, 255, 255)')
  if (ground.match(/\d+/g).slice(0, 3).some((c) => Number(c) < 230)) v.say(`the page is printed on ${ground}`)
  await look(v, 'colours')
  await v.page.emulateMedia({ media: 'screen', colorScheme: 'light' })
}

// shown checks a page as it is shown at this width and in this colour scheme. Checks of a
// loaded page are called here, each of them in the settings in which it can find
// something. A check in a file of its own takes v.page (of Playwright), what it is called
// with, and v.say, which complains and names the page and the setting.
//
// axe looks at each page once as a whole, and once at its colours in the dark. What it finds
// by the other sizes and colours comes from the kind of page.
async function shown (v, p, { width, colorScheme }) {
  const once = width === 1280 ? colorScheme === 'light' : colorScheme === 'dark'
  if (once || ofKind.get(p.kind) === p) await look(v, colorScheme === 'dark' ? 'colours' : width === 360 ? 'narrow' : 'full')
  if (width === 360) await fits(v.page, v.say)
  if (width === 360 && colorScheme === 'light') await tables(v)
  // At 360 px, fits says so.
  const over = width === 360 ? 0 : await v.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  if (over > 0) v.say(`the page scrolls sideways by ${over} px`)
}

const read = new Map() // path → length of the text
const stories = [] // screens of a phone before the evidence, of each entry
async function visit (v, p) {
  await v.page.emulateMedia({ media: 'screen', colorScheme: 'light' })
  await v.page.setViewportSize({ width: 1280, height: 800 })
  await v.go(p.path)
  read.set(p.path, (await v.page.locator('main').innerText()).trim().length)
  v.how('keyboard')
  await keyboard(v)
  if (p.kind === 'journal/*') { v.how('as a story'); stories.push(await story(v)) }
  await unfold(v)
  await v.page.evaluate(axe)
  for (const width of [1280, 360]) {
    await v.page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark']) {
      v.how(`${width} px, ${colorScheme}`)
      await v.page.emulateMedia({ media: 'screen', colorScheme })
      await shown(v, p, { width, colorScheme })
      if (shots) {
        mkdirSync(shots, { recursive: true })
        const name = p.path.slice(base.length).replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '') || 'home'
        await v.page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true })
      }
    }
  }
  if (ofKind.get(p.kind) === p) await paper(v)
}

async function visitPlain (v, p) {
  await v.page.setViewportSize({ width: 1280, height: 800 }) // as where its text was measured with JavaScript
  await v.go(p.path)
  v.how('no JavaScript')
  const length = (await v.page.locator('main').innerText()).trim().length
  if (length < 20) v.say('nothing to read')
  if (length < 0.9 * read.get(p.path)) v.say(`${length} letters to read, and ${read.get(p.path)} with JavaScript`)
}

// Two readers run at once, each with its own browser windows, and take their tasks from
// one list: most of a page's time is spent in its one process. The text read without
// JavaScript is compared with the text read with it, so it comes afterwards.
let visits = 0
async function readers (javaScriptEnabled, work) {
  await Promise.all([0, 1].map(async () => {
    const v = await visitor({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', javaScriptEnabled })
    for (let job = work.shift(); job; job = work.shift()) await job(v)
    visits += v.visits()
  }))
}
try {
  await readers(true, pages.map((p) => (v) => visit(v, p)))
  if (stories.length > 0) median(stories, complain)
  await readers(false, [...ofKind.values()].map((p) => (v) => visitPlain(v, p)))
} finally {
  await browser.close()
  close()
}
if (complaints.length > 0) { console.log(`${complaints.length} complaints`); process.exit(1) }
console.log(`${pages.length} of ${site.pages.length} pages, ${ofKind.size} kinds, ${visits} visits: nothing to complain of`)
