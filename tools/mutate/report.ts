// What a run of mutants came to, as a page.

import { spawnSync } from 'node:child_process'
import { whyEquivalent } from './equivalent.ts'
import { changeOf, whereIs } from './mutant.ts'
import type { Outcome } from './trial.ts'

export interface Run {
  readonly command: string
  readonly seed: number
  readonly outcomes: readonly Outcome[]
  /** How many places could have been drawn, in Lua and in TypeScript. */
  readonly places: readonly [number, number]
}

/** `killed`, `equivalent` or `SURVIVED`. */
export function statusOf({ mutant, killedBy }: Outcome): 'killed' | 'equivalent' | 'SURVIVED' {
  if (killedBy !== null) return 'killed'
  return whyEquivalent(mutant) === null ? 'SURVIVED' : 'equivalent'
}

export function totalsOf(outcomes: readonly Outcome[]): string {
  const count = (wanted: string): number => outcomes.filter((one) => statusOf(one) === wanted).length
  return `${count('killed')} killed, ${count('equivalent')} equivalent, ${count('SURVIVED')} survived`
}

export function pageOf({ command, seed, outcomes, places }: Run): string {
  return `${[
    `# Mutants, seed ${seed}`,
    '',
    `Written by \`${command}\`. Each mutant is one place of the product made wrong: a comparison, a condition, a sum,`,
    'a constant, or a line that is dropped. Every structure and every folder of the library is hit. First the',
    'tests nearest to it run, then all that run without Python, except for mutants without an observable effect,',
    'which the end of this page explains; a test that failed had to fail twice, and not without the mutant.',
    '',
    `- ${totalsOf(outcomes)}`,
    `- drawn from ${places[0]} in Lua and ${places[1]} in TypeScript`,
    `- Node ${process.version}, Redis ${redisVersion()}`,
    '',
    '| | place | change | outcome |',
    '| ---: | --- | --- | --- |',
    ...outcomes.map(rowOf),
    ...equivalents(outcomes),
  ].join('\n')}\n`
}

export function killerOf(outcome: Outcome): string {
  const { killedBy } = outcome
  return killedBy === null ? statusOf(outcome) : `killed by ${killedBy}`
}

function rowOf(outcome: Outcome, at: number): string {
  const { mutant } = outcome
  const change = `${mutant.kind}: ${code(changeOf(mutant))} in ${code(mutant.source)}`
  return `| ${at + 1} | ${whereIs(mutant)} | ${change} | ${plain(killerOf(outcome))} |`
}

function equivalents(outcomes: readonly Outcome[]): string[] {
  const lines = outcomes.flatMap((outcome, at) =>
    statusOf(outcome) === 'equivalent' ? [`- ${at + 1}: ${whyEquivalent(outcome.mutant)}`] : [],
  )
  return lines.length === 0 ? [] : ['', '## Why the equivalent ones are', '', ...lines]
}

function code(text: string): string {
  return `\`${plain(text)}\``
}

function plain(text: string): string {
  return text.replaceAll('|', '\\|')
}

function redisVersion(): string {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown'
}
