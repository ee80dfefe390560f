// Caches: values that are set, loaded by one of those who ask, and invalidated by their keys or tags.

import type { Cache, DetachedLoad } from 'perilune'
import { found, Refused } from './outcome.ts'
import type { Pair, Part, Sides } from './sides.ts'

const KEYS = ['k', 'a/b é']
const TAGS = ['red', 'blue']
const VALUES = [1, 'two', null, { three: 3 }, [4]]
const LEASE = '1h'

/** A load that was begun and may still be under way. */
interface Loading extends Pair<string> {
  readonly key: string
}

interface World {
  readonly sides: Sides
  readonly cache: Cache<unknown>
  readonly loads: Loading[]
}

export function cachePart(sides: Sides): Part {
  const world: World = { sides, cache: sides.redis.cache(sides.name, { lease: LEASE }), loads: [] }
  return {
    steps: [
      () => set(world),
      () => setWrongly(world),
      () => get(world),
      () => get(world),
      () => beginLoad(world),
      () => beginLoad(world),
      () => complete(world),
      () => complete(world),
      () => extend(world),
      () => fail(world),
      () => invalidate(world),
      () => invalidateMany(world),
    ],
    looks: [() => find(world), () => inspect(world)],
    contents: (redis, called) => {
      const cache = redis.cache(called)
      return Promise.all(KEYS.flatMap((key) => [cache.inspect(key), withoutAge(cache.getEntry(key))]))
    },
  }
}

function urlOf({ sides }: World, key: string): string {
  return `/caches/${sides.name}/keys/${encodeURIComponent(key)}`
}

/** The service does not return its age. */
async function withoutAge(value: Promise<{ readonly ageMs: number } | null>): Promise<object | null> {
  const kept = await value
  if (kept === null) return null
  const { ageMs: _ageMs, ...rest } = kept
  return rest
}

function drawSpan({ dice }: Sides): object {
  return {
    ttl: dice.oneOf(['1h', '2d']),
    ...(dice.chance(0.5) && { staleWhileRevalidate: '1d' }),
    ...(dice.chance(0.3) && { version: 1 + dice.upTo(5) }),
  }
}

function drawTags({ dice }: Sides): { tags: string[] } {
  return { tags: TAGS.filter(() => dice.chance(0.3)) }
}

async function set(world: World): Promise<void> {
  const { sides, cache } = world
  const key = sides.dice.oneOf(KEYS)
  const value = sides.dice.oneOf(VALUES)
  const how = { ...drawSpan(sides), ...drawTags(sides) }
  await sides.same(
    `set ${key} ${JSON.stringify(how)}`,
    () => cache.set(key, value, how),
    () => sides.http.put(`${urlOf(world, key)}/value`, { value, ...how }),
  )
}

async function setWrongly(world: World): Promise<void> {
  const { sides, cache } = world
  const key = sides.dice.oneOf(['k', 'x'.repeat(600)])
  const wrong = sides.dice.oneOf([
    { ttl: '-1s' },
    { ttl: 'soon' },
    { version: 0 },
    { version: -3 },
    { tags: [''] },
    { staleWhileRevalidate: 5 },
    { tags: Array.from({ length: 17 }, (_, at) => `t${at}`) },
  ])
  const how = key === 'k' ? wrong : {}
  await sides.same(
    `set ${JSON.stringify(how).slice(0, 60)}`,
    () => cache.set(key, 1, how as never),
    () => sides.http.put(`${urlOf(world, key)}/value`, { value: 1, ...how }),
  )
}

/** Unless a load is under way: the call would wait for it. */
async function get(world: World): Promise<void> {
  const { sides, cache } = world
  const key = sides.dice.oneOf(KEYS)
  const value = sides.dice.oneOf(VALUES)
  const tags = drawTags(sides)
  if ((await cache.inspect(key)).load !== null) return
  await sides.same(
    `get ${key} ${JSON.stringify(tags)}`,
    () => cache.get(key, () => value, tags),
    async () => {
      const answer = await sides.http.post(`${urlOf(world, key)}/loads`, { ...tags, lease: LEASE })
      if (answer.load === undefined) return answer.value
      await sides.http.put(`${urlOf(world, key)}/loads/${answer.load}/value`, { value })
      return value
    },
  )
}

async function beginLoad(world: World): Promise<void> {
  const { sides, cache, loads } = world
  const key = sides.dice.oneOf(KEYS)
  const tags = drawTags(sides)
  const pair = await sides.same(
    `load ${key} ${JSON.stringify(tags)}`,
    async () => answerOf(await cache.loadDetached(key, tags)),
    () => sides.http.post(`${urlOf(world, key)}/loads`, { ...tags, lease: LEASE }),
  )
  if (pair !== null && 'load' in pair.here) {
    loads.push({ key, here: pair.here.load, there: pair.there.load as string })
  }
}

function answerOf(answer: DetachedLoad<unknown>): { load: string } | object {
  if (answer.status === 'elected') {
    const { status: _status, ...load } = answer
    return load
  }
  if (answer.status !== 'found') throw new Refused(answer.status === 'loading' ? 'loading' : 'load-failed')
  const { status: _status, ageMs: _ageMs, ...value } = answer
  return value
}

function drawLoad({ sides: { dice }, loads }: World): Loading {
  return loads.length === 0 ? { key: 'k', here: 'none', there: 'none' } : dice.oneOf(loads.slice(-4))
}

async function complete(world: World): Promise<void> {
  const { sides, cache } = world
  const { key, here, there } = drawLoad(world)
  const value = sides.dice.oneOf(VALUES)
  const how = drawSpan(sides)
  await sides.same(
    `complete a load of ${key} ${JSON.stringify(how)}`,
    () => cache.byToken.complete(key, here, value, how),
    () => sides.http.put(`${urlOf(world, key)}/loads/${there}/value`, { value, ...how }),
  )
}

async function extend(world: World): Promise<void> {
  const { sides, cache } = world
  const { key, here, there } = drawLoad(world)
  await sides.same(
    `extend a load of ${key}`,
    async () => ({ load: here, ...(await cache.byToken.extend(key, here, '2h')) }),
    () => sides.http.patch(`${urlOf(world, key)}/loads/${there}`, { lease: '2h' }),
  )
}

async function fail(world: World): Promise<void> {
  const { sides, cache } = world
  const { key, here, there } = drawLoad(world)
  const reason = sides.dice.oneOf([undefined, 'no such page'])
  await sides.same(
    `give up a load of ${key}`,
    () => cache.byToken.fail(key, here, reason),
    () => sides.http.delete(`${urlOf(world, key)}/loads/${there}`, { reason }),
  )
}

async function invalidate(world: World): Promise<void> {
  const key = world.sides.dice.oneOf(KEYS)
  await world.sides.same(
    `invalidate ${key}`,
    async () => void (await world.cache.invalidate(key)),
    () => world.sides.http.delete(urlOf(world, key)),
  )
}

async function invalidateMany({ sides, cache }: World): Promise<void> {
  const tag = sides.dice.oneOf([...TAGS, null, ''])
  const what = tag === null ? KEYS : { tag }
  await sides.same(
    `invalidate ${JSON.stringify(what)}`,
    async () => ({ invalidated: await cache.invalidate(what) }),
    () => sides.http.post(`/caches/${sides.name}/invalidations`, tag === null ? { keys: KEYS } : what),
  )
}

async function find(world: World): Promise<void> {
  const key = world.sides.dice.oneOf(KEYS)
  await world.sides.same(
    `find ${key}`,
    async () => found(await withoutAge(world.cache.getEntry(key))),
    () => world.sides.http.get(`${urlOf(world, key)}/value`),
  )
}

async function inspect(world: World): Promise<void> {
  const key = world.sides.dice.oneOf(KEYS)
  await world.sides.same(
    `inspect ${key}`,
    async () => ({ key, ...(await world.cache.inspect(key)) }),
    () => world.sides.http.get(urlOf(world, key)),
  )
}
