// An error callback that is no function is rejected: the first error would end the process.

import { InvalidArgumentError, type Perilune } from 'perilune'
import { withIdempotency } from 'perilune/middleware'
import { nextCacheHandler } from 'perilune/next'
import { expect, test } from 'vitest'
import { instance } from './instance.ts'

const sink = { apply: () => undefined } as never

const HOOKS: Record<string, (redis: Perilune, hook: never) => unknown> = {
  'onError of a campaign': (redis, onError) => redis.election('a').campaign(() => undefined, { onError }),
  'onError of a worker': (redis, onError) => redis.queue('a').work(() => undefined, { onError }),
  'onSettled of a worker': (redis, onSettled) => redis.queue('a').work(() => undefined, { onSettled }),
  'onError of flushes': (redis, onError) => redis.counters('a', { sink }).flushEvery('1m', { onError }),
  'onLoss of counters': (redis, onLoss) => redis.counters('a', { sink, onLoss }),
  'onNotKept of the middleware': (redis, onNotKept) =>
    withIdempotency(redis.once<never>('a'), { subject: () => 'a', onNotKept }, () => new Response()),
  'onError of the store of Next.js': (redis, onError) => nextCacheHandler(redis.cache('a'), { onError }),
}

test.each(Object.entries(HOOKS))('%s is a function', (_what, use) => {
  const { redis } = instance()

  for (const odd of [null, 'log', console, 0])
    expect(() => use(redis, odd as never)).toThrow(InvalidArgumentError)
})
