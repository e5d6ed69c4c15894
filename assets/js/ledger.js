// The ledger filters with a style sheet alone. This script adds what a style sheet cannot
// do: the choice is put into the address, so that it can be sent to somebody, and the
// claims that are left are counted.
(() => {
  const selects = ['entry', 'host', 'verdict'].map((name) => document.getElementById(`f-${name}`)).filter((s) => s !== null)
  const shown = document.getElementById('shown')
  const rows = [...document.querySelectorAll('.matrix tr[data-entry]')]
  if (!shown || selects.length === 0) return

  // A verdict is asked of the machine that is chosen, or of any.
  const matches = (row) => {
    const { entry, host, verdict } = Object.fromEntries(selects.map((s) => [s.name, s.value]))
    const cells = [...row.querySelectorAll('[data-verdict]')].filter((c) => !host || c.dataset.host === host)
    return (!entry || row.dataset.entry === entry) && (!host || cells.length > 0) &&
      (!verdict || cells.some((c) => c.dataset.verdict === verdict))
  }
  const count = () => {
    shown.textContent = `${rows.filter(matches).length} of ${rows.length} claims`
  }
  const read = () => {
    const asked = new URLSearchParams(location.search)
    for (const s of selects) {
      const value = asked.get(s.name) ?? ''
      s.value = [...s.options].some((o) => o.value === value) ? value : ''
    }
    count()
  }
  const write = () => {
    const asked = new URLSearchParams()
    for (const s of selects) if (s.value) asked.set(s.name, s.value)
    const query = asked.toString()
    history.replaceState(null, '', location.pathname + (query && `?${query}`))
    count()
  }
  for (const s of selects) s.addEventListener('change', write)
  addEventListener('popstate', read)
  read()
  // The filter may have moved the row that the address names, so scroll to it again.
  if (location.search && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView()
})()
