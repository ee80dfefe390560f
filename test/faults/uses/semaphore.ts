import type { Lease, Semaphore } from 'perilune'
import { addLapsed, standInLine, type Waiters } from './line.ts'
import { errorOf, notKnownOf, type Place, reaches, type Step, type Use, type Work } from './use.ts'

const LAST_TICKET_AT = 7
const PATIENT = { wait: '20s' } as const

const prefixOf = ({ namespace, name }: Place): string => `${namespace}:{semaphore:${name}}`

/** A waiter. */
interface Waiter {
  lease?: Promise<Lease>
}

/** Makes an attempt that stands in line as the last of so many. */
async function stand(waiter: Waiter, of: Semaphore, count: number, lease: Promise<Lease>): Promise<void> {
  lease.catch(() => undefined)
  waiter.lease = lease
  await reaches(async () => (await of.inspect()).waiting === count, lease)
}

async function seen(semaphore: Semaphore): Promise<unknown> {
  const { limit, used, permits, waiting, line } = await semaphore.inspect()
  return [limit, used, permits.length, waiting, line.map(({ weight }) => weight)]
}

function steps(place: Place): readonly Step[] {
  return [...lineSteps(place), ...serveSteps(place)]
}

function lineSteps({ redis, name }: Place): readonly Step[] {
  const semaphore = redis.semaphore(name, { limit: 3 })
  const aborter = new AbortController()
  const [next, gone]: [Waiter, Waiter] = [{}, {}]
  const leases: Lease[] = []
  const enter = async (weight: number): Promise<void> => void leases.push(await semaphore.acquire({ weight }))
  const giveUp = async (): Promise<string> => {
    aborter.abort(new Error('enough'))
    const error = await errorOf(gone.lease ?? Promise.resolve())
    await reaches(async () => (await semaphore.inspect()).waiting === 1)
    return error
  }
  const heavy = { ...PATIENT, weight: 2 }
  return [
    ['acquire', 'refuses', () => enter(2)],
    ['acquire', 'refuses', () => enter(1)],
    ['acquire', 'serves', () => semaphore.tryAcquire()],
    ['extend', 'serves', async () => leases[0]?.extend('1m')],
    ['acquire', 'refuses', () => stand(next, semaphore, 1, semaphore.acquire(heavy))],
    [
      'acquire',
      'refuses',
      () => stand(gone, semaphore, 2, semaphore.acquire({ ...PATIENT, signal: aborter.signal })),
    ],
    ['inspect', 'serves', () => seen(semaphore)],
    ['abandon', 'serves', giveUp],
    ['release', 'serves', async () => leases[1]?.release()],
    ['inspect', 'serves', () => seen(semaphore)],
    ['release', 'serves', async () => leases[0]?.release()],
    ['extend', 'serves', async () => (await next.lease)?.extend('1m')],
    ['resize', 'refuses', () => semaphore.resize(5)],
    ['inspect', 'serves', () => seen(semaphore)],
    ['release', 'serves', async () => (await next.lease)?.release()],
    ['release', 'serves', () => notKnownOf(semaphore.byToken.release(1))],
    // Whether there was something to delete, a repetition cannot know.
    ['clear', 'serves', async () => void (await semaphore.clear())],
    ['inspect', 'serves', () => seen(semaphore)],
  ]
}

/** So many of those who wait are dead that a release cannot pass them all. */
function serveSteps(place: Place): readonly Step[] {
  const semaphore = place.redis.semaphore(place.name, { limit: 1 })
  let lease: Lease | undefined
  const dead = { prefix: prefixOf(place), count: 600, dead: true, lastTicketAt: LAST_TICKET_AT }
  return [
    ['acquire', 'refuses', async () => void (lease = await semaphore.acquire())],
    ['inspect', 'unasked', () => standInLine(place.client, dead).then(() => seen(semaphore).then(() => 0))],
    ['serve', 'serves', async () => lease?.release()],
    ['inspect', 'serves', () => seen(semaphore)],
  ]
}

type Held = (semaphore: Semaphore, lease: Lease) => unknown

/** A semaphore that is used up, with so many in line. */
function inFrontOf(
  what: string,
  [commands, elements]: [number, number],
  waiters: Partial<Waiters>,
  call: Held,
): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const semaphore = place.redis.semaphore(place.name, { limit: 1000 })
    const lease = await semaphore.acquire({ weight: 1000 })
    const line = { prefix: prefixOf(place), count: size, lastTicketAt: LAST_TICKET_AT }
    await standInLine(place.client, { ...line, ...waiters })
    return async () => call(semaphore, lease)
  }
  return { what, commands, elements, prepare }
}

/** A semaphore of which so many permits are out, live or ended unnoticed. */
function among(what: string, [commands, elements]: [number, number], lapsed: boolean, call: Held): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const semaphore = place.redis.semaphore(place.name, { limit: 10_000_000 })
    const lease = await semaphore.acquire({ weight: size + 1 })
    const prefix = prefixOf(place)
    const endsAt = lapsed ? undefined : Date.now() + 3_600_000
    const weight = '1 '
    await addLapsed(place.client, {
      leases: `${prefix}:permits`,
      ids: `${prefix}:ids`,
      count: size,
      weight,
      endsAt,
    })
    if (lapsed) await noteSoonest(place)
    return async () => call(semaphore, lease)
  }
  return { what, commands, elements, prepare }
}

/** The state knows when the next permit ends. */
async function noteSoonest(place: Place): Promise<void> {
  const key = `${prefixOf(place)}:state`
  const words = ((await place.client.get(key)) ?? '').split(' ')
  words[5] = '1700000000000'
  await place.client.set(key, words.join(' '), 'KEEPTTL')
}

const ONE = [14, 70] as [number, number]
// 500 tickets of the dead, and for each a look, a message and a removal.
const SKIPS = [1520, 9000] as [number, number]
// A hundred who wait are granted what has become free.
const GRANTS = [720, 5000] as [number, number]
const LAPSES = [20, 9000] as [number, number]

const works = [
  inFrontOf('an attempt before a line', ONE, {}, (semaphore) => semaphore.tryAcquire()),
  inFrontOf('standing at the end of a line, and leaving it', ONE, {}, (semaphore) =>
    errorOf(semaphore.acquire({ wait: '50ms' })),
  ),
  inFrontOf('a release before a line', GRANTS, {}, (_semaphore, lease) => lease.release()),
  inFrontOf('a release before a line of the dead', SKIPS, { dead: true }, (_semaphore, lease) =>
    lease.release(),
  ),
  inFrontOf('a new limit for a line', [720, 7000], {}, (semaphore) => semaphore.resize(1100)),
  inFrontOf('an inspection of a line', [110, 500], {}, (semaphore) => semaphore.inspect()),
  inFrontOf('clearing a line', [1010, 5100], { dead: true }, (semaphore) => semaphore.clear()),
  among('a permit where many are out', ONE, false, (semaphore) => semaphore.tryAcquire()),
  among('a release where many are out', ONE, false, (_semaphore, lease) => lease.release()),
  among('an extension where many are out', ONE, false, (_semaphore, lease) => lease.extend('1m')),
  among('an inspection where many are out', [120, 900], false, (semaphore) => semaphore.inspect()),
  among('a permit where many have lapsed', LAPSES, true, (semaphore) => semaphore.tryAcquire()),
  among('a release where many have lapsed', LAPSES, true, (_semaphore, lease) => lease.release()),
  among('an inspection where many have lapsed', [1020, 5500], true, (semaphore) => semaphore.inspect()),
]

export const use: Use = { steps, works }
