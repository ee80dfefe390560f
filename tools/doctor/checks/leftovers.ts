// What lies under the namespace: layouts, keys that never expire, and what takes the most memory.

import type { Check } from '../check.ts'
import { type Finding, listed, ok, unknown, warn } from '../finding.ts'
import { type KeyScan, type KnownKey, keysOf, mainKeyOf } from '../keys.ts'
import { EXPIRING, OF_PARTITIONS } from '../layouts.ts'
import type { Server } from '../server.ts'
import { bytes, count } from '../words.ts'

const SHOWN = 5

const REFUSED = unknown(
  'The user may not run SCAN.',
  'Run the doctor as a user with +scan, +pttl, +memory|usage and +getrange.',
)

function overKeys(server: Server, examine: (scan: KeyScan) => Finding): Promise<Finding> {
  return keysOf(server).then((scan) => {
    if (scan === null) return REFUSED
    const found = examine(scan)
    if (scan.complete) return found
    const limit = server.options.scan.toLocaleString('en')
    return {
      ...found,
      why: `${found.why} The doctor looked at about ${limit} keys of the server, not at all.`,
    }
  })
}

export const layouts: Check = {
  id: 'layouts',
  title: 'Layouts',
  essential: false,
  patience: 2,
  examine: (server) => overKeys(server, ofLayouts),
}

function ofLayouts({ keys }: KeyScan): Finding {
  const strange = keys.filter((key) => key.layout !== null && !isKnown(key, key.layout))
  if (strange.length === 0)
    return ok('This version reads the layout of every unit.', { units: unitsIn(keys) })
  const kinds = [...new Set(strange.map(({ structure, layout }) => `${structure} ${layout}`))]
  const names = [...new Set(strange.map(label))]
  const why = `This version does not read the layout of ${count(strange.length, 'unit')}: ${listed(names)} (structure and layout: ${listed(kinds)}). It rejects calls for them.`
  const mend = 'Use the version of Perilune that wrote them, or clear them if no program needs them.'
  return warn(why, mend, { units: names, layouts: kinds })
}

function isKnown(key: KnownKey, layout: string): boolean {
  return mainKeyOf(key)?.layouts.includes(layout) === true || OF_PARTITIONS.test(layout)
}

export const expiry: Check = {
  id: 'expiry',
  title: 'Keys that stay',
  essential: false,
  patience: 2,
  examine: (server) => overKeys(server, ofExpiry),
}

function ofExpiry({ keys }: KeyScan): Finding {
  const forever = keys.filter(({ structure, part, expires }) => {
    const kept = EXPIRING.get(structure)
    return !expires && kept !== undefined && !kept.includes(part)
  })
  if (forever.length === 0) return ok('Every key that should expire does.', { keys: keys.length })
  const names = [...new Set(forever.map(label))]
  const why = `${count(forever.length, 'key')} should expire and never will: ${listed(names)}.`
  const mend =
    'Look for programs that copy, restore or PERSIST keys; delete these keys once no program uses them.'
  return warn(why, mend, { keys: forever.length, units: names })
}

export const biggest: Check = {
  id: 'biggest',
  title: 'Biggest units',
  essential: false,
  patience: 2,
  examine: (server) => overKeys(server, ofSizes),
}

function ofSizes({ keys }: KeyScan): Finding {
  if (keys.length === 0) return ok('The namespace has no keys.', { units: [] })
  const sums = new Map<string, { keys: number; bytes: number }>()
  for (const key of keys) {
    const sum = sums.get(label(key)) ?? { keys: 0, bytes: 0 }
    sums.set(label(key), { keys: sum.keys + 1, bytes: sum.bytes + (key.bytes ?? 0) })
  }
  const measured = keys.some((key) => key.bytes !== null)
  const most = [...sums]
    .map(([unit, sum]) => ({ unit, ...sum }))
    .toSorted((a, b) => b.bytes - a.bytes || b.keys - a.keys)
    .slice(0, SHOWN)
  const shown = most.map((each) => `${each.unit} ${measured ? bytes(each.bytes) : count(each.keys, 'key')}`)
  const all = `${count(keys.length, 'key')} of ${count(sums.size, 'name')}`
  return ok(`The namespace has ${all}. The biggest: ${shown.join(', ')}.`, { keys: keys.length, units: most })
}

function label({ structure, name }: KnownKey): string {
  return `${structure} ${name}`
}

function unitsIn(keys: readonly KnownKey[]): number {
  return new Set(keys.map(({ unit }) => unit)).size
}
