// Another server becomes the primary, and the connections to the old one stay open: refusals are all that clients get
// there.

import { randomUUID } from 'node:crypto'
import { perilune } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { callOf, failureOf, untilAnswered, WRITE } from '../../src/testing/driver-calls.ts'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'
import { ask, until } from '../servers/ask.ts'
import { startCluster } from '../servers/cluster.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { type Sentinels, startSentinels } from '../servers/sentinels.ts'
import { HOST, waysToOpen } from './client.ts'
import { startRelay } from './relay.ts'

const [sentinels, singles] = await Promise.all([waysToOpen('sentinels'), waysToOpen('singles')])

/** Opens all of them; each has written once. */
async function openAll(opens: readonly (() => Promise<OpenedDriver>)[]): Promise<OpenedDriver[]> {
  const all = await Promise.all(opens.map((open) => open()))
  onTestFinished(async () => {
    await Promise.all(all.map((opened) => opened.close()))
  })
  for (const { driver } of all) await driver.run(callOf(WRITE, [randomUUID()], ['before']))
  return all
}

/** The values that the server at this port has of each driver's writes. */
async function writeAll(all: readonly OpenedDriver[], port: number): Promise<unknown[]> {
  const keys = all.map(() => randomUUID())
  await Promise.all(
    all.map(({ driver }, at) => untilAnswered(driver, callOf(WRITE, [keys[at] ?? ''], ['after']))),
  )
  return Promise.all(keys.map((key) => ask(port, 'GET', key)))
}

/** Resolves to the port of the new primary. The old one continues: Sentinel may not make it a replica. */
async function failOver({ primary, sentinelPorts, masterName }: Sentinels): Promise<number> {
  await ask(primary.port, 'ACL', 'SETUSER', 'default', '-replicaof', '-slaveof')
  const named = async (port: number): Promise<number> => {
    const address = await ask(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)
    return Array.isArray(address) ? Number(address[1]) : 0
  }
  const [first = 0] = sentinelPorts
  await until('a sentinel begins the failover', async () => {
    await ask(first, 'SENTINEL', 'FAILOVER', masterName)
    return true
  })
  await until('all sentinels name a new primary', async () => {
    const ports = await Promise.all(sentinelPorts.map(named))
    return ports.every((port) => port === ports[0] && port !== primary.port)
  })
  return named(first)
}

test.each([
  ['has lost its replicas', 'NOREPLICAS', ['CONFIG', 'SET', 'min-replicas-to-write', '9']],
  ['is a replica', 'READONLY', ['REPLICAOF', HOST, '1']],
])('behind Sentinel, clients of an old primary that %s find the new one (%s)', async (_, __, refuse) => {
  const group = await startSentinels({ replicas: 2 })
  onTestFinished(() => group.stop())
  const old = group.primary
  const all = await openAll(
    sentinels.map(
      ([, open]) =>
        () =>
          open(group.sentinelPorts, group.masterName),
    ),
  )

  const port = await failOver(group)
  await ask(old.port, 'ACL', 'SETUSER', 'default', '+@all')
  const [command = '', ...args] = refuse
  await ask(old.port, command, ...args)
  await ask(old.port, 'ACL', 'SETUSER', 'default', '-replicaof', '-slaveof')

  expect(await writeAll(all, port)).toEqual(all.map(() => 'after'))
})

test('a call to a replica without a primary at its address is rejected as read-only', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const all = await openAll(
    singles.map(
      ([, open]) =>
        () =>
          open(server.port),
    ),
  )
  await ask(server.port, 'REPLICAOF', HOST, '1')

  const codes = await Promise.all(
    all.map(async ({ driver }) => {
      const redis = perilune(driver, { deadline: '1s' })
      const code = async () => Reflect.get(Object(await failureOf(redis.lock('l').tryAcquire())), 'code')
      // A call repeats what was refused; the deadline that falls into such a repetition leaves it in doubt.
      const first = await code()
      return first === 'ambiguous' ? code() : first
    }),
  )

  expect(codes).toEqual(all.map(() => 'store-read-only'))
})

test('behind one address, clients of an old primary that is now a replica reconnect', async () => {
  const [old, next] = await Promise.all([startRedis(), startRedis()])
  const relay = await startRelay(old.port)
  onTestFinished(async () => {
    relay.stop()
    await Promise.all([old.stop(), next.stop()])
  })
  const all = await openAll(
    singles.map(
      ([, open]) =>
        () =>
          open(relay.port),
    ),
  )

  relay.target = next.port
  await ask(old.port, 'REPLICAOF', HOST, next.port)

  expect(await writeAll(all, next.port)).toEqual(all.map(() => 'after'))
})

test('behind one address, clients of a primary of a cluster that is now a replica reconnect', async () => {
  const cluster = await startCluster({ masters: 1, replicasPerMaster: 1 })
  const proxy = await startProxy(cluster.ports[0] ?? 0)
  onTestFinished(async () => {
    await proxy.stop()
    await cluster.stop()
  })
  const all = await openAll(
    singles.map(
      ([, open]) =>
        () =>
          open(proxy.port),
    ),
  )

  await cluster.switchover(0)
  const next = await cluster.ownerOf(0)
  proxy.leadTo(next)

  expect(await writeAll(all, next)).toEqual(all.map(() => 'after'))
})

test('plain clients of a primary of a cluster keep their connection when a call is for another primary', async () => {
  const cluster = await startCluster({ masters: 3 })
  const proxy = await startProxy(cluster.ports[0] ?? 0)
  onTestFinished(async () => {
    await proxy.stop()
    await cluster.stop()
  })
  const keys = Array.from({ length: 100 }, (_, at) => `key ${at}`)
  const [own = '', foreign = ''] = [0, 2].map((third) =>
    keys.find((key) => Math.floor((slotOf(key) * 3) / 16_384) === third),
  )
  const all = await Promise.all(singles.map(([, open]) => open(proxy.port)))
  onTestFinished(async () => {
    await Promise.all(all.map((opened) => opened.close()))
  })
  for (const { driver } of all) await driver.run(callOf(WRITE, [own], ['before']))
  const before = proxy.connections

  for (const { driver } of all) {
    expect(await failureOf(driver.run(callOf(WRITE, [foreign], ['astray'])))).toMatchObject({ word: 'MOVED' })
    // Behind the answer about its role.
    for (let call = 0; call < 20; call += 1) await driver.run(callOf(WRITE, [own], ['after']))
  }

  expect(proxy.connections).toBe(before)
})
