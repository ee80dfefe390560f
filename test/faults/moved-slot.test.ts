// Collections and caches of one slot, which moves between nodes while they are written and read: callers see nothing
// but latency. Servers answer `ASK` and `TRYAGAIN` while the keys of a slot are split; the test reports how often.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cache, type Perilune, perilune } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { unitPrefix } from '../../src/runtime/values/keys.ts'
import { type OpenCluster, waysToOpen } from '../drivers/client.ts'
import { LONG, tell } from '../proof.ts'
import { askFields } from '../servers/ask.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { namesIn, Origin, Sent } from './moved-slot.ts'

const NAMESPACE = 'faults'
const EACH = 8
const MOVES = LONG ? 10 : 2
/** So long a list stays as it is that readers get to its end. */
const REST_MS = LONG ? 1000 : 150

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** A cluster of its own, a slot of it, and lists and keys of a cache that lie there. */
async function setup(open: OpenCluster) {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const name = randomUUID()
  const slot = slotOf(unitPrefix(NAMESPACE, 'collection', '0'))
  const lists = namesIn(slot, EACH / 2, (each) => unitPrefix(NAMESPACE, 'collection', each))
  // One key for each writer: when two change a key, the first may be the last that Redis executes.
  const keys = namesIn(slot, EACH, (each) => unitPrefix(NAMESPACE, 'cache', name, each))
  const happened = { outage: 0, loaded: 0 } as Record<string, number>
  const event = ({ kind }: { kind: string }): void => void (happened[kind] = (happened[kind] ?? 0) + 1)
  const connect = async (): Promise<{ redis: Perilune; cache: Cache<number> }> => {
    const { driver, close } = await open(cluster.ports)
    const redis = perilune(driver, { namespace: NAMESPACE, deadline: '20s' })
    onTestFinished(async () => {
      await redis.close()
      await close()
    })
    return { redis, cache: redis.cache(name, { ttl: '300ms', storeWithin: '20s', hooks: { event } }) }
  }
  const sents = lists.map((each) => new Sent(each))
  return { cluster, slot, lists: sents, origins: keys.map((key) => new Origin(key)), happened, connect }
}

/** A few keys at a time, so that much is asked for while it is in two places. */
async function move(cluster: RedisCluster, slot: number): Promise<void> {
  const from = await cluster.ownerOf(slot)
  const to = cluster.ports.find((port) => port !== from) ?? from
  await cluster.beginMove(slot, from, to)
  while ((await cluster.moveKeys(slot, from, to, 3)) > 0) await sleep(10)
  await cluster.finishMove(slot, from, to)
  await sleep(REST_MS)
}

/** How often the servers have answered that keys are elsewhere. */
async function redirections({ ports }: RedisCluster): Promise<Record<string, number>> {
  const stats = await Promise.all(ports.map((port) => askFields(port, 'INFO', 'errorstats')))
  const count = (word: string): number =>
    stats.reduce(
      (sum, each) => sum + Number(/count=(\d+)/.exec(each.get(`errorstat_${word}`) ?? '')?.[1] ?? 0),
      0,
    )
  return Object.fromEntries(['ASK', 'MOVED', 'TRYAGAIN'].map((word) => [word, count(word)]))
}

const all = await waysToOpen('clusters')
const ways = LONG ? all : all.filter(([name]) => !name.includes(' '))

test.each(ways)(
  'with %s, a slot moves while 8 writers replace lists and 8 readers read them and caches in it: callers see only latency',
  { timeout: 300_000 },
  async (name, open) => {
    const { cluster, slot, lists, origins, happened, connect } = await setup(open)
    const done = { replaced: 0, changed: 0, got: 0, whole: 0 }
    let moving = true
    const write = async (at: number): Promise<void> => {
      const { redis, cache } = await connect()
      for (; moving; await sleep(Math.random() * REST_MS * 2)) {
        await lists[at % lists.length]!.replaceIn(redis)
        done.replaced += 1
        await origins[at]!.changeIn(cache)
        done.changed += 1
      }
    }
    const read = async (at: number): Promise<void> => {
      const { redis, cache } = await connect()
      const readCache = async (): Promise<void> => {
        for (; moving; await sleep(1)) {
          for (const origin of origins) await origin.getFrom(cache)
          done.got += origins.length
        }
      }
      const readList = async (): Promise<void> => {
        for (; moving; await sleep(10)) done.whole += Number(await lists[at % lists.length]!.readIn(redis))
      }
      await Promise.all([readCache(), readList()])
    }
    const redis = (await connect()).redis
    for (const list of lists) await list.replaceIn(redis)

    const working = Promise.all(numbers(EACH).flatMap((at) => [write(at), read(at)]))
    for (let n = 0; n < MOVES; n++) await Promise.race([move(cluster, slot), working])
    moving = false
    await working

    const answered = await redirections(cluster)
    expect(Math.max(...origins.map(({ most }) => most)), 'loads of a key at once').toBe(1)
    expect(happened['outage']).toBe(0)
    expect([happened['loaded'], done.whole, answered['TRYAGAIN']]).not.toContain(0)
    tell(`slot: with ${name}, moved ${MOVES} times: ${JSON.stringify({ ...done, ...happened, ...answered })}`)
  },
)
