// There is no grace period: a lease that should last longer is made longer, or extended. What holds instead is that
// its end alone takes a job from nobody, but the next claim.

import { describe, expect, test } from 'vitest'
import { begin, MINUTE, refusalOf } from './fixture.ts'

describe('TestGracePeriod', () => {
  test('test_basic: the first claim after the end of the lease has the job', async () => {
    const { putAndPop, popIds, clock } = await begin()
    await putAndPop('a')
    await clock.advance(MINUTE - 1)
    expect(await popIds()).toEqual([])

    await clock.advance(1)

    expect(await popIds()).toEqual(['a'])
  })

  test('test_repeated: each lost lease ends as the first did', async () => {
    const { putAndPop, popIds, clock } = await begin()
    await putAndPop('a', { maxAttempts: 10 })
    for (let lost = 1; lost <= 4; lost++) {
      await clock.advance(MINUTE - 1)
      expect(await popIds()).toEqual([])
      await clock.advance(1)
      expect(await popIds(), `lease ${lost}`).toEqual(['a'])
    }
  })

  test('test_fail: what an attempt does after its lease counts, as long as nobody has taken the job back', async () => {
    const { putAndPop, popIds, clock, stateOf } = await begin()
    const job = await putAndPop('a')
    await clock.advance(2 * MINUTE)

    expect(await refusalOf(job.fail())).toBe('none')

    expect([await popIds(), await stateOf('a')]).toEqual([[], 'dead'])
  })
})
