// Planned failovers, which lose no acknowledged write, while callers compete: no two of them hold the same thing,
// tokens rise, and nothing stays free while there is a waiter. PERILUNE_LONG=1 makes 204 of them.

import { expect, onTestFinished, test } from 'vitest'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'
import { wayToOpen } from '../drivers/client.ts'
import { LONG, someOf, tell } from '../proof.ts'
import { ask, askFields, until } from '../servers/ask.ts'
import { startCluster } from '../servers/cluster.ts'
import { startOneAddress } from '../servers/one-address.ts'
import type { RedisServer } from '../servers/redis.ts'
import { startSentinels } from '../servers/sentinels.ts'
import { Crowd } from './crowd.ts'
import { orSayWhy, Watched } from './standing.ts'

const FAILOVERS = LONG ? 34 : 1

interface Scene {
  readonly ports: readonly number[]
  open(): Promise<OpenedDriver>
  switchover(): Promise<void>
  stop(): Promise<void>
}
type Arrange = (client: string) => Promise<Scene>

const oneAddress: Arrange = async (client) => {
  const open = await wayToOpen('singles', client)
  const pair = await startOneAddress()
  return {
    ports: [pair.proxy.port],
    open: () => open(pair.proxy.port),
    switchover: async () => {
      await pair.switchover()
      pair.follow()
    },
    stop: () => pair.stop(),
  }
}

const cluster: Arrange = async (client) => {
  const open = await wayToOpen('clusters', client)
  const nodes = await startCluster({ masters: 2, replicasPerMaster: 1 })
  let slot = 0
  return {
    ports: nodes.ports,
    open: () => open(nodes.ports),
    switchover: () => {
      slot = 16_383 - slot
      return nodes.switchover(slot)
    },
    stop: () => nodes.stop(),
  }
}

/** As one who plans it does it: writes wait at the old primary, for what it took after the promotion would be lost. */
const sentinel: Arrange = async (client) => {
  const open = await wayToOpen('sentinels', client)
  const group = await startSentinels({ replicas: 1 })
  return {
    ports: [group.primary, ...group.replicas, ...group.sentinels].map(({ port }) => port),
    open: () => open(group.sentinelPorts, group.masterName),
    switchover: async () => {
      const old = group.primary
      await until('the replica follows', async () => (await replicasOf(old)) === 1)
      await ask(old.port, 'CLIENT', 'PAUSE', 60_000, 'WRITE')
      await until('the replica has all', () => isCopied(old))
      await group.switchover()
      // Sentinel itself does it later; a client that is slow is refused from here on, rather than served.
      await ask(old.port, 'REPLICAOF', '127.0.0.1', group.primary.port)
      await ask(old.port, 'CLIENT', 'UNPAUSE')
    },
    stop: () => group.stop(),
  }
}

async function replicasOf({ port }: RedisServer): Promise<number> {
  return Number((await askFields(port, 'INFO', 'replication')).get('connected_slaves'))
}

/** A line of a replica: `slave0:ip=…,port=…,state=online,offset=42,lag=0`. */
async function isCopied({ port }: RedisServer): Promise<boolean> {
  const fields = await askFields(port, 'INFO', 'replication')
  return fields.get('slave0')?.includes(`offset=${fields.get('master_repl_offset')},`) === true
}

const scenes: [string, string, Arrange][] = [
  ['a cluster', 'ioredis', cluster],
  ['a cluster', 'node-redis', cluster],
  ['one address', 'ioredis', oneAddress],
  ['one address', 'node-redis', oneAddress],
  // The usual one learns of a failover when the old primary is made a replica, some ten seconds later.
  ['Sentinel', 'ioredis that listens to the Sentinels', sentinel],
  ['Sentinel', 'node-redis', sentinel],
]

test.each(someOf(scenes, 2))(
  '%s, %s: nothing has two holders, and nothing stays free while there is a waiter',
  {
    timeout: 60_000 + FAILOVERS * 40_000,
  },
  async (where, client, arrange) => {
    const scene = await arrange(client)
    onTestFinished(() => scene.stop())
    const opened = await Promise.all([1, 2, 3].map(() => scene.open()))
    onTestFinished(async () => void (await Promise.all(opened.map((each) => each.close()))))
    const watched = opened.map(({ driver }) => new Watched(driver))
    const crowd = new Crowd(watched.map(({ driver }) => driver))
    const goesOn = (more: number): Promise<void> => orSayWhy(() => crowd.goesOn(more), watched, scene.ports)

    crowd.begin()
    await goesOn(5)
    for (let at = 0; at < FAILOVERS; at++) {
      await crowd.during(() => scene.switchover())
      await goesOn(10)
    }
    await crowd.end()

    const { lock, permits, office, jobs, pauses, errors } = crowd
    const had = `${lock.entered} locks, ${permits.entered} permits, ${office.entered} terms, ${jobs} jobs`
    const faults = `${crowd.problems.length} problems, errors ${JSON.stringify([...errors])}`
    tell(
      `${where}, ${client}: ${FAILOVERS} planned failovers, ${had}; next one in after ${pauses} ms; ${faults}`,
    )
    expect(crowd.problems).toEqual([])
  },
)
