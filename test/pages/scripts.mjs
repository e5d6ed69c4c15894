// Checks what the site's one script does, in a real browser under the site's own content
// security policy: a block of code can be copied; and the policy refuses what it should.
//
//   scripts.mjs DIRECTORY
import { axe, look } from './axe.mjs'
import { serve } from './serve.mjs'
import { base, open } from './site.mjs'

const site = open(process.argv[2])
if (process.platform !== 'linux' || process.arch !== 'x64') { console.log('skip: the pinned browser is for Linux on x86-64'); process.exit(0) }

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
console.log('copying and the policy do as they should')
