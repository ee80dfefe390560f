// `npm run fire`: every topology, client and fault under all structures, judged by what the processes wrote down. One run:
// `npm run fire -- --topology cluster --client node-redis --structure lock --fault failover --seed 7`. The whole table
// writes docs/proof/fire.md, and so does a part of it with `--page`. The table takes hours: `--continue FILE` keeps the
// outcome of each run in that file, and does not repeat those that it has.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cell, replayOf } from '../test/fire/cell.ts'
import { pageOf } from '../test/fire/page.ts'
import type { Verdict } from '../test/fire/run.ts'
import { Stages } from '../test/fire/stages.ts'
import { cellsOf, STRUCTURES, type Wanted } from '../test/fire/table.ts'
import { buildPrograms } from '../test/programs/build.ts'
import { explain, readArguments } from './arguments.ts'

const USAGE =
  'npm run fire -- [--topology cluster] [--client ioredis] [--structure lock,queue] [--fault cut] [--seed 7 | --seeds 5] [--keep] [--page] [--continue FILE]'

const text = { type: 'string' } as const
const { values } = readArguments(USAGE, {
  options: {
    topology: text,
    client: text,
    structure: text,
    fault: text,
    seed: text,
    seeds: { type: 'string', default: '5' },
    keep: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    continue: text,
  },
})
const { topology, client, structure, fault } = values
const isWhole = [topology, client, structure, fault, values.seed].every((value) => value === undefined)

const listed = (value: string | undefined): string[] | undefined => value?.split(',')

function seeds(): number[] {
  const count = values.seed === undefined ? Number(values.seeds) : 1
  const first = Number(values.seed ?? 1)
  if (!Number.isSafeInteger(first) || !(count >= 1)) explain(USAGE, 'a seed is a whole number')
  return Array.from({ length: count }, (_, at) => first + at)
}

function wanted(): Wanted {
  const named = {
    topologies: listed(topology),
    clients: listed(client),
    structures: listed(structure),
    faults: listed(fault),
  }
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
  return { ...given, seeds: seeds() }
}

function cells(): ReturnType<typeof cellsOf> {
  try {
    return cellsOf(wanted())
  } catch (error) {
    return explain(USAGE, String(error))
  }
}

function tell({ cell, violations, calls, failed, unknown, ms, folder }: Verdict): void {
  const { topology: where, client: by, fault: what, seed } = cell
  const counts = `${calls} calls, ${failed} failed, ${unknown} in doubt, ${(ms / 1000).toFixed(1)} s`
  console.log(`${where}, ${by}, ${what}, seed ${seed}: ${violations.length} violations; ${counts}`)
  for (const violation of violations) console.log(`  ${violation}`)
  if (violations.length > 0) console.log(`  again: ${replayOf(cell, STRUCTURES)}`)
  if (folder !== null) console.log(`  histories: ${folder}`)
}

/** After each run: a table that is broken off has its page, too. */
function writePage(): void {
  const folder = join(import.meta.dirname, '../docs/proof')
  mkdirSync(folder, { recursive: true })
  const command = ['npm run fire', ...process.argv.slice(2)].join(' ').replace('fire ', 'fire -- ')
  writeFileSync(join(folder, 'fire.md'), pageOf(verdicts, { command, planned: all.length }))
}

/** The outcomes that the file has. */
function keptVerdicts(): Verdict[] {
  const file = values.continue
  if (file === undefined || !existsSync(file)) return []
  return JSON.parse(readFileSync(file, 'utf8')) as Verdict[]
}

const all = cells()
const removePrograms = await buildPrograms()
const stages = new Stages()
const verdicts = keptVerdicts()
const isKept = (cell: Cell): boolean =>
  verdicts.some((verdict) => JSON.stringify(verdict.cell) === JSON.stringify(cell))
for (const cell of all) {
  if (isKept(cell)) continue
  const verdict = await stages.run(cell, { keeps: values.keep })
  tell(verdict)
  verdicts.push(verdict)
  if (values.continue !== undefined) writeFileSync(values.continue, JSON.stringify(verdicts))
  if (isWhole || values.page) writePage()
}
await stages.stop()
await removePrograms()
process.exitCode = verdicts.some(({ violations }) => violations.length > 0) ? 1 : 0
