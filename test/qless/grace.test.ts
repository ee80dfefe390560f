// There is no grace period: a lease that should last longer is made longer, or extended. Instead, only the next claim
// takes a job from its holder, not the end of its lease.

import { describe, expect, test } from 'vitest'
import { begin, MINUTE, refusalOf } from './fixture.ts'

describe('TestGracePeriod', () => {
  test('test_basic: the first claim after the end of the lease gets the job', async () => {
    const { putAndPop, popIds, clock } = await begin()
    await putAndPop('a')
    await clock.advance(MINUTE - 1)
    expect(await popIds()).toEqual([])

    await clock.advance(1)

    expect(await popIds()).toEqual(['a'])
  })

  test('test_repeated: each lost lease ends like the first one', async () => {
    const { putAndPop, popIds, clock } = await begin()
    await putAndPop('a', { maxAttempts: 10 })
    for (let lost = 1; lost <= 4; lost++) {
      await clock.advance(MINUTE - 1)
      expect(await popIds()).toEqual([])
      await clock.advance(1)
      expect(await popIds(), `lease ${lost}`).toEqual(['a'])
    }
  })

  test('test_fail: an attempt may settle its job after its lease, until the job is taken back', async () => {
    const { putAndPop, popIds, clock, stateOf } = await begin()
    const job = await putAndPop('a')
    await clock.advance(2 * MINUTE)

    expect(await refusalOf(job.fail())).toBe('none')

    expect([await popIds(), await stateOf('a')]).toEqual([[], 'dead'])
  })
})
