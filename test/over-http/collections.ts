// Collections of each kind.

import type {
  AddedItems,
  CollectionHash,
  CollectionKind,
  CollectionList,
  CollectionPage,
  CollectionRead,
  CollectionSet,
  CollectionSortedSet,
  Perilune,
  RemovedItems,
} from 'perilune'
import { Refused } from './outcome.ts'
import type { Pair, Part, Sides } from './sides.ts'

const KINDS = ['list', 'set', 'hash', 'sortedSet'] as const
const VALUES = [1, 2, 'a', 'é', null, { a: [1] }, true, 'x'.repeat(3000)]
const FIELDS = ['f', 'g', 'h/i', 'é']

type Bounds = { readonly limit?: number }

interface World {
  readonly sides: Sides
  readonly kind: CollectionKind
  readonly url: string
  /** The end of a page. */
  next: Pair<string> | null
}

export function collectionPart(sides: Sides): Part {
  const kind = sides.dice.oneOf(KINDS)
  const world: World = { sides, kind, url: `/collections/${kind}/${sides.name}`, next: null }
  return {
    steps: [
      () => replace(world),
      () => replace(world),
      () => add(world),
      () => add(world),
      () => remove(world),
      () => replaceWrongly(world),
      () => clear(world),
    ],
    looks: [() => read(world), () => inspect(world)],
    contents: async (redis, called) => {
      const collection = open(redis, called, kind)
      return [await collection.inspect(), inOrder(kind, await collection.read({ limit: 1000 }))]
    },
  }
}

/** All kinds have the same methods, but for those that add and remove. */
function open(
  redis: Perilune,
  name: string,
  kind: CollectionKind,
  bounds: Bounds = {},
): CollectionList<unknown> {
  return redis.collection(name, { kind, ...bounds } as never)
}

/** Sets and hashes have none: so that they can be compared they get one. */
function inOrder(kind: CollectionKind, answer: CollectionRead<unknown>): unknown {
  if (answer.status === 'absent') throw new Refused('not-found')
  if (answer.status === 'replaced') return answer
  const { undecodable: _none, ...page } = answer
  return kind === 'set' || kind === 'hash' ? { ...page, items: sorted(page.items) } : page
}

function sorted(items: CollectionPage<unknown>['items']): unknown[] {
  const keyed = items.map((item) => [JSON.stringify(item), item] as const)
  return keyed.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)
}

function drawItems({ sides: { dice }, kind }: World): unknown[] {
  return Array.from({ length: dice.upTo(9) }, () => {
    const value = dice.oneOf(VALUES)
    if (kind === 'hash') return [dice.oneOf(FIELDS), value]
    return kind === 'sortedSet' ? [value, dice.oneOf([0, 1, -2.5, 1e9])] : value
  })
}

function drawBounds({ sides: { dice }, kind }: World): Bounds {
  const isBounded = (kind === 'list' || kind === 'sortedSet') && dice.chance(0.4)
  return isBounded ? { limit: 1 + dice.upTo(9) } : {}
}

async function replace(world: World): Promise<void> {
  const { sides, kind, url } = world
  const items = drawItems(world)
  const bounds = drawBounds(world)
  const options = {
    ...(sides.dice.chance(0.5) && { version: sides.dice.upTo(5) }),
    ...(sides.dice.chance(0.5) && { ttl: sides.dice.oneOf(['1h', '2d'] as const) }),
  }
  await sides.same(
    `replace ${JSON.stringify({ items: items.length, ...bounds, ...options })}`,
    () => open(sides.redis, sides.name, kind, bounds).replace(items, options),
    () => sides.http.put(url, { items, ...bounds, ...options }),
  )
}

async function add(world: World): Promise<void> {
  const { sides, kind, url } = world
  const items = drawItems(world)
  const bounds = drawBounds(world)
  await sides.same(
    `add ${items.length}`,
    async () => {
      const answer = await addTo(open(sides.redis, sides.name, kind, bounds), items)
      if (answer.status === 'absent') throw new Refused('not-found')
      return withoutStatus(answer)
    },
    () => sides.http.post(`${url}/items`, { items, ...bounds }),
  )
}

function addTo(collection: unknown, items: readonly unknown[]): Promise<AddedItems> {
  const list = collection as Partial<CollectionList<unknown>>
  return list.append?.(items) ?? (collection as CollectionSet<unknown>).add(items)
}

async function remove(world: World): Promise<void> {
  const { sides, kind, url } = world
  const items = kind === 'hash' ? [sides.dice.oneOf(FIELDS), 'other'] : [sides.dice.oneOf(VALUES), 'other']
  await sides.same(
    'remove',
    async () => {
      // A list has no such method.
      if (kind === 'list') throw new Refused('not-found')
      const answer = await removeFrom(open(sides.redis, sides.name, kind), items)
      if (answer.status === 'absent') throw new Refused('not-found')
      return withoutStatus(answer)
    },
    () => sides.http.post(`${url}/removals`, { items }),
  )
}

function removeFrom(collection: unknown, keys: readonly unknown[]): Promise<RemovedItems> {
  return (
    collection as CollectionSet<unknown> | CollectionSortedSet<unknown> | CollectionHash<unknown>
  ).remove(keys as never)
}

function withoutStatus({ status: _status, ...counts }: { readonly status: string }): object {
  return counts
}

async function replaceWrongly(world: World): Promise<void> {
  const { sides, url, kind } = world
  const wrong = sides.dice.oneOf([
    { limit: -1 },
    { version: -1 },
    { ttl: 'soon' },
    { ttl: '0s' },
    { kind: true },
  ])
  const { limit, kind: isOther, ...options } = wrong as { limit?: number; kind?: boolean; version?: number }
  const other = isOther === true ? (KINDS[(KINDS.indexOf(kind) + 1) % KINDS.length] as CollectionKind) : kind
  // Only an existing collection has a kind.
  if (isOther === true && !(await open(sides.redis, sides.name, kind).inspect()).exists) return
  const bounds = limit === undefined ? {} : { limit }
  await sides.same(
    `replace with ${JSON.stringify(wrong)}`,
    () => open(sides.redis, sides.name, other, bounds).replace([], options),
    () => sides.http.put(url.replace(kind, other), { items: [], ...bounds, ...options }),
  )
}

async function read(world: World): Promise<void> {
  const { sides, kind, url, next } = world
  const isFirst = next === null || sides.dice.chance(0.4)
  const limit = sides.dice.oneOf([2, 5, 100, -1])
  const pair = await sides.same(
    `read ${isFirst ? '' : 'on, '}${limit}`,
    async () =>
      inOrder(
        kind,
        await open(sides.redis, sides.name, kind).read({ limit, ...(!isFirst && { after: next.here }) }),
      ),
    async () =>
      inOrder(kind, await sides.http.get(`${url}/items`, { limit, after: isFirst ? undefined : next.there })),
  )
  if (pair === null) return
  const [here, there] = [pair.here, pair.there] as { next?: string | null }[]
  if (typeof here?.next === 'string' && typeof there?.next === 'string') {
    world.next = { here: here.next, there: there.next }
  }
}

async function inspect({ sides, kind, url }: World): Promise<void> {
  await sides.same(
    'inspect',
    async () => {
      const picture = await open(sides.redis, sides.name, kind).inspect()
      if (!picture.exists) return { name: sides.name, exists: false }
      const { codec: _codec, ...shown } = picture
      return { name: sides.name, ...shown }
    },
    () => sides.http.get(url),
  )
}

async function clear({ sides, kind, url }: World): Promise<void> {
  if (!sides.dice.chance(0.4)) return
  await sides.same(
    'clear',
    async () => void (await open(sides.redis, sides.name, kind).clear()),
    () => sides.http.delete(url),
  )
}
