// A chart of horizontal bars as SVG, in groups that each have a scale of their own from nought; its colours follow the page, light or dark.

export interface BarChart {
  readonly title: string
  readonly groups: readonly BarGroup[]
  /** The bar with this name stands out. */
  readonly ours: string
}

export interface BarGroup {
  readonly name: string
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly name: string
  readonly value: number
}

const WIDTH = 720
const LEFT = 132
const RIGHT = 620
const FIRST = 62
const ROW = 26
const BAR = 18
const GAP = 42
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.head{font-weight:600}.title{font-size:15px;font-weight:600}.peer{fill:#b6bec8}.ours{fill:#1f6feb}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.peer{fill:#57606a}.ours{fill:#58a6ff}}`

export function drawBars({ title, groups, ours }: BarChart): string {
  const starts = groups.map(
    (_, at) => FIRST + groups.slice(0, at).reduce((sum, { bars }) => sum + bars.length * ROW + GAP, 0),
  )
  const last = groups.at(-1)?.bars.length ?? 0
  const height = (starts.at(-1) ?? FIRST) + last * ROW + 16
  const parts = groups.map((group, at) => drawGroup(group, starts[at] ?? FIRST, ours))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}</style>
<text class="title" x="16" y="24">${escaped(title)}</text>
${parts.join('\n')}
</svg>
`
}

function drawGroup({ name, bars }: BarGroup, top: number, ours: string): string {
  const most = Math.max(...bars.map(({ value }) => value))
  const rows = bars.map((bar, at) =>
    drawBar(bar, top + at * ROW, ((RIGHT - LEFT) * bar.value) / most, bar.name === ours),
  )
  return [`<text class="head" x="16" y="${top - 8}">${escaped(name)}</text>`, ...rows].join('\n')
}

function drawBar({ name, value }: Bar, y: number, length: number, stands: boolean): string {
  const width = Math.max(1, Math.round(length))
  const line = y + BAR - 4
  return `<text x="${LEFT - 10}" y="${line}" text-anchor="end">${escaped(name)}</text><rect class="${stands ? 'ours' : 'peer'}" x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="3"/><text x="${LEFT + width + 8}" y="${line}">${Math.round(value).toLocaleString('en')}</text>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
