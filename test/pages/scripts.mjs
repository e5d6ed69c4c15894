// Checks what the site's few scripts do, in a real browser under the site's own content
// security policy: the search finds, says how much and keeps its address; a block of code
// can be copied; and the policy refuses what it should.
//
//   scripts.mjs DIRECTORY
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { axe, look } from './axe.mjs'
import { serve } from './serve.mjs'
import { base, open } from './site.mjs'

const site = open(process.argv[2])
if (process.platform !== 'linux' || process.arch !== 'x64') { console.log('skip: the pinned browser is for Linux on x86-64'); process.exit(0) }
if (!existsSync(join(site.root, 'pagefind/pagefind.js'))) { console.log('skip: no search index in this site'); process.exit(0) }

const { default: chromium } = await import('@sparticuz/chromium')
const { chromium: playwright } = await import('playwright-core')
const { origin, close } = await serve(site)
const complaints = []
const expect = (ok, what) => { if (!ok) { complaints.push(what); console.log(what) } }

const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox', '--disable-gpu'], headless: true })
try {
  const context = await browser.newContext({ viewport: { width: 360, height: 800 } })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin })
  const page = await context.newPage()
  page.setDefaultTimeout(20000)
  const errors = []
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) errors.push(m.text()) })
  page.on('pageerror', (e) => errors.push(String(e)))
  page.on('request', (r) => { if (new URL(r.url()).origin !== origin && !r.url().startsWith('data:')) errors.push(`asks another origin: ${r.url()}`) })

  // What a script has added to a page is as accessible as the page.
  const check = async (what) => {
    await page.evaluate(axe)
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      await look({ page, say: (line) => expect(false, `${what}, ${colorScheme}: ${line}`) }, colorScheme === 'dark' ? 'colours' : 'full')
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${what}: the page scrolls sideways`)
  }

  // By address, as from a bookmark or a browser's own search field.
  await page.goto(`${origin}${base}/search/?q=pipelining`)
  await page.locator('#found li').first().waitFor()
  const first = await page.locator('#found li a').first().getAttribute('href')
  expect(/pages? (has|have) “pipelining”/.test(await page.locator('#said').innerText()), 'search: the status does not say how many were found')
  expect(/^(Entry|Study|Claim|Host|Page)/.test(await page.locator('#found .kind').first().innerText()), 'search: the first result does not say what it is')
  expect(first.startsWith(`${base}/`), `search: ${first} lies outside the site`)
  expect(await page.locator('#found mark').count() > 0, 'search: nothing is marked in the excerpts')
  for (const href of await page.locator('#found a').evaluateAll((l) => l.map((a) => a.href.split('#')[0]))) {
    expect((await context.request.get(href)).ok(), `search: ${href} leads nowhere`)
  }
  await check('search')
  // By hand, and back again.
  await page.fill('#q', 'zzyzx')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => /Nothing has/.test(document.getElementById('said').textContent))
  expect(new URL(page.url()).searchParams.get('q') === 'zzyzx', 'search: the address does not hold what was asked')
  await page.goBack()
  await page.locator('#found li').first().waitFor()
  expect(await page.inputValue('#q') === 'pipelining', 'search: going back does not search again')
  // Entries come before claims and claims before machines, and a page is listed for the
  // word itself, not for words like it.
  const search = async (words) => {
    await page.goto(`${origin}${base}/search/?q=${encodeURIComponent(words)}`)
    await page.waitForFunction(() => /have|has/.test(document.getElementById('said').textContent))
    while (await page.locator('#more').isVisible()) {
      const before = await page.locator('#found > li').count()
      await page.click('#more')
      await page.waitForFunction((n) => document.querySelectorAll('#found > li').length > n, before)
    }
    const kinds = await page.locator('#found .kind').allInnerTexts()
    const hrefs = await page.locator('#found h2 a').evaluateAll((l) => l.map((a) => new URL(a.href).pathname))
    return { said: await page.innerText('#said'), kinds, hrefs }
  }
  const order = ['Entry', 'Claim', 'Page', 'Withdrawn', 'Host']
  const text = (href) => readFileSync(join(site.root, href.slice(base.length), 'index.html'), 'utf8').replace(/<[^>]*>/g, ' ')
  for (const word of ['RFS', 'pipelined']) {
    const { kinds, hrefs } = await search(word)
    const places = kinds.map((k) => order.indexOf(k.split(' ')[0].replace('Study', 'Entry')))
    expect(places[0] === 0 && places.includes(1) && places.every((p, i) => i === 0 || p >= places[i - 1]), `search: ${word} lists ${kinds.join(', ')}`)
    const whole = new RegExp(`(^|[^a-z0-9])${word}([^a-z0-9]|$)`, 'i')
    for (const href of hrefs) expect(whole.test(text(href)), `search: ${word} finds ${href}, which does not have it`)
  }
  const like = await search('pipelin')
  expect(/as it stands/.test(like.said) && like.hrefs.length > 0, `search: of a part of a word it says ${like.said}`)
  const two = await search('wire full')
  for (const href of two.hrefs) expect(/\bwire\b/i.test(text(href)) && /\bfull\b/i.test(text(href)), `search: two words find ${href}, which lacks one`)
  // A query is text, even if it looks like markup.
  await page.goto(`${origin}${base}/search/?q=${encodeURIComponent('<img src=x onerror=alert(1)>')}`)
  await page.waitForFunction(() => !/^(Searching.*)?$/.test(document.getElementById('said').textContent))
  expect(await page.locator('main img').count() === 0, 'search: what was asked came back as markup')

  await page.goto(`${origin}${base}/reproduce/`)
  await check('copy')
  const button = page.locator('main .copy').first()
  await button.click()
  await page.waitForFunction(() => document.querySelector('main .code [role=status]').textContent === 'Copied')
  const code = (await page.locator('main pre').first().innerText()).trim()
  expect((await page.evaluate(() => navigator.clipboard.readText())).trim() === code, 'copy: the clipboard holds something else')
  expect(errors.length === 0, `console: ${errors.join('; ')}`)

  // The policy allows neither a script in the page nor another origin.
  errors.length = 0
  await page.evaluate(() => { const s = document.createElement('script'); s.textContent = 'globalThis.ran = 1'; document.body.append(s) })
  await page.evaluate(() => fetch('https://example.org/').catch(() => {}))
  expect(await page.evaluate(() => globalThis.ran === undefined), 'policy: an inline script ran')
  expect(errors.some((e) => /connect-src|default-src/.test(e)), 'policy: another origin could be asked')
} finally {
  await browser.close()
  close()
}
if (complaints.length > 0) process.exit(1)
console.log('search, copying and the policy do as they should')
