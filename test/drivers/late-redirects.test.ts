// A call whose slot has moved is not sent after its end, however long the client needs to reach the new node. A call that
// only a stall of this process has delayed is sent.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { callOf, scriptOf, untilAnswered } from '../../src/testing/driver-calls.ts'
import type { Driver } from '../../src/driver.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { announce } from './announced.ts'
import { type OpenCluster, waysToOpen } from './client.ts'

const COUNT = scriptOf("return redis.call('INCR', KEYS[1])")
const LOOK = scriptOf("return redis.call('GET', KEYS[1])")
const KEY = 'moved'

const WAYS = await waysToOpen('clusters')

test.each(WAYS)('%s: the node is new, and stands still', { timeout: 60_000 }, async (_, open) => {
  const cluster = await clusterOf(2)
  const driver = await openAt(cluster.ports, open)
  const slot = await cluster.slotOf(KEY)
  const owner = await cluster.ownerOf(slot)
  const next = await cluster.addMaster()
  await cluster.moveSlot(slot, owner, next.port)

  process.kill(next.pid, 'SIGSTOP')
  const by = performance.now() + 300
  const run = driver.run({ ...callOf(COUNT, [KEY]), by }).catch(() => null)
  await sleep(2500)
  process.kill(next.pid, 'SIGCONT')
  await run

  expect(await untilAnswered(driver, callOf(LOOK, [KEY]))).toBe(null)
})

test.each(WAYS)(
  '%s: the way to a known node is lost before MOVED comes',
  { timeout: 60_000 },
  async (_, open) => {
    const cluster = await clusterOf(2)
    const proxies = await Promise.all(cluster.ports.map((port) => startProxy(port)))
    onTestFinished(async () => void (await Promise.all(proxies.map((each) => each.stop()))))
    await announce(cluster.ports, proxies)
    const driver = await openAt(
      proxies.map(({ port }) => port),
      open,
    )
    const slot = await cluster.slotOf(KEY)
    const owner = await cluster.ownerOf(slot)
    const [from, to] = proxies[0]?.port === owner ? [0, 1] : [1, 0]
    await cluster.moveSlot(slot, cluster.ports[from] as number, cluster.ports[to] as number)
    const [slow, lost] = [proxies[from] as Proxy, proxies[to] as Proxy]

    slow.delay(150)
    const by = performance.now() + 300
    const run = driver.run({ ...callOf(COUNT, [KEY]), by }).catch(() => null)
    await sleep(100)
    lost.halfOpen()
    lost.resetAll()
    await sleep(3000)
    slow.delay(0)
    lost.heal()
    lost.resetAll()
    await run

    await untilAnswered(driver, callOf(LOOK, [KEY]))
    await sleep(300)
    expect(await driver.run(callOf(LOOK, [KEY]))).toBe(null)
  },
)

test.each(WAYS)('%s: this process stands still', { timeout: 60_000 }, async (_, open) => {
  const { ports } = await clusterOf(2)
  const driver = await openAt(ports, open)

  const run = driver.run({ ...callOf(COUNT, [KEY]), by: performance.now() + 300 })
  const until = performance.now() + 1500
  while (performance.now() < until);

  expect(await run).toBe(1)
})

async function clusterOf(masters: number): Promise<RedisCluster> {
  const cluster = await startCluster({ masters })
  onTestFinished(() => cluster.stop())
  return cluster
}

async function openAt(ports: readonly number[], open: OpenCluster): Promise<Driver> {
  const { driver, close } = await open(ports)
  onTestFinished(() => close())
  await untilAnswered(driver, callOf(LOOK, [KEY]))
  return driver
}
