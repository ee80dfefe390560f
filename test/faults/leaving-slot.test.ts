// A node whose slot is being moved takes a key that is not there for one that it has given away. A script that takes
// all out of a key and touches it again is refused there, in its middle. Those that may write more than one key
// therefore wait for the end of the move; all others never do such a thing.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { unitPrefix } from '../../src/runtime/values/keys.ts'
import { playVector } from '../../src/testing/vector-player.ts'
import { readContract, readVectors, STRUCTURES } from '../conformance/files.ts'
import { onCluster } from '../conformance/places.ts'
import { waysToOpen } from '../drivers/client.ts'
import { lineOf } from '../semaphore-fixture.ts'
import { startCluster } from '../servers/cluster.ts'
import { someOf, WIDE } from '../proof.ts'

const contracts = [readContract()] as const
const cluster = await startCluster()
const place = await onCluster(cluster.ports)
const nodes = await Promise.all(
  cluster.ports.map(async (port) => {
    const client = new Redis(port)
    return { client, id: String(await client.call('CLUSTER', 'MYID')) }
  }),
)
const ran = new Set<string>()

afterAll(async () => {
  for (const { client } of nodes) client.disconnect()
  await place.close()
  await cluster.stop()
})

/** Runs calls whose keys are all there while their slot is leaving, except calls that wait for the end of a move. */
function leaving(driver: Driver): Driver {
  const run: Driver['run'] = async (call) => {
    const { script, keys } = call
    if (script.name === 'testing/command' || (!script.reads && keys.length > 1)) return driver.run(call)
    const slot = slotOf(keys[0] ?? '')
    const port = await cluster.ownerOf(slot)
    const [owner, other] = [
      nodes[cluster.ports.indexOf(port)]!,
      nodes.find((_, at) => cluster.ports[at] !== port)!,
    ]
    if ((await owner.client.exists(...keys)) < keys.length) return driver.run(call)
    ran.add(script.name)
    await owner.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', other.id)
    try {
      return await driver.run(call)
    } finally {
      await owner.client.call('CLUSTER', 'SETSLOT', slot, 'STABLE')
    }
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    read: (calls: Parameters<Driver['read']>[0]) => driver.read(calls),
  })
}

describe.each(someOf(STRUCTURES, 3))('a %s in a slot that is leaving', (structure) => {
  const file = readVectors(structure)
  const here = { ...place, driver: leaving(place.driver), contracts }

  for (const vector of file.vectors) test(vector.it, () => playVector(here, file, vector))
})

test.runIf(WIDE)('vectors have been played in a slot that was leaving', () => {
  expect([...ran]).toEqual(expect.arrayContaining(['rate-limit/take', 'once/complete', 'collection/read']))
})

test.each(await waysToOpen('clusters'))(
  'with %s, a release that removes the last waiter from its line waits until the slot has moved',
  async (_, open) => {
    const { driver, close } = await open(cluster.ports)
    const redis = perilune(driver, { deadline: '15s' })
    onTestFinished(async () => {
      await redis.close()
      await close()
    })
    const semaphore = redis.semaphore(randomUUID(), { limit: 1 })
    const slot = slotOf(unitPrefix('perilune', 'semaphore', semaphore.name))
    const first = await semaphore.acquire()
    const waiting = semaphore.acquire({ wait: '15s' })
    await lineOf(semaphore, 1)
    const from = await cluster.ownerOf(slot)
    const to = cluster.ports.find((port) => port !== from)!

    await cluster.beginMove(slot, from, to)
    const releasing = first.release()
    await Promise.race([releasing, sleep(200)])
    await cluster.moveKeys(slot, from, to)
    await cluster.finishMove(slot, from, to)

    await releasing
    await (await waiting).release()
  },
)
