// The page that a run of the proof writes.

import { createRequire } from 'node:module'
import type { Rule } from './fault.ts'
import type { SoakVerdict } from './feed-soak.ts'

export interface Run {
  what: string
  kind: 'perilune' | 'unguarded'
  seed: number
  verdict: SoakVerdict
}

export interface Proof {
  command: string
  redis: string
  runs: readonly Run[]
}

const SHOWN: readonly Rule[] = [
  'missed',
  'twice',
  'reordered',
  'real time',
  'lost',
  'overlap',
  'token',
  'stale',
]

/** Markdown. */
export function pageOf({ command, redis, runs }: Proof): string {
  const lines = [
    '# The ordering proof of feeds: the last long run',
    '',
    `Written by \`${command}\`.`,
    '',
    'Each soak has 32 producers in 4 processes and 8 observers; those of Perilune also have 8 consumers in 2 more',
    'processes. ioredis and node-redis take turns. What is checked, and why the checker can be trusted, is on',
    '[a page of its own](feed-order.md). Of appends that are `unknown` no answer',
    'came, or it came while replication was broken and its master about to be killed: they may be there or absent.',
    '',
    `- Node ${process.version}, Redis ${redis}, ioredis ${versionOf('ioredis')}, node-redis ${versionOf('redis')}`,
    `- seeds ${runs.map(({ seed }) => seed).join(', ')}`,
    '',
    '## Faults found',
    '',
    'Counted over all observers. The unguarded feed is the same soak on a counter, a sorted set and a hash that are',
    'written by commands of their own; it has no claims.',
    '',
    ...table(['soak', 'feed', ...SHOWN, 'any other'], runs.map(faultsOf)),
    '',
    '## What happened',
    '',
    ...runs.flatMap(totalsOf),
  ]
  return `${lines.join('\n')}\n`
}

function faultsOf({ what, kind, verdict: { faults } }: Run): string[] {
  const count = (rule: Rule): number => faults.find((each) => each.rule === rule)?.count ?? 0
  const others = faults.filter(({ rule }) => !SHOWN.includes(rule))
  return [
    what,
    kind,
    ...SHOWN.map((rule) => String(count(rule))),
    others.map(({ rule }) => rule).join(', ') || '0',
  ]
}

function totalsOf({ what, kind, seed, verdict: { totals, happened } }: Run): string[] {
  const tell = (counts: object): string =>
    Object.entries(counts)
      .map(([name, count]) => `${wordsOf(name)} ${count}`)
      .join(', ')
  return [`- **${kind}, ${what}** (seed ${seed}): ${tell(totals)}. Trouble: ${tell(happened)}.`]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, at) => (at < 2 ? '---' : '---:'))), ...rows.map(line)]
}

/** `leasesLost` as `leases lost`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function versionOf(name: string): string {
  const { version } = createRequire(import.meta.url)(`${name}/package.json`) as { version: string }
  return version
}
