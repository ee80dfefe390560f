// How old a kept response is, whatever the clocks of those who keep and serve it.

import { randomUUID } from 'node:crypto'
import { type KeptResponse, withResponseCache } from 'perilune/middleware'
import { testClock } from 'perilune/testing'
import { expect, test } from 'vitest'
import { instance } from '../instance.ts'

test.each([600, -600])(
  'the age of a response is measured by the server, also in a process whose clock is %i s off',
  async (seconds) => {
    const { redis } = instance()
    const clock = testClock(redis, { startsAt: new Date(Date.now() + seconds * 1000) })
    const answer = (): Response => new Response('page', { headers: { 'cache-control': 'max-age=60' } })
    const handle = withResponseCache(redis.cache<KeptResponse>(randomUUID()), {}, answer)
    const ageAndStatus = async (method = 'GET'): Promise<(string | null)[]> => {
      const { headers } = await handle(new Request('http://shop.example/', { method }))
      return [headers.get('age'), headers.get('cache-status')]
    }
    expect(await ageAndStatus()).toEqual([null, 'perilune; fwd=miss'])
    await expect.poll(() => ageAndStatus()).toEqual(['0', expect.stringMatching(/; ttl=(?:59|60)$/)])

    clock.advance('7500ms')

    for (const method of ['GET', 'HEAD'])
      expect(await ageAndStatus(method)).toEqual(['7', 'perilune; hit; ttl=52'])
  },
)
