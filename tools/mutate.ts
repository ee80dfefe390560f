// `npm run mutate -- --seed 5`: makes places of the product wrong, one after the other, in a copy, and reports
// which of them the tests do not notice.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Copy, copyOf } from './mutate/copy.ts'
import { draw } from './mutate/draw.ts'
import { Kept } from './mutate/kept.ts'
import { changeOf, type Mutant, nameOf, whereIs } from './mutate/mutant.ts'
import { allMutants, type Language } from './mutate/places.ts'
import { stopAll } from './mutate/program.ts'
import { killerOf, pageOf, statusOf, totalsOf } from './mutate/report.ts'
import { failsAnyway, type Outcome, tryMutant } from './mutate/trial.ts'

const USAGE = `npm run mutate -- [--seed 5] [--lua 20] [--ts 20] [--only lua|ts] [--in src/runtime] [--pick 3,17] [--list]
    [--unproved] [--keep outcomes.json] [--report docs/proof/mutants.md]
  --in        draws only from these folders or files, separated by commas
  --pick      only these of the draw
  --list      shows the draw, and runs nothing
  --unproved  does not run the tests without a mutant first
  --keep      writes each outcome there; those that are there are not tried again, so what was interrupted goes on`

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '5' },
    lua: { type: 'string', default: '20' },
    ts: { type: 'string', default: '20' },
    only: { type: 'string' },
    in: { type: 'string' },
    pick: { type: 'string' },
    list: { type: 'boolean', default: false },
    unproved: { type: 'boolean', default: false },
    keep: { type: 'string' },
    report: { type: 'string' },
  },
})
const [seed, lua, ts] = [Number(values.seed), Number(values.lua), Number(values.ts)]
if (![seed, lua, ts].every(Number.isSafeInteger) || !['lua', 'ts', undefined].includes(values.only)) {
  console.error(`usage: ${USAGE}`)
  process.exit(2)
}

const root = join(import.meta.dirname, '..')
const folders = values.in?.split(',') ?? ['']
const all = { lua: allOf('lua'), ts: allOf('ts') }
if (all.lua.length + all.ts.length === 0) {
  console.error(`nothing to make wrong in ${folders.join(', ')}\nusage: ${USAGE}`)
  process.exit(2)
}
const drawn = [...draw(all.lua, lua, seed), ...draw(all.ts, ts, seed)]
const picked = values.pick?.split(',').map((number) => Number(number) - 1)
const numbered = [...drawn.entries()].filter(([at]) => picked?.includes(at) ?? true)

if (values.list) for (const [at, mutant] of numbered) console.log(describe(at, mutant))
else await withCopy(run)

function allOf(language: Language): Mutant[] {
  if (values.only !== undefined && values.only !== language) return []
  return allMutants(root, language).filter(({ file }) => folders.some((folder) => file.startsWith(folder)))
}

function describe(at: number, mutant: Mutant): string {
  const { stratum, kind, source } = mutant
  return `${at + 1} [${stratum}] ${whereIs(mutant)} ${kind}: ${changeOf(mutant)}\n    in ${source}`
}

async function withCopy(work: (copy: Copy) => Promise<void>): Promise<void> {
  const copy = await copyOf(root)
  const give = (): void => {
    stopAll()
    copy.remove()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      give()
      process.exit(1)
    })
  }
  await work(copy).finally(give)
}

async function run(copy: Copy): Promise<void> {
  const red = values.unproved ? null : await failsAnyway(copy)
  if (red !== null) throw new Error(`the tests fail without a mutant: ${red}`)
  const outcomes: Outcome[] = []
  const kept = new Kept(values.keep)
  for (const [at, mutant] of numbered) {
    console.log(describe(at, mutant))
    const began = performance.now()
    const outcome = kept.outcomeOf(mutant) ?? kept.keep(await tryMutant(copy, mutant))
    outcomes.push(outcome)
    for (const title of outcome.unsteady) console.log(`    failed once: ${title}`)
    if (statusOf(outcome) === 'SURVIVED') console.log(`    for equivalent.json: ${nameOf(mutant)}`)
    console.log(`    ${killerOf(outcome)} (${Math.round((performance.now() - began) / 1000)} s)`)
  }
  console.log(totalsOf(outcomes))
  if (values.report !== undefined) write(values.report, outcomes)
  process.exitCode = outcomes.some((outcome) => statusOf(outcome) === 'SURVIVED') ? 1 : 0
}

function write(report: string, outcomes: readonly Outcome[]): void {
  const given = process.argv.slice(2).join(' ')
  const command = `npm run mutate -- ${given.replace(/ ?--keep[= ]\S+/, '')}`
  const places = [all.lua.length, all.ts.length] as const
  writeFileSync(join(root, report), pageOf({ command, seed, outcomes, places }))
}
