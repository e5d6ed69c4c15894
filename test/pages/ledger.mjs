// Checks the ledger on a phone: no claim is shown until a reader opens its entry or a link leads to
// it; on paper all are.
export async function ledger (page, url, complain) {
  await page.setViewportSize({ width: 360, height: 780 })
  await page.goto('about:blank')
  await page.goto(url, { waitUntil: 'load' })
  const rows = page.locator('.matrix tbody tr')
  const shown = () => rows.evaluateAll((rs) => rs.filter((r) => r.checkVisibility()).map((r) => r.id))
  const all = await rows.evaluateAll((rs) => rs.map((r) => r.id))
  const first = await shown()
  if (first.length > 0) complain(`on a phone ${first.length} claims are shown before an entry is opened`)
  await page.emulateMedia({ media: 'print' })
  const printed = await shown()
  if (printed.length !== all.length) complain(`${printed.length} of ${all.length} claims are printed`)
  await page.emulateMedia({ media: 'screen' })
  await page.locator('.part summary').first().click()
  const opened = await shown()
  if (!opened.includes(all[0])) complain('on a phone an entry does not open')
  await page.goto(`${url}#${all.at(-1)}`, { waitUntil: 'load' })
  // A browser follows a link some time after it was asked to. Without JavaScript the page
  // cannot say when.
  let led = false
  for (let i = 0; !led && i < 100; i++) { if (i > 0) await page.waitForTimeout(50); led = await rows.last().evaluate((r) => r.checkVisibility()) }
  if (!led) complain(`on a phone a link to #${all.at(-1)} does not open its entry`)
}
