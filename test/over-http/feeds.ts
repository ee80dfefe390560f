// Feeds: append, read, remove and claim. The service does not offer feeds in partitions.

import type { FeedOptions, NewMessage, Page } from 'perilune'
import { claimsIn } from './feed-claims.ts'
import { subscribersOf } from './feed-subscribers.ts'
import { drawMarker, type FeedWorld } from './feed-world.ts'
import { done, found, Refused } from './outcome.ts'
import type { Pair, Part, Sides, Step } from './sides.ts'

const BODIES = [1, 'two', null, { text: 'é' }, [], 'x'.repeat(20_000)]

export function feedPart(sides: Sides): Part {
  const { name, redis } = sides
  const none = { here: '1', there: '1' }
  const world: FeedWorld = { sides, url: `/feeds/${name}`, feed: redis.feed(name), ids: [none], markers: [] }
  const claims = claimsIn(world)
  const subscribers = subscribersOf(world)
  return {
    steps: [
      () => append(world),
      () => append(world),
      () => append(world),
      () => appendWrongly(world),
      () => remove(world, ''),
      () => remove(world, '/dead-letters'),
      () => clear(world),
      ...claims.steps,
      ...subscribers.steps,
    ],
    looks: [
      () => read(world, ''),
      () => read(world, ''),
      () => readWrongly(world),
      () => read(world, '/dead-letters'),
      () => lookUp(world, ''),
      () => lookUp(world, '/dead-letters'),
      inspect(world),
      ...claims.looks,
      ...subscribers.looks,
    ],
    contents: async (through, called) => {
      const feed = through.feed(called)
      const options = { limit: 1000, includeDelayed: true }
      return [await feed.inspect(), await feed.read(options), await feed.deadLetters.read(options)]
    },
  }
}

function drawMessage({ dice }: Sides): NewMessage<unknown> {
  return {
    body: dice.oneOf(BODIES),
    ...(dice.chance(0.3) && { ttl: dice.oneOf(['1h', '2d'] as const) }),
    ...(dice.chance(0.2) && { delay: dice.oneOf(['1h', '3h'] as const) }),
    ...(dice.chance(0.2) && { idempotencyKey: `k${dice.upTo(5)}` }),
  }
}

function drawTerms({ dice }: Sides): FeedOptions<unknown> {
  return {
    ...(dice.chance(0.3) && { origin: dice.oneOf(['ada', 'bob']) }),
    ...(dice.chance(0.1) && {
      retention: dice.oneOf([{ count: 5 }, { bytes: 100 }, { count: 9, age: '1h' } as const]),
    }),
    ...(dice.chance(0.2) && { idempotencyTtl: '2h' as const }),
  }
}

async function append({ sides, url, ids, markers }: FeedWorld): Promise<void> {
  const messages = Array.from({ length: 1 + sides.dice.upTo(3) }, () => drawMessage(sides))
  const terms = drawTerms(sides)
  const [first] = messages
  const isSingle = messages.length === 1
  const pair = await sides.same(
    `append ${JSON.stringify([messages, terms]).slice(0, 300)}`,
    async () => {
      const feed = sides.redis.feed(sides.name, terms)
      const { body, ...options } = first as NewMessage<unknown>
      const appended = isSingle ? [await feed.append(body, options)] : await feed.appendMany(messages)
      const all = appended.map(({ id, cursor, duplicate }) => ({ id, cursor, duplicate }))
      return { messages: all, isNew: !all.every(({ duplicate }) => duplicate) }
    },
    async () => {
      const { status, json } = await sides.http.sent(
        'POST',
        `${url}/messages`,
        queryOf(terms),
        isSingle ? first : { messages },
      )
      return { messages: json.messages as { id: string; cursor: string | null }[], isNew: status === 201 }
    },
  )
  for (const [at, { id, cursor }] of (pair?.here.messages ?? []).entries()) {
    const other = pair?.there.messages[at]
    if (other === undefined) continue
    ids.push({ here: id, there: other.id })
    if (cursor !== null && other.cursor !== null) markers.push({ here: cursor, there: other.cursor })
  }
}

function queryOf({
  origin,
  retention: keep,
  idempotencyTtl,
}: FeedOptions<unknown>): Record<string, string | number | undefined> {
  const { count, age, bytes } = typeof keep === 'object' ? keep : {}
  return { origin, idempotencyTtl, retentionCount: count, retentionAge: age, retentionBytes: bytes }
}

async function appendWrongly({ sides, url }: FeedWorld): Promise<void> {
  const wrong = sides.dice.oneOf([
    { ttl: '0s' },
    { delay: '-1s' },
    { delay: '400d' },
    { idempotencyKey: '' },
    { idempotencyKey: 'x'.repeat(600) },
    { ttl: 60 },
    { lasts: '1h' },
  ])
  const messages = [{ body: 1 }, { body: 2, ...wrong }]
  await sides.same(
    `append with ${JSON.stringify(wrong).slice(0, 60)}`,
    () => sides.redis.feed(sides.name).appendMany(messages as NewMessage<number>[]),
    () => sides.http.post(`${url}/messages`, { messages }),
  )
}

async function read(world: FeedWorld, place: '' | '/dead-letters'): Promise<void> {
  const { sides, url, markers } = world
  const { dice } = sides
  const after = dice.chance(0.6) ? null : drawMarker(world)
  const { origin, ...options } = {
    limit: dice.oneOf([1, 3, 100]),
    ...(dice.chance(0.3) && { includeClaimed: false }),
    ...(dice.chance(0.3) && { includeDelayed: true }),
    ...(dice.chance(0.3) && { origin: dice.oneOf(['ada', 'bob']), echo: false }),
  } as { limit: number; origin?: string; includeClaimed?: boolean; includeDelayed?: boolean; echo?: boolean }
  const pair = await sides.same(
    `read${place} ${JSON.stringify({ ...options, origin })} ${after === null ? '' : 'after a cursor'}`,
    () => {
      const feed = sides.redis.feed(sides.name, origin === undefined ? {} : { origin })
      const from = place === '' ? feed : feed.deadLetters
      return from.read({ ...options, ...(after !== null && { after: after.here }) })
    },
    () => sides.http.get(`${url}${place}/messages`, { ...options, origin, after: after?.there }),
  )
  if (place === '' && pair !== null) note(world, pair as Pair<Page<unknown>>)
  if (markers.length > 50) markers.splice(0, 25)
}

/** Cursors from which reading may continue. */
function note({ markers }: FeedWorld, { here, there }: Pair<Page<unknown>>): void {
  markers.push({ here: here.next, there: there.next })
}

async function readWrongly({ sides, url }: FeedWorld): Promise<void> {
  const options = sides.dice.oneOf([
    { limit: -1 },
    { limit: 0 },
    { limit: 1001 },
    { after: 'here' },
    { wait: 'soon' as never },
  ])
  await sides.same(
    `read ${JSON.stringify(options)}`,
    () => sides.redis.feed(sides.name).read(options),
    () => sides.http.get(`${url}/messages`, options),
  )
}

async function lookUp({ sides, url, feed, ids }: FeedWorld, place: '' | '/dead-letters'): Promise<void> {
  const { here, there } = sides.dice.oneOf(ids.slice(-10))
  await sides.same(
    `look a message up${place}`,
    async () => found((await (place === '' ? feed : feed.deadLetters).get([here])).messages[0] ?? null),
    () => sides.http.get(`${url}${place}/messages/${there}`),
  )
}

async function remove({ sides, url, feed, ids }: FeedWorld, place: '' | '/dead-letters'): Promise<void> {
  const { here, there } = sides.dice.oneOf(ids.slice(-10))
  const options = sides.dice.chance(0.3) ? { evenClaimed: true } : {}
  await sides.same(
    `remove a message${place} ${JSON.stringify(options)}`,
    async () => {
      const { count, held } = await (place === '' ? feed : feed.deadLetters).remove([here], options)
      if (held.length > 0) throw new Refused('refused', 'held')
      done(count > 0)
    },
    () => sides.http.delete(`${url}${place}/messages/${there}`, options),
  )
}

function inspect({ sides, url, feed }: FeedWorld): Step {
  return () =>
    sides.same(
      'inspect',
      async () => {
        const { exists, codec: _codec, ...picture } = await feed.inspect()
        done(exists)
        return { name: sides.name, ...picture }
      },
      () => sides.http.get(url),
    )
}

async function clear({ sides, url, feed }: FeedWorld): Promise<void> {
  if (!sides.dice.chance(0.08)) return
  await sides.same(
    'clear',
    async () => void (await feed.clear()),
    () => sides.http.delete(url),
  )
}
