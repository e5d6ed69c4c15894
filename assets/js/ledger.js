// The ledger filters with a style sheet alone. This script adds what a style sheet cannot
// do: the choice is put into the address, so that it can be sent to somebody, and the
// rows that are left are counted.
(() => {
  const selects = ['entry', 'host', 'verdict'].map((name) => document.getElementById(`f-${name}`))
  const shown = document.getElementById('shown')
  const rows = [...document.querySelectorAll('.ledger tr[data-entry]')]
  if (!shown || selects.includes(null)) return

  const matches = (row) => selects.every((s) => !s.value || row.dataset[s.name] === s.value)
  const count = () => {
    shown.textContent = `${rows.filter(matches).length} of ${rows.length} rows`
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
