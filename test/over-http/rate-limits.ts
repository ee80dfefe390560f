// Rate limits of each kind, and several at once. Their windows are so wide that no unit flows back meanwhile.

import type { RateLimit, RateLimitOptions } from 'perilune'
import type { HttpAnswer } from '../../server/testing/test-app.ts'
import { refusedBy } from './outcome.ts'
import type { Query } from './requests.ts'
import type { Pair, Part, Sides } from './sides.ts'

const UNITS = { limit: 5, window: '30d', burst: 8 } as const
const SLIDING = { algorithm: 'sliding-window', limit: 6, window: '365d' } as const
const PLACES = { algorithm: 'concurrency', limit: 3, lease: '1h' } as const

type Terms = Exclude<RateLimitOptions, { onOutage: unknown }>

/** Each is of a limiter of its own: the stored data depends on the kind. */
const LIMITERS: Readonly<Record<string, Terms>> = {
  units: UNITS,
  sliding: SLIDING,
  places: PLACES,
  both: { limits: { units: UNITS, places: PLACES } },
}
const SUBJECTS = ['ada', 'bob/é']

const WRONG: readonly object[] = [
  {},
  { limit: -5, window: '1h' },
  { limit: 5 },
  { limit: 5, window: 'soon' },
  { limit: 5, window: '1h', algorithm: 'leaky' },
  { limits: {} },
  { limits: { a: { limit: 0, window: '1h' } } },
]

interface World {
  readonly sides: Sides
  /** By limiter and subject. */
  readonly taken: Map<string, Pair<number>[]>
}

/** One subject of one limiter. */
interface Place {
  readonly terms: Terms
  readonly subject: string
  readonly url: string
  readonly limiter: RateLimit
  readonly taken: Pair<number>[]
}

export function rateLimitPart(sides: Sides): Part {
  const world: World = { sides, taken: new Map() }
  return {
    steps: [
      () => take(world),
      () => take(world),
      () => take(world),
      () => refund(world),
      () => release(world),
      () => release(world),
      () => takeWrongly(world),
      () => clear(world),
    ],
    looks: [() => check(world), () => inspect(world)],
    contents: (redis, called) =>
      Promise.all(
        Object.entries(LIMITERS).flatMap(([kind, terms]) =>
          SUBJECTS.map((subject) => redis.rateLimit(`${called}-${kind}`, terms).inspect(subject)),
        ),
      ),
  }
}

function drawPlace({ sides, taken }: World): Place {
  const [kind, terms] = sides.dice.oneOf(Object.entries(LIMITERS))
  const subject = sides.dice.oneOf(SUBJECTS)
  const name = `${sides.name}-${kind}`
  const of = taken.get(kind + subject) ?? []
  taken.set(kind + subject, of)
  return {
    terms,
    subject,
    url: `/rate-limits/${name}/subjects/${encodeURIComponent(subject)}`,
    limiter: sides.redis.rateLimit(name, terms),
    taken: of,
  }
}

async function take(world: World): Promise<void> {
  const { sides } = world
  const { terms, subject, url, limiter, taken } = drawPlace(world)
  const cost = sides.dice.oneOf([1, 1, 2, 3, 9])
  const pair = await sides.same(
    `take ${cost} of ${url}`,
    () => limiter.take(subject, { cost }),
    async () => decisionOf(await sides.http.send('POST', `${url}/takes`, {}, { ...terms, cost })),
  )
  if (pair?.here.allowed === true) taken.push({ here: tokenOf(pair.here), there: tokenOf(pair.there) })
}

function tokenOf(decision: object): number {
  return (decision as { token: number }).token
}

/** A denial is a problem, with the decision in it. */
function decisionOf({ status, json }: HttpAnswer): object {
  if (status !== 429) {
    if (status >= 400) throw refusedBy(status, json as { code: string })
    return json as object
  }
  const {
    type: _type,
    title: _title,
    status: _status,
    detail: _detail,
    code,
    ...decision
  } = json as {
    code: string
  } & Record<string, unknown>
  if (code !== 'rate-limited') throw new Error(`429 with the code ${code}`)
  return decision
}

async function check(world: World): Promise<void> {
  const { sides } = world
  const { terms, subject, url, limiter } = drawPlace(world)
  const cost = sides.dice.oneOf([1, 2, 20])
  await sides.same(
    `check ${cost} of ${url}`,
    () => limiter.get(subject, { cost }),
    () => sides.http.post(`${url}/checks`, { ...terms, cost }),
  )
}

async function refund(world: World): Promise<void> {
  const { sides } = world
  const { terms, subject, url, limiter, taken } = drawPlace(world)
  const cost = sides.dice.oneOf([1, 2])
  const named = taken.length > 0 && sides.dice.chance(0.7) ? sides.dice.oneOf(taken) : null
  await sides.same(
    `refund ${cost} of ${url} ${named === null ? '' : 'by its token'}`,
    async () => ({
      refunded: await limiter.refund(subject, { cost, ...(named !== null && { token: named.here }) }),
    }),
    () =>
      sides.http.post(`${url}/refunds`, { ...terms, cost, ...(named !== null && { token: named.there }) }),
  )
}

/** Also where a place is free already, or there are none. */
async function release(world: World): Promise<void> {
  const { sides } = world
  const { terms, subject, url, limiter, taken } = drawPlace(world)
  const { here, there } = taken.length === 0 ? { here: 1, there: 1 } : sides.dice.oneOf(taken)
  await sides.same(
    `release a place of ${url}`,
    () => limiter.release(subject, here),
    () => sides.http.delete(`${url}/leases/${there}`, queryOf(terms)),
  )
}

async function inspect(world: World): Promise<void> {
  const { terms, subject, url, limiter } = drawPlace(world)
  await world.sides.same(
    `inspect ${url}`,
    async () => ({ subject, ...(await limiter.inspect(subject)) }),
    () => world.sides.http.get(url, queryOf(terms)),
  )
}

function queryOf(terms: object): Query {
  return 'limits' in terms ? { limits: JSON.stringify(terms.limits) } : { ...terms }
}

async function takeWrongly(world: World): Promise<void> {
  const { sides } = world
  const { subject, url } = drawPlace(world)
  const wrong = sides.dice.oneOf(WRONG)
  await sides.same(
    `take with ${JSON.stringify(wrong)}`,
    async () => sides.redis.rateLimit(sides.name, wrong as never).take(subject),
    () => sides.http.post(`${url}/takes`, wrong),
  )
}

async function clear(world: World): Promise<void> {
  const { sides } = world
  if (!sides.dice.chance(0.5)) return
  const { subject, url, limiter } = drawPlace(world)
  await sides.same(
    `clear ${url}`,
    async () => void (await limiter.clear(subject)),
    () => sides.http.delete(url),
  )
}
