// Idempotency keys: attempts, their results, and what becomes of them.

import type { Attempt, DetachedAttempt, Once } from 'perilune'
import { found, Refused } from './outcome.ts'
import type { Pair, Part, Sides } from './sides.ts'

const KEYS = ['order-17', 'a/b é']
const OPTIONS = { lease: '1h', resultTtl: '2h' } as const
const RESULTS = [null, 17, 'done', { order: 18, paid: true }, []]

/** An attempt at a key, under way or over. */
interface Begun extends Pair<number> {
  readonly key: string
  /** Null once it is known by its token only. */
  readonly attempt: Attempt<unknown> | null
}

interface World {
  readonly sides: Sides
  readonly once: Once<unknown>
  begun: Begun[]
}

export function oncePart(sides: Sides): Part {
  const once = sides.redis.once(sides.name, OPTIONS)
  const never = { key: KEYS[0] as string, here: 1, there: 1, attempt: null }
  const world: World = { sides, once, begun: [never] }
  return {
    steps: [
      () => begin(world),
      () => begin(world),
      () => begin(world),
      () => beginWrongly(world),
      () => complete(world),
      () => complete(world),
      () => extend(world),
      () => release(world),
      () => clear(world),
    ],
    looks: [() => inspect(world), () => find(world)],
    contents: async (redis, called) => Promise.all(KEYS.map(async (key) => redis.once(called).inspect(key))),
  }
}

function urlOf({ sides }: World, key: string): string {
  return `/once/${sides.name}/keys/${encodeURIComponent(key)}`
}

async function begin(world: World): Promise<void> {
  const { sides, once, begun } = world
  const key = sides.dice.oneOf(KEYS)
  const named = {
    ...(sides.dice.chance(0.3) && { fingerprint: sides.dice.oneOf(['f', 'g']) }),
    ...(sides.dice.chance(0.3) && { id: sides.dice.oneOf(['i', 'j']) }),
  }
  let attempt: Attempt<unknown> | null = null
  const pair = await sides.same(
    `begin ${key} ${JSON.stringify(named)}`,
    async () => {
      const answer = await once.begin(key, named)
      if (answer.status !== 'started') return notStarted(answer)
      attempt = answer.attempt
      return { token: attempt.token, leaseMs: 3_600_000, expiresAtMs: attempt.expiresAtMs }
    },
    () => sides.http.post(`${urlOf(world, key)}/attempts`, { ...named, ...OPTIONS }),
  )
  if (pair !== null && attempt !== null) {
    begun.push({ key, attempt, here: tokenOf(pair.here), there: tokenOf(pair.there) })
  }
}

function tokenOf(answer: object): number {
  return (answer as { token: number }).token
}

function notStarted(answer: Exclude<DetachedAttempt<unknown>, { status: 'started' }>): object {
  if (answer.status !== 'replayed') throw new Refused(answer.status)
  return { token: answer.token, result: answer.result }
}

function beginWrongly(world: World): Promise<unknown> {
  const { sides } = world
  const key = sides.dice.oneOf(['k', 'x'.repeat(600)])
  const lease = key === 'k' ? sides.dice.oneOf(['0s', '400d', 'soon', '-1s']) : '1h'
  return sides.same(
    `begin with a lease of ${lease}`,
    async () => {
      const answer = await sides.redis
        .once(sides.name, { ...OPTIONS, lease: lease as never })
        .beginDetached(key)
      return answer.status === 'started' ? answer : notStarted(answer)
    },
    () => sides.http.post(`${urlOf(world, key)}/attempts`, { ...OPTIONS, lease }),
  )
}

/** From now on it is known by its token. */
function leave(world: World, one: Begun): void {
  world.begun = world.begun.map((each) => (each === one ? { ...one, attempt: null } : each))
}

async function complete(world: World): Promise<void> {
  const { sides, once } = world
  const one = sides.dice.oneOf(world.begun)
  const { key, attempt, here, there } = one
  const result = sides.dice.oneOf(RESULTS)
  leave(world, one)
  await sides.same(
    `complete ${key}`,
    async () => void (await (attempt?.complete(result) ?? once.byToken.complete(key, here, result))),
    () =>
      sides.http.put(`${urlOf(world, key)}/attempts/${there}/result`, result, {
        resultTtl: OPTIONS.resultTtl,
      }),
  )
}

async function extend(world: World): Promise<void> {
  const { sides, once, begun } = world
  const { key, attempt, here, there } = sides.dice.oneOf(begun)
  await sides.same(
    `extend ${key}`,
    async () => {
      if (attempt === null) return { token: here, ...(await once.byToken.extend(key, here, '2h')) }
      await attempt.extend('2h')
      return { token: here, leaseMs: 7_200_000, expiresAtMs: attempt.expiresAtMs }
    },
    () => sides.http.patch(`${urlOf(world, key)}/attempts/${there}`, { lease: '2h' }),
  )
}

async function release(world: World): Promise<void> {
  const { sides, once } = world
  const one = sides.dice.oneOf(world.begun)
  const { key, attempt, here, there } = one
  leave(world, one)
  await sides.same(
    `release ${key}`,
    () => attempt?.release() ?? once.byToken.release(key, here),
    () => sides.http.delete(`${urlOf(world, key)}/attempts/${there}`),
  )
}

async function clear(world: World): Promise<void> {
  const key = world.sides.dice.oneOf(KEYS)
  await world.sides.same(
    `clear ${key}`,
    async () => void (await world.once.clear(key)),
    () => world.sides.http.delete(urlOf(world, key)),
  )
}

async function inspect(world: World): Promise<void> {
  const { sides, once } = world
  const key = sides.dice.oneOf(KEYS)
  await sides.same(
    `inspect ${key}`,
    async () => {
      const { codec: _codec, ...picture } = await once.inspect(key)
      return { key, ...picture }
    },
    () => sides.http.get(urlOf(world, key)),
  )
}

async function find(world: World): Promise<void> {
  const key = world.sides.dice.oneOf(KEYS)
  await world.sides.same(
    `find the result of ${key}`,
    async () => found(await world.once.get(key)),
    () => world.sides.http.get(`${urlOf(world, key)}/result`),
  )
}
