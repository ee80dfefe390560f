// A call whose slot has moved is not sent after its end, however long the client needs to connect to the new node.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { callOf, scriptOf, untilAnswered } from '../../src/testing/driver-calls.ts'
import { startCluster } from '../servers/cluster.ts'
import { waysToOpen } from './client.ts'

const COUNT = scriptOf("return redis.call('INCR', KEYS[1])")
const LOOK = scriptOf("return redis.call('GET', KEYS[1])")
const KEY = 'moved'

test.each(await waysToOpen('clusters'))('%s', { timeout: 60_000 }, async (_, open) => {
  const cluster = await startCluster({ masters: 2 })
  const { driver, close } = await open(cluster.ports)
  onTestFinished(async () => {
    await close()
    await cluster.stop()
  })
  await untilAnswered(driver, callOf(LOOK, [KEY]))
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

  await untilAnswered(driver, callOf(LOOK, [KEY]))
  expect(await driver.run(callOf(LOOK, [KEY]))).toBe(null)
})
