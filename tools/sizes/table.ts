// The table of sizes in docs/sizes.md: written from what is measured, and read to compare.

import type { Size } from './measure.ts'

/** What no bundle may pass, in bytes. */
export const LIMITS: Readonly<Record<string, number>> = {
  lock: 60_000,
  queue: 400_000,
  perilune: 900_000,
  'the package': 4_000_000,
}

const BEGIN = '<!-- sizes -->\n'
const END = '<!-- /sizes -->'
const ROW = /^\| (?<name>[^|]+?) \| (?<minified>[\d,]+) \| (?<gzip>[\d,]+) \|/gm

/** The page with these sizes in the place of those that it has. */
export function withSizes(page: string, sizes: readonly Size[]): string {
  const rows = sizes.map(
    ({ name, minified, gzip }) =>
      `| ${name} | ${shown(minified)} | ${shown(gzip)} | ${limitText(name, minified)} |\n`,
  )
  const table = `| bundle | bytes | gzip | limit |\n| --- | ---: | ---: | --- |\n${rows.join('')}`
  return page.replace(/<!-- sizes -->\n[^]*<!-- \/sizes -->/, () => `${BEGIN}${table}${END}`)
}

/** The sizes that a page has. */
export function sizesIn(page: string): Size[] {
  return [...page.matchAll(ROW)].map(({ groups = {} }) => ({
    name: groups['name'] ?? '',
    minified: numberOf(groups['minified']),
    gzip: numberOf(groups['gzip']),
  }))
}

/** The names of those that are over their limit. */
export function overLimit(sizes: readonly Size[]): string[] {
  return sizes.filter(({ name, minified }) => minified > limitOf(name)).map(({ name }) => name)
}

function limitOf(name: string): number {
  return LIMITS[name] ?? Number.POSITIVE_INFINITY
}

function limitText(name: string, bytes: number): string {
  const limit = LIMITS[name]
  if (limit === undefined) return ''
  return bytes > limit ? `${shown(limit)}: over by ${shown(bytes - limit)}` : shown(limit)
}

function shown(bytes: number): string {
  return bytes.toLocaleString('en-US')
}

function numberOf(text = ''): number {
  return Number(text.replaceAll(',', ''))
}
