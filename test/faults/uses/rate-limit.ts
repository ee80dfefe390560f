import type { RateLimit, RateLimitOptions } from 'perilune'
import { abandon } from '../../../src/generated/rate-limit.ts'
import { toOnlyTerms } from '../../../src/rate-limit/limits.ts'
import { Unit } from '../../../src/runtime/connection/unit.ts'
import type { Place, Step, Use, Work } from './use.ts'

const KINDS: Record<string, RateLimitOptions> = {
  gcra: { limit: 3, window: '1d' },
  window: { algorithm: 'sliding-window', limit: 3, window: '1d' },
  places: { algorithm: 'concurrency', limit: 1, lease: '1h' },
  several: {
    limits: {
      day: { limit: 3, window: '1d' },
      week: { algorithm: 'sliding-window', limit: 9, window: '7d' },
      parallel: { algorithm: 'concurrency', limit: 2, lease: '1h' },
    },
  },
}

function steps({ redis, name }: Place): readonly Step[] {
  const usual = Object.entries(KINDS).flatMap(([kind, options]) =>
    stepsOf(redis.rateLimit(`${name} ${kind}`, options), kind),
  )
  return [...usual, ['abandon', 'serves', () => leave({ redis, name })]]
}

/** As of one who has taken a place, and got no answer. */
function leave({ redis, name }: Pick<Place, 'redis' | 'name'>): Promise<unknown> {
  const place = { structure: 'rate-limit', name: `${name} places`, unit: 'left', since: '6.2.0' }
  const limits = toOnlyTerms({ algorithm: 'concurrency', limit: 1 })
  return new Unit(redis.runtime, place).run(abandon, { caller: 'left.0', call: 2, take: 1, limits })
}

function stepsOf(limiter: RateLimit, kind: string): readonly Step[] {
  const take = kind === 'gcra' ? 'take-each' : 'take'
  let token = 0
  const seen = async (call: ReturnType<RateLimit['take']>): Promise<unknown> => {
    const decision = await call
    if (decision.outage) return 'outage'
    if (decision.allowed) token = decision.token || token
    return [decision.allowed, decision.remaining, decision.allowed ? '' : decision.deniedBy]
  }
  const places: readonly Step[] = [['release', 'serves', () => limiter.release('ada', token)]]
  const units: readonly Step[] = [
    ['refund', 'serves', () => limiter.refund('ada', { token })],
    ['refund', 'serves', () => limiter.refund('ada', { token })],
    ['refund', 'serves', () => limiter.refund('ada', { cost: 1 })],
    [take, 'refuses', () => seen(limiter.take('ada', { cost: 2 }))],
  ]
  const cost = kind === 'places' ? 1 : 2
  return [
    [take, 'refuses', () => seen(limiter.take('ada'))],
    ['get', 'serves', () => seen(limiter.get('ada', { cost }))],
    ...(kind === 'several' || kind === 'places' ? places : []),
    [take, 'refuses', () => seen(limiter.take('ada', { cost }))],
    [take, 'serves', () => seen(limiter.take('ada'))],
    ...(kind === 'places' ? places : units),
    ['inspect', 'serves', async () => (await limiter.inspect('ada')).held.length],
    // Whether there was something to forget, a repetition cannot know.
    ['clear', 'serves', async () => void (await limiter.clear('ada'))],
    ['get', 'serves', () => seen(limiter.get('ada'))],
  ]
}

const PLACES = { algorithm: 'concurrency', limit: 1000, lease: '1h' } as const
const WINDOW = { algorithm: 'sliding-window', limit: 1_000_000, window: '10s' } as const
const MOST_TAKES = 20_000

/** A subject that has taken as often, and as much, as it can be made to. */
function work(
  what: string,
  bounds: [number, number],
  options: RateLimitOptions,
  call: (limiter: RateLimit, token: number) => unknown,
): Work {
  const prepare: Work['prepare'] = async ({ redis, name }, size) => {
    const limiter = redis.rateLimit(name, options)
    let token = 0
    for (let taken = 0; taken < Math.min(size, MOST_TAKES); taken += 500) {
      const decisions = await Promise.all(Array.from({ length: 500 }, () => limiter.take('ada')))
      for (const one of decisions) if (one.allowed && !one.outage) token = one.token
    }
    return async () => call(limiter, token)
  }
  return { what, commands: bounds[0], elements: bounds[1], prepare }
}

const works = [
  work('a take', [6, 40], { limit: 1_000_000, window: '1d' }, (limiter) => limiter.take('ada')),
  work('a take from a window', [6, 40], WINDOW, (limiter) => limiter.take('ada')),
  work('a take from places', [6, 40], PLACES, (limiter) => limiter.take('ada')),
  work('a refund', [6, 40], WINDOW, (limiter, token) => limiter.refund('ada', { token })),
  work('a release', [6, 40], PLACES, (limiter, token) => limiter.release('ada', token)),
]

export const use: Use = { steps, works }
