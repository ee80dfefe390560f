import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Kept } from './kept.ts'
import { allMutants } from './places.ts'

const [one, two] = allMutants(join(import.meta.dirname, '../..'), 'lua')

test('what became of a mutant is known to the next run, of that one alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-kept-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'outcomes.json')
  if (one === undefined || two === undefined) throw new Error('there are no mutants')

  new Kept(file).keep({ mutant: one, killedBy: 'a test', unsteady: ['another'] })

  const next = new Kept(file)
  expect(next.outcomeOf(one)).toEqual({ mutant: one, killedBy: 'a test', unsteady: ['another'] })
  expect(next.outcomeOf(two)).toBeUndefined()
  expect(new Kept(undefined).outcomeOf(one)).toBeUndefined()
})
