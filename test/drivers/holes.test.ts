// A node may not know for a moment who has some of the slots: a client that asks it then must not be left without them.

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { callOf, failureOf, untilAnswered, WRITE } from '../../src/testing/driver-calls.ts'
import { ask, until } from '../servers/ask.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import type { RedisServer } from '../servers/redis.ts'
import { waysToOpen } from './client.ts'

const FIRST_OF_B = 8192

let cluster: RedisCluster
let a: RedisServer
let b: RedisServer

beforeAll(async () => {
  cluster = await startCluster({ masters: 2 })
  ;[a, b] = cluster.nodes as [RedisServer, RedisServer]
  // Else a node that lacks slots refuses all commands, and names no other node.
  for (const port of cluster.ports) await ask(port, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
})
afterAll(() => cluster.stop())

function keyFrom(fits: (slot: number) => boolean): string {
  for (;;) {
    const key = randomUUID()
    if (fits(slotOf(key))) return key
  }
}

/** While `use` runs, A knows no owner of the slots of B: B announces them about once a second, and is halted. */
async function whileANodeLacksSlots<T>(use: () => Promise<T>): Promise<T> {
  process.kill(b.pid, 'SIGSTOP')
  try {
    for (let at = 0; at < 5; at++) await ask(a.port, 'PING') // it has read what B had sent
    await ask(a.port, 'CLUSTER', 'DELSLOTSRANGE', FIRST_OF_B, 16_383)
    return await use()
  } finally {
    process.kill(b.pid, 'SIGCONT')
    await until('it knows again', async () => (await cluster.ownerOf(16_383)) === b.port)
  }
}

test.each(await waysToOpen('clusters'))(
  '%s: a client that asked a node without all slots reaches them later, and reports that it sent nothing until then',
  async (_, open) => {
    const known = keyFrom((slot) => slot < FIRST_OF_B)
    const unknown = keyFrom((slot) => slot >= FIRST_OF_B)

    const { driver, failure } = await whileANodeLacksSlots(async () => {
      const opened = await open([a.port])
      onTestFinished(() => opened.close())
      return {
        driver: opened.driver,
        failure: await failureOf(opened.driver.run(callOf(WRITE, [unknown], ['before']))),
      }
    })
    const answers = await Promise.all(
      [known, unknown].map((key) => untilAnswered(driver, callOf(WRITE, [key], ['after']))),
    )

    expect(answers).toEqual(['written', 'written'])
    expect(failure).not.toMatchObject({ sent: true })
  },
)

test.each((await waysToOpen('clusters')).filter(([name]) => name.includes('node-redis')))(
  '%s: a client that asked a node without any slots reports it, and asks again',
  async (_, open) => {
    const single = await startCluster({ masters: 1 })
    onTestFinished(() => single.stop())
    const [{ port }] = single.nodes as [RedisServer]
    await ask(port, 'CLUSTER', 'DELSLOTSRANGE', 0, 16_383)
    const { driver, close } = await open([port])
    onTestFinished(close)

    for (const asking of [driver.info(), driver.load(WRITE)])
      expect(await failureOf(asking)).toMatchObject({ name: 'ConnectionLostError', sent: false })
    await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)

    await until('it knows the nodes', () =>
      driver.info().then(
        () => true,
        () => false,
      ),
    )
  },
)
