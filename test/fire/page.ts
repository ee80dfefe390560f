import { replayOf } from './cell.ts'
import { grouped } from './grouped.ts'
import type { Verdict } from './run.ts'
import { STRUCTURES } from './table.ts'

interface Row {
  readonly runs: number
  readonly calls: number
  readonly failed: number
  readonly unknown: number
  readonly violations: number
}

export interface Asked {
  readonly command: string
  /** How many runs it makes. */
  readonly planned: number
}

/** The page with the totals of a table of runs. */
export function pageOf(verdicts: readonly Verdict[], { command, planned }: Asked): string {
  const broken = verdicts.filter(({ violations }) => violations.length > 0)
  const all = rowOf(verdicts)
  const structures = [...new Set(verdicts.flatMap(({ cell }) => cell.structures))]
  const groups = grouped(verdicts, ({ cell }) => `| ${cell.topology} | ${cell.fault} | ${cell.client} |`)
  return [
    '# Under fire',
    '',
    'Written by `npm run fire`: real servers, several processes with all structures at work, one fault a run. Each process writes down',
    'its calls and their answers, outside Redis; checkers read these records and look for what must not be',
    '([how](../../CONTRIBUTING.md#under-fire)).',
    '',
    `- command: \`${command}\``,
    `- at work in each run: ${structures.join(', ')}`,
    `- ${all.runs} of ${planned} runs, ${all.calls} calls, of which ${all.failed} failed for certain and ${all.unknown} were in doubt`,
    `- runs with violations: ${broken.length}`,
    '',
    '| topology | fault | client | runs | calls | failed | in doubt | violations |',
    '| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...[...groups].map(([name, group]) => lineOf(name, rowOf(group))),
    '',
    ...broken.flatMap(({ cell, violations }) => [
      `\`${replayOf(cell, STRUCTURES)}\``,
      '',
      ...violations.map((violation) => `- ${violation.split('\n')[0]}`),
      '',
    ]),
  ].join('\n')
}

function lineOf(name: string, { runs, calls, failed, unknown, violations }: Row): string {
  return `${name} ${runs} | ${calls} | ${failed} | ${unknown} | ${violations} |`
}

function rowOf(verdicts: readonly Verdict[]): Row {
  const sum = (of: (verdict: Verdict) => number): number =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0)
  return {
    runs: verdicts.length,
    calls: sum(({ calls }) => calls),
    failed: sum(({ failed }) => failed),
    unknown: sum(({ unknown }) => unknown),
    violations: sum(({ violations }) => violations.length),
  }
}
