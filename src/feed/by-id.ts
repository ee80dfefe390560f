// Looks up or removes messages by id.

import { get, remove } from '../generated/feed.ts'
import { checkFlag, checkOptions } from '../runtime/values/arguments.ts'
import { type Entry, toEntries } from './message.ts'
import { type PlacedId, toPlacedIds, toShownId } from './addresses.ts'
import type { FeedSource, Partitions } from './partitions.ts'

export interface RemoveOptions {
  /** True: also removes messages that a live claim holds. Default: false. */
  evenClaimed?: boolean
}

export interface Removed {
  /** The number of removed messages. */
  readonly count: number
  /** The ids of messages that were kept because a live claim holds them. */
  readonly held: readonly string[]
}

/** Looks messages up by id, in the order requested. `show` converts a message of a partition to its public form. */
export async function lookUp<Body, Shown extends Entry<Body>>(
  partitions: Partitions<Body>,
  ids: readonly string[],
  show: (source: FeedSource<Body>, found: Entry<Body>) => Shown,
): Promise<Shown[]> {
  const placed = toPlacedIds(ids, partitions.spread)
  const found = new Map<string, Shown>()
  await eachPartition(partitions, placed, async (source, own) => {
    for (const entry of await lookUpIn(source, own)) {
      const shown = show(source, entry)
      found.set(shown.id, shown)
    }
  })
  if (found.size < new Set(ids).size) await partitions.agreement?.check()
  const asked = new Set(placed.map(({ partition, id }) => toShownId(partitions.at(partition), id)))
  return [...asked].flatMap((id) => found.get(id) ?? [])
}

export async function removeMessages<Body>(
  partitions: Partitions<Body>,
  ids: readonly string[],
  options: RemoveOptions,
): Promise<Removed> {
  checkOptions('options', options, ['evenClaimed'])
  const evenClaimed = checkFlag('evenClaimed', options.evenClaimed ?? false)
  const placed = toPlacedIds(ids, partitions.spread)
  const removed = await eachPartition(partitions, placed, async (source, own) => {
    const args = { evenClaimed, ids: own }
    const answer = await source.unit.runOnce(remove, ({ caller, call }) => ({ caller, call, ...args }))
    return { count: answer.count, held: answer.held.map((id) => toShownId(source, id)) }
  })
  const count = removed.reduce((sum, each) => sum + each.count, 0)
  const held = removed.flatMap((each) => each.held)
  if (count + held.length < new Set(ids).size) await partitions.agreement?.check()
  return { count, held }
}

/** Uses as many calls as the sizes of the messages require. */
async function lookUpIn<Body>(
  { unit, codec }: FeedSource<Body>,
  ids: readonly number[],
): Promise<Entry<Body>[]> {
  let wanted = [...new Set(ids)]
  const found: Entry<Body>[] = []
  while (wanted.length > 0) {
    const answer = await unit.run(get, { codec: codec.name, ids: wanted })
    found.push(...toEntries(answer, codec))
    wanted = wanted.slice(answer.looked)
  }
  return found
}

function eachPartition<Body, Value>(
  partitions: Partitions<Body>,
  placed: readonly PlacedId[],
  call: (source: FeedSource<Body>, ids: readonly number[]) => Promise<Value>,
): Promise<Value[]> {
  const owned = new Map<number, number[]>()
  for (const { partition, id } of placed) {
    const own = owned.get(partition)
    if (own === undefined) owned.set(partition, [id])
    else own.push(id)
  }
  return Promise.all([...owned].map(([partition, own]) => call(partitions.at(partition), own)))
}
