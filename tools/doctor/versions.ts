// Engines, how their versions compare, and what is known to be wrong with them.

import type { Info } from './node.ts'

export interface Engine {
  readonly name: string
  readonly version: string
  /** Whether Perilune is made for it. */
  readonly supported: boolean
}

/** Fields of INFO that only one engine has, before the one that nearly all pretend to have. */
const FIELDS: readonly (readonly [field: string, name: string, supported: boolean])[] = [
  ['valkey_version', 'Valkey', true],
  ['dragonfly_version', 'Dragonfly', false],
  ['kvrocks_version', 'Kvrocks', false],
  ['garnet_version', 'Garnet', false],
  ['redict_version', 'Redict', false],
  ['mvcc_depth', 'KeyDB', false],
  ['redis_version', 'Redis', true],
]

export function engineOf(info: Info): Engine | null {
  const [field, name, supported] = FIELDS.find(([each]) => info.has(each)) ?? []
  if (field === undefined || name === undefined || supported === undefined) return null
  const version = info.get(field === 'mvcc_depth' ? 'redis_version' : field) ?? ''
  return { name, version: version.replace(/^.*?(\d)/, '$1'), supported }
}

export function isBefore(version: string, limit: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(limit)]
  const at = [0, 1, 2].find((place) => (a[place] ?? 0) !== (b[place] ?? 0))
  return at !== undefined && (a[at] ?? 0) < (b[at] ?? 0)
}

function numbersOf(version: string): number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10) || 0)
}

export interface Fault {
  readonly id: string
  /** A note leaves the check as it is: it asks for care, not for another version. */
  readonly weight: 'warn' | 'note'
  affects(engine: Engine): boolean
  readonly why: string
  readonly mend: string
  /** Where it is written. */
  readonly source: string
}

/** The first release of each line with the fix; lines that are missing and older than the last have none. */
const LUA_FIXED: Readonly<Record<string, readonly string[]>> = {
  // Release notes of Redis; those of Valkey 7.2.11, 8.0.6 and 8.1.4, all of 3 October 2025.
  Redis: ['6.2.20', '7.2.11', '7.4.6', '8.0.4', '8.2.2'],
  Valkey: ['7.2.11', '8.0.6', '8.1.4'],
}

function lacksLuaFix({ name, version }: Engine): boolean {
  const fixed = LUA_FIXED[name] ?? []
  const own = fixed.find((each) => lineOf(each) === lineOf(version))
  if (own !== undefined) return isBefore(version, own)
  return fixed.length > 0 && isBefore(version, fixed.at(-1) ?? '')
}

function lineOf(version: string): string {
  return numbersOf(version).slice(0, 2).join('.')
}

export const FAULTS: readonly Fault[] = [
  {
    id: 'CVE-2025-49844',
    weight: 'warn',
    affects: lacksLuaFix,
    why: 'A user who may send scripts can take over the server (CVE-2025-49844).',
    mend: 'Upgrade to Redis 6.2.20, 7.2.11, 7.4.6, 8.0.4 or 8.2.2, Valkey 7.2.11, 8.0.6 or 8.1.4, or newer. If your distribution has mended its package, run with --ignore version.',
    source:
      'https://github.com/valkey-io/valkey/releases/tag/8.1.4, https://github.com/redis/redis/releases/tag/8.2.2',
  },
  {
    id: 'cut-append-only-file',
    weight: 'note',
    affects: ({ name, version }) => name === 'Redis' && version === '7.0.15',
    why: 'After a crash, run redis-check-aof --fix before the server starts: this version may apply half a script at its second start.',
    mend: '',
    source: 'docs/operations.md, After a crash',
  },
  {
    id: 'check-aof-rejects-own-files',
    weight: 'note',
    affects: ({ name, version }) =>
      name === 'Valkey' && !isBefore(version, '9.0.0') && !isBefore('9.1.2', version),
    why: 'Do not run valkey-check-aof of this version on a manifest: it takes the base file of its own server for damaged. Run it on the newest .incr.aof file.',
    mend: '',
    source: 'https://github.com/valkey-io/valkey/pull/4739',
  },
]
