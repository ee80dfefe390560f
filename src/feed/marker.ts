// The marker of a feed in partitions: 'p16' and then, for each partition, '.<epoch>-<position>' in base 36.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'

const MARKER = /^p([1-9]\d?)((?:\.[0-9a-z]{1,11}-[0-9a-z]{1,11})+)$/

/** The composite of one marker for each partition. */
export function composeMarker(markers: readonly string[]): string {
  return joinEntries(markers.map(toEntry))
}

/** What stands for one partition in a composite marker. */
export function toEntry(marker: string): string {
  return marker
    .split('-')
    .map((number) => Number(number).toString(36))
    .join('-')
}

export function joinEntries(entries: readonly string[]): string {
  return `p${entries.length}.${entries.join('.')}`
}

/** The marker of each partition. Throws InvalidArgumentError naming `argument` for any other text. */
export function parseMarker(argument: string, marker: unknown, count: number): string[] {
  if (marker === 'end') return Array.from({ length: count }, () => 'end')
  const match = typeof marker === 'string' ? MARKER.exec(marker) : null
  const entries = match?.[2]?.slice(1).split('.').map(fromEntry) ?? []
  if (match === null || entries.length !== Number(match[1]) || entries.includes(null)) {
    throw new InvalidArgumentError(argument, "must be a marker as a page gave it, or 'end'")
  }
  if (entries.length !== count) {
    throw new InvalidArgumentError(argument, `is of a feed in ${entries.length} partitions, not in ${count}`)
  }
  return entries.map(String)
}

function fromEntry(entry: string): string | null {
  const numbers = entry.split('-').map((text) => [text, Number.parseInt(text, 36)] as const)
  const known = numbers.every(
    ([text, number]) => Number.isSafeInteger(number) && number.toString(36) === text,
  )
  return known ? numbers.map(([, number]) => number).join('-') : null
}
