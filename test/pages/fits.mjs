// Whether everything on a page fits a phone: nothing scrolls sideways, and every
// drawing shows all of its marks and words, none of them on top of each other.
//
//   fits.mjs DIRECTORY    the entries and claims of a site built at any address; the check
//                         of the made-up pages, which hold every kind of chart
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// reader.mjs checks tables. Code whose indentation has a meaning may scroll.
const known = '.scroll:has(table), pre'

// fits complains of a loaded page as it is shown now, and returns how many drawings it
// measured. Folded parts are opened for this and folded again.
export async function fits (page, say) {
  const { faults, drawings } = await page.evaluate((known) => {
    const faults = []
    const main = document.querySelector('main')
    const screen = document.documentElement.clientWidth
    const folded = [...main.querySelectorAll('details:not([open])')]
    for (const d of folded) d.open = true
    const words = (e) => (e.textContent.trim().replace(/\s+/g, ' ') || e.tagName).slice(0, 40)
    const name = (e) => `${e.tagName.toLowerCase()}${e.getAttribute('class') ? '.' + e.getAttribute('class').trim().replace(/\s+/g, '.') : ''}`

    const over = document.documentElement.scrollWidth - screen
    if (over > 0) faults.push(`the page scrolls sideways by ${over} px`)
    for (const e of main.querySelectorAll('*')) {
      if (e.scrollWidth <= e.clientWidth + 1 || e.clientWidth < 2 || e instanceof SVGElement || e.matches(known)) continue
      if (!['visible', ''].includes(getComputedStyle(e).overflowX)) faults.push(`${name(e)} hides ${e.scrollWidth - e.clientWidth} px of ${words(e)}`)
    }

    const drawings = [...main.querySelectorAll('svg[role=img]')].filter((s) => !s.matches(known) && s.checkVisibility())
    for (const svg of drawings) {
      const title = svg.querySelector('title')?.textContent ?? name(svg)
      const say = (what) => faults.push(`drawing “${title}”: ${what}`)
      const box = svg.getBoundingClientRect()
      if (box.left < -1 || box.right > screen + 1) say(`reaches from ${Math.round(box.left)} to ${Math.round(box.right)} px`)
      const scale = svg.viewBox.baseVal?.width ? box.width / svg.viewBox.baseVal.width : 1
      const texts = []
      for (const e of svg.querySelectorAll('text, circle, rect, path, line, polyline, polygon, ellipse')) {
        if (e.closest('defs') || getComputedStyle(e).display === 'none') continue
        const r = e.getBoundingClientRect()
        if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1) say(`${e.tagName === 'text' ? `“${words(e)}”` : name(e)} leaves it: ${Math.round(r.left - box.left)} to ${Math.round(r.right - box.left)} of ${Math.round(box.width)} px, ${Math.round(r.top - box.top)} to ${Math.round(r.bottom - box.top)} of ${Math.round(box.height)} px`)
        if (e.tagName !== 'text' || !e.textContent.trim()) continue
        const size = parseFloat(getComputedStyle(e).fontSize) * scale
        if (size < 10.99) say(`“${words(e)}” is ${size.toFixed(1)} px high`)
        // A text's box is higher than its letters.
        texts.push({ e, left: r.left, right: r.right, top: r.top + 2, bottom: r.bottom - 2 })
      }
      for (const [i, a] of texts.entries()) {
        for (const b of texts.slice(i + 1)) {
          if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) say(`“${words(a.e)}” and “${words(b.e)}” overlap`)
        }
      }
    }
    for (const d of folded) d.open = false
    return { faults, drawings: drawings.length }
  }, known)
  for (const f of faults) say(f)
  return drawings
}

async function main (root) {
  if (process.platform !== 'linux' || process.arch !== 'x64') { console.log('not measured: the pinned browser is for Linux on x86-64'); return }
  const { default: chromium } = await import('@sparticuz/chromium')
  const { chromium: playwright } = await import('playwright-core')
  const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox', '--disable-gpu'], headless: true })
  let complaints = 0
  let drawings = 0
  try {
    const page = await (await browser.newContext({ viewport: { width: 360, height: 800 } })).newPage()
    // Every address is answered from the directory, below the path of the site's own.
    const home = new URL(/<link rel="?canonical"? href="?([^" >]+)/.exec(readFileSync(join(root, 'index.html'), 'utf8'))[1])
    await page.route('**/*', (route) => {
      const path = decodeURIComponent(new URL(route.request().url()).pathname).slice(home.pathname.length)
      const file = join(root, path, /(^|\/)$/.test(path) ? 'index.html' : '')
      return existsSync(file) ? route.fulfill({ path: file }) : route.fulfill({ status: 404 })
    })
    const pages = readdirSync(root, { recursive: true }).filter((f) => /^(journal|claims)\/.+\/index\.html$/.test(f) && /<svg[^>]* role="?img/.test(readFileSync(join(root, f), 'utf8'))).sort()
    for (const file of pages) {
      await page.goto(new URL(file.replace(/index\.html$/, ''), home).href, { waitUntil: 'load' })
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme })
        drawings += await fits(page, (what) => { complaints++; console.log(`${file} (360 px, ${colorScheme}): ${what}`) })
      }
    }
    console.log(`${pages.length} pages, ${drawings} drawings measured in two colour schemes: ${complaints} complaints`)
  } finally {
    await browser.close()
  }
  if (complaints > 0 || drawings === 0) process.exit(1)
}
if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv[2])
