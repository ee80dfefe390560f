// Each checker finds the one fault that is planted in a sound history, and nothing in the sound one.

import { describe, expect, test } from 'vitest'
import type { Call, History } from '../history.ts'
import type { Terms } from '../terms.ts'
import { CHECKERS } from './all.ts'
import { calls } from './calls.ts'
import { type Plant, PLANTED } from './planted.ts'
import { call, held, history, lossFrom, lost as ended, NO_TERMS, sight } from './planting.ts'
import { SOUND } from './sound.ts'

function judge(structure: string, plant: Plant, terms: Terms = NO_TERMS): string[] {
  const sound = SOUND[structure]
  const planted: History = history(
    [...(sound?.calls ?? []), ...(plant.calls ?? [])],
    [...(sound?.sights ?? []), ...(plant.sights ?? [])],
  )
  return CHECKERS[structure]?.(planted, terms) ?? []
}

describe('a sound history', () => {
  test.each(Object.keys(SOUND))('of %s has no fault', (structure) => {
    expect(judge(structure, {})).toEqual([])
  })

  test('exists for every checker', () => {
    const checkers = new Set(Object.entries(CHECKERS).map(([, checker]) => checker))
    expect(new Set(Object.keys(SOUND).map((structure) => CHECKERS[structure]))).toEqual(checkers)
  })
})

test.each(PLANTED)('%s: %s is found', (structure, _fault, plant, said) => {
  expect(judge(structure, plant).join('\n')).toContain(said)
})

describe('the stated class allows', () => {
  test('a second holder of a lock that was lost', () => {
    expect(judge('lock', { sights: [held('a', 3, 25, 28)] }, lossFrom(26, 40))).toEqual([])
  })

  test('a lease that was lost during a fault', () => {
    const terms = { ...NO_TERMS, trouble: [{ fromUs: 42_000, untilUs: 43_000 }] }
    expect(judge('lock', { sights: [ended('a', 3, 40, 45)] }, terms)).toEqual([])
  })

  test('no token that does not rise', () => {
    const again = { calls: [call('acquire', 'a', 40, { got: { token: 2 } })] }
    expect(judge('lock', again, lossFrom(0, 100)).join()).toContain('given twice')
  })

  test('a message that was acknowledged in its last moments, and no other one', () => {
    const lost = { calls: [call('append', 'lost', 9)] }
    expect(judge('feed', lost, lossFrom(9, 20))).toEqual([])
    expect(judge('feed', lost, lossFrom(15, 20)).join()).toContain('is not there')
  })

  test('an increment that is lost, and none that counts twice', () => {
    const lost = { calls: [call('increment', '1', 30, { got: { value: 3 } })] }
    expect(judge('counters', lost, lossFrom(25, 40))).toEqual([])
    const doubled = { sights: [sight('row', '1', { votes: 4, value: 4 })] }
    expect(judge('counters', doubled, lossFrom(0, 100)).join()).toContain('4 in the database')
  })
})

describe('of every call', () => {
  const judgeCall = (more: Partial<Call>, terms = NO_TERMS): string =>
    calls(history([call('take', 'u', 0, more)]), terms).join()

  test('one that never settled is found', () => {
    expect(judgeCall({ outcome: 'hung', settledAt: Infinity })).toContain('hung')
  })

  test('one that settled far too late is found, unless its process was stalled', () => {
    const late = { settledAt: 20_000_000 }
    expect(judgeCall(late)).toContain('too late')
    const stops = [{ process: 0, fromUs: 1_000_000, untilUs: 15_000_000 }]
    expect(judgeCall(late, { ...NO_TERMS, stops })).toBe('')
  })

  test('an unexpected error is found, and an unhandled one', () => {
    expect(judgeCall({ outcome: 'odd', error: 'TypeError' })).toContain('odd error')
    expect(calls({ calls: [], sights: [], crashes: ['TypeError'] }, NO_TERMS).join()).toContain('unhandled')
  })
})
