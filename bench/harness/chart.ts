// A line chart as SVG: both axes logarithmic, its colours readable on light and on dark pages.

export interface Chart {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines: readonly Line[]
}

export interface Line {
  readonly name: string
  /** All above zero. */
  readonly points: readonly (readonly [x: number, y: number])[]
}

type Scale = (value: number) => number

const WIDTH = 720
const HEIGHT = 400
const LEFT = 84
const RIGHT = 520
const TOP = 48
const BOTTOM = 344
const COLOURS = ['#2f7ed8', '#d9480f', '#2b8a3e', '#9c36b5', '#c2930a', '#5f7d8c']

export function drawChart({ title, x, y, lines }: Chart): string {
  const points = lines.flatMap((line) => line.points)
  const xTicks = decades(points.map(([value]) => value))
  const yTicks = decades(points.map(([, value]) => value))
  const toX = logScale(xTicks, LEFT, RIGHT)
  const toY = logScale(yTicks, BOTTOM, TOP)
  const parts = [
    text(LEFT, 24, title, 'font-size="15" font-weight="bold"'),
    text((LEFT + RIGHT) / 2, HEIGHT - 14, x, 'text-anchor="middle"'),
    text(16, (TOP + BOTTOM) / 2, y, `text-anchor="middle" transform="rotate(-90 16 ${(TOP + BOTTOM) / 2})"`),
    ...xTicks.map((tick) => text(toX(tick), BOTTOM + 18, shown(tick), 'text-anchor="middle"')),
    ...yTicks.flatMap((tick) => [
      `<path d="M${LEFT} ${toY(tick)}H${RIGHT}" stroke="#888" stroke-opacity="0.35"/>`,
      text(LEFT - 8, toY(tick) + 4, shown(tick), 'text-anchor="end"'),
    ]),
    ...lines.map((line, at) => drawLine(line, colour(at), toX, toY)),
    ...legend(lines, toY),
  ]
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"`
  const look = 'font-family="system-ui, sans-serif" font-size="12" fill="#808890"'
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${look}>\n${parts.join('\n')}\n</svg>\n`
}

/** Powers of ten from just below the smallest to just above the largest; at least two. */
function decades(values: readonly number[]): number[] {
  const exponents = values.map((value) => Math.log10(value))
  const from = Math.floor(Math.min(...exponents))
  const to = Math.max(from + 1, Math.ceil(Math.max(...exponents)))
  return Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at))
}

function logScale(ticks: readonly number[], start: number, end: number): Scale {
  const [from, to] = [Math.log10(ticks[0] ?? 1), Math.log10(ticks.at(-1) ?? 10)]
  return (value) => rounded(start + ((Math.log10(value) - from) / (to - from)) * (end - start))
}

function drawLine({ points }: Line, stroke: string, toX: Scale, toY: Scale): string {
  const places = points.map(([x, y]) => `${toX(x)} ${toY(y)}`)
  const dots = points.map(([x, y]) => `<circle cx="${toX(x)}" cy="${toY(y)}" r="3" fill="${stroke}"/>`)
  return `<path d="M${places.join('L')}" fill="none" stroke="${stroke}" stroke-width="2"/>${dots.join('')}`
}

/** Beside the ends of the lines, pushed apart where they would overlap. */
function legend(lines: readonly Line[], toY: Scale): string[] {
  const ends = lines.map((line, at) => ({ at, name: line.name, y: toY(line.points.at(-1)?.[1] ?? 1) + 4 }))
  let free = TOP
  return ends
    .toSorted((a, b) => a.y - b.y)
    .map(({ at, name, y }) => {
      const place = Math.max(y, free)
      free = place + 16
      return text(RIGHT + 12, place, name, `fill="${colour(at)}"`)
    })
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${rounded(x)}" y="${rounded(y)}" ${attributes}>${escaped}</text>`
}

function colour(at: number): string {
  return COLOURS[at % COLOURS.length] ?? 'currentColor'
}

function shown(value: number): string {
  return value >= 1 ? value.toLocaleString('en') : String(rounded(value, 6))
}

function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits))
}
