// `npm run reverted-mends`: takes mends back, one after the other, in a copy, and reports which part of the net notices
// without the mend's own tests.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Copy, copyOf } from './mutate/copy.ts'
import { MENDS, type Mend } from './mutate/mends.ts'
import { type Mutant, mutantsOf } from './mutate/mutant.ts'
import { stopAll } from './mutate/program.ts'
import { tryNet } from './mutate/trial.ts'

/** By fault, the test that noticed; null: none did. */
type Caught = Record<string, string | null>

// --pick: only these of the list. --keep: a file of the results, from which a run
// continues. --report: the page.
const { values } = parseArgs({
  options: { pick: { type: 'string' }, keep: { type: 'string' }, report: { type: 'string' } },
})
const root = join(import.meta.dirname, '..')
const picked = values.pick?.split(',').map((number) => Number(number) - 1)
const caught = keptIn(values.keep)
// A mend that is not where the list says is reported before anything runs.
const mutants = MENDS.map((mend) => toMutant(mend))

const copy = await copyOf(root)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end(1))
await takeBackEach(copy)
console.log(totals())
if (values.report !== undefined) writeFileSync(join(root, values.report), page())
end(Object.values(caught).includes(null) ? 1 : 0)

async function takeBackEach(where: Copy): Promise<void> {
  for (const [at, { fault, own }] of MENDS.entries()) {
    if (caught[fault] !== undefined || picked?.includes(at) === false) continue
    console.log(`${at + 1} ${fault}`)
    const began = performance.now()
    caught[fault] = await tryNet(where, mutants[at] as Mutant, own)
    console.log(`    ${caught[fault] ?? 'NOT NOTICED'} (${Math.round((performance.now() - began) / 1000)} s)`)
    if (values.keep !== undefined) writeFileSync(values.keep, JSON.stringify(caught, null, 2))
  }
}

function keptIn(file: string | undefined): Caught {
  return file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Caught) : {}
}

function toMutant({ file, now, before }: Mend): Mutant {
  const text = readFileSync(join(root, file), 'utf8')
  const from = text.indexOf(now)
  if (from === -1 || text.includes(now, from + 1)) throw new Error(`does not stand once in ${file}: ${now}`)
  const [mutant] = mutantsOf(file, text, [{ kind: 'mend', from, to: from + now.length, after: before }])
  return mutant as Mutant
}

function end(code: number): never {
  stopAll()
  copy.remove()
  process.exit(code)
}

function totals(): string {
  const all = Object.values(caught)
  return `${all.filter((test) => test !== null).length} of ${all.length} noticed`
}

function page(): string {
  return `${[
    '# Mends taken back',
    '',
    'Written by `npm run reverted-mends -- --report docs/proof/reverted-mends.md`. Each row is a fault that was found and mended; a change in',
    '`tools/mutate/mends.ts` takes the mend back. Then the net runs without the tests that were written for that mend: audits and models, first calls',
    'and closing, fire, soaks. A test that failed had to fail twice.',
    '',
    `- ${totals()}`,
    '',
    '| | what was wrong | where the mend is taken back | left out | noticed by |',
    '| ---: | --- | --- | --- | --- |',
    ...MENDS.filter(({ fault }) => caught[fault] !== undefined).map(rowOf),
  ].join('\n')}\n`
}

function rowOf({ fault, file, own }: Mend, at: number): string {
  const noticed = caught[fault]?.replaceAll('|', '/') ?? '**nothing**'
  return `| ${at + 1} | ${fault} | ${file} | ${own.join(', ')} | ${noticed} |`
}
