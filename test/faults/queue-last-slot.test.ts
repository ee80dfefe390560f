// A node of a cluster that gives its last slot away becomes a replica of the node that takes it. Clients that still
// take it for a master continue to listen there: a replica accepts that, and gets the messages of the master, but the
// master does not count subscribers on its replicas. A job must not go to another worker because no subscriber was
// counted.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Perilune, perilune } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { unitPrefix } from '../../src/runtime/values/keys.ts'
import { type OpenCluster, waysToOpen } from '../drivers/client.ts'
import { ask, askFields, until, withClient } from '../servers/ask.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'

const NAMESPACE = 'faults'
const WORKERS = 4
const JOBS = 100
const HALF = 8192

/** A cluster of two masters; a queue whose slot is the only one that the second has. */
async function setup(open: OpenCluster) {
  const cluster = await startCluster({ masters: 2 })
  onTestFinished(() => cluster.stop())
  const name = nameInSecondHalf()
  const slot = slotOf(unitPrefix(NAMESPACE, 'queue', name))
  await giveAllBut(slot, cluster)
  const connect = async (): Promise<Perilune> => {
    const { driver, close } = await open(cluster.ports)
    const redis = perilune(driver, { namespace: NAMESPACE, deadline: '20s' })
    onTestFinished(async () => {
      await redis.close()
      await close()
    })
    return redis
  }
  return { cluster, name, slot, connect }
}

function nameInSecondHalf(): string {
  const name = randomUUID()
  return slotOf(unitPrefix(NAMESPACE, 'queue', name)) >= HALF ? name : nameInSecondHalf()
}

/**
 * The slots are empty: it is enough to announce their owner. A heartbeat that the second node sent before it gave them
 * away may make the first one believe again that the second owns them: so the announcement is repeated until both
 * agree.
 */
async function giveAllBut(kept: number, { ports }: RedisCluster): Promise<void> {
  const [first = 0, second = 0] = ports
  const owner = String(await ask(first, 'CLUSTER', 'MYID'))
  const given = Array.from({ length: HALF }, (_, n) => HALF + n).filter((slot) => slot !== kept)
  await until('both nodes agree whose the slots are', async () => {
    for (const port of [first, second]) {
      await withClient(port, async (client) => {
        await Promise.all(given.map((slot) => client.call('CLUSTER', 'SETSLOT', slot, 'NODE', owner)))
      })
    }
    // Nodes exchange heartbeats each second at least.
    await sleep(1500)
    const counts = await Promise.all([first, second].map((port) => slotsOf(owner, port)))
    return counts.every((count) => count === 2 * HALF - 1)
  })
}

/** How many slots are of that node, as the node at this port says. */
async function slotsOf(owner: string, port: number): Promise<number> {
  const nodes = String(await ask(port, 'CLUSTER', 'NODES')).split('\n')
  const ranges =
    nodes
      .find((line) => line.startsWith(owner))
      ?.split(' ')
      .slice(8) ?? []
  const sizes = ranges.map((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return to - from + 1
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Key by key; the node that gives learns of it from the other one at times, and takes no command about it then. */
async function giveLast(slot: number, cluster: RedisCluster): Promise<void> {
  const [to = 0, from = 0] = cluster.ports
  await cluster.beginMove(slot, from, to)
  while ((await cluster.moveKeys(slot, from, to, 1)) > 0);
  await cluster.finishMove(slot, from, to).catch(() => undefined)
  await until('the node is a replica', async () => {
    const link = (await askFields(from, 'INFO', 'replication')).get('master_link_status')
    return link === 'up' && (await replicasOf(to)).length === 1
  })
}

/** Those that the node itself knows of: to them it sends on what is published. */
async function replicasOf(port: number): Promise<string[]> {
  const nodes = String(await ask(port, 'CLUSTER', 'NODES')).split('\n')
  return nodes.filter((line) => line.split(' ')[2] === 'slave')
}

const ways = (await waysToOpen('clusters')).filter(([name]) => !name.includes(' '))

test.each(ways)(
  'with %s, no job has two workers when the node that had its slot becomes a replica',
  async (_, open) => {
    const { cluster, name, slot, connect } = await setup(open)
    const began: number[] = []
    for (let n = 0; n < WORKERS; n++) {
      const worker = (await connect()).queue(name).work((job) => void began.push(job.payload as number))
      onTestFinished(() => worker.close())
    }
    const queue = (await connect()).queue(name)
    await until('all wait', async () => (await queue.inspect()).idle === WORKERS)

    await giveLast(slot, cluster)
    for (let n = 0; n < JOBS; n++) {
      await queue.enqueue('n', n)
      await sleep(10)
    }

    await until('all jobs are done', async () => (await queue.inspect()).acked === JOBS, 60_000)
    expect(began.filter((n, at) => began.indexOf(n) !== at)).toEqual([])
    expect(new Set(began).size).toBe(JOBS)
  },
)
