import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { Runtime } from '../runtime/connection/runtime.ts'
import { kindOf } from './lease-kind.ts'
import { Once } from './once.ts'

function setup(): { runtime: Runtime; once: Once<unknown>; calls: string[] } {
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const driver = ioredis(client)
  const run = driver.run.bind(driver)
  driver.run = (call) => {
    if (call.send === 'hash') calls.push(call.script.name)
    return run(call)
  }
  const runtime = new Runtime(driver, 'once-test', 5000)
  onTestFinished(async () => {
    await runtime.close()
    client.disconnect()
  })
  return { runtime, once: new Once(runtime, randomUUID(), { lease: '1s' }), calls }
}

async function begin(once: Once<unknown>, key: string): Promise<{ beginning: string; token: number }> {
  const begun = await once.begin(key)
  if (begun.status !== 'started') throw new Error(`it was ${begun.status}`)
  return { beginning: `once-test:{once:${once.name}:${key}}:`, token: begun.attempt.token }
}

test('several attempts are extended in one call, and a lost one among them is reported', async () => {
  const { runtime, once } = setup()
  const held = await begin(once, 'x')
  const gone = await begin(once, 'y')
  const last = await begin(once, 'z')
  await once.clear('y')

  const { nowMs, endsAtMs } = await kindOf(runtime).extend(
    [held, gone, last].map((each) => ({ ...each, leaseMs: 60_000 })),
  )

  expect(endsAtMs).toEqual([nowMs + 60_000, 0, nowMs + 60_000])
})

test('the attempts of a process are extended together while it lives', async () => {
  const { once, calls } = setup()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await begin(once, key)
  await expect.poll(() => calls.filter((name) => name === 'once/extend').length).toBeGreaterThanOrEqual(4)

  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) expect((await once.inspect(key)).state).toBe('running')
  expect(calls.filter((name) => name === 'once/extend').length).toBeLessThan(18)
})
