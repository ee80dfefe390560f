// Every structure under steady load, including all data that it has to expire: its memory in Redis stays constant. The
// short form only checks that each load runs without failures; PERILUNE_LONG=1 takes half an hour and judges memory.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Driver, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { START_US, setTestClock, withTestClock } from '../../src/testing/test-clock.ts'
import { LONG, tell } from '../proof.ts'
import { askFields } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { feedLoads, type Load, openTable, otherLoads, queueLoads, spreadLoad } from './steady-load.ts'

const NAMESPACE = 'steady'
const MINUTES = LONG ? 30 : 0.1
/** Calls are remembered for ten minutes, and what is dropped by chance needs some more. */
const FULL_AFTER_MINUTES = 15
const PAUSE_MS = 20
/** How much faster the time of the queue goes: a day takes 10 minutes. */
const QUEUE_SPEED = 144
/** Each caller starts, calls a few times, and ends: the records of its calls must expire. */
const CALLER_LIVES_MS = 2000

test('memory stays constant', { timeout: MINUTES * 60_000 + 60_000 }, async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const loads = new Loads(server.port)
  const curve: number[] = []

  const endsAt = performance.now() + MINUTES * 60_000
  while (performance.now() < endsAt) {
    await loads.run(LONG ? 60_000 : 2000)
    curve.push(await bytesOf(server.port))
  }

  for (const [what, steps] of loads.steps) expect(steps, what).toBeGreaterThan(LONG ? 10_000 : 5)
  expect([...loads.errors]).toEqual([])
  if (!LONG) return
  tell(
    `memory of Redis after each minute, in KiB: ${curve.map((bytes) => Math.round(bytes / 1024)).join(' ')}`,
  )
  tell(`steps: ${[...loads.steps].map(([what, steps]) => `${what} ${steps}`).join(', ')}`)
  const middle = median(curve.slice(FULL_AFTER_MINUTES, FULL_AFTER_MINUTES + 5))
  const last = median(curve.slice(-5))
  tell(`minutes 16 to 20: ${Math.round(middle / 1024)} KiB, last five: ${Math.round(last / 1024)} KiB`)
  expect(last / middle).toBeLessThan(1.05)
})

/** All loads, by callers that live for a moment. */
class Loads {
  /** How often each was called. */
  readonly steps = new Map<string, number>()
  readonly errors = new Set<string>()
  readonly #port: number
  readonly #table = openTable()
  #queueUs = START_US

  constructor(port: number) {
    this.#port = port
  }

  async run(forMs: number): Promise<void> {
    const endsAt = performance.now() + forMs
    while (performance.now() < endsAt) await this.#oneLife(Math.min(CALLER_LIVES_MS, forMs))
  }

  async #oneLife(forMs: number): Promise<void> {
    const client = new Redis(this.#port)
    const driver = ioredis(client)
    const redis = perilune(driver, { namespace: NAMESPACE })
    const onClock = perilune(withTestClock(driver, contract.clock), { namespace: NAMESPACE })
    const loads = [...feedLoads(redis), ...otherLoads(redis, this.#table), spreadLoad(redis)]
    const endsAt = performance.now() + forMs
    const goOn = (): boolean => performance.now() < endsAt
    await Promise.all([
      ...loads.map((load) => this.#repeat(load, goOn)),
      ...queueLoads(onClock).map((load) => this.#repeat(load, goOn)),
      this.#moveClock(driver, goOn),
    ])
    await redis.close()
    await onClock.close()
    client.disconnect()
  }

  async #repeat({ what, step }: Load, goOn: () => boolean): Promise<void> {
    while (goOn()) {
      const at = this.steps.get(what) ?? 0
      this.steps.set(what, at + 1)
      await step(at).catch((error: unknown) => this.errors.add(`${what}: ${String(error)}`))
      await sleep(PAUSE_MS)
    }
  }

  async #moveClock(driver: Driver, goOn: () => boolean): Promise<void> {
    for (; goOn(); await sleep(PAUSE_MS)) {
      this.#queueUs += PAUSE_MS * QUEUE_SPEED * 1000
      await setTestClock(driver, `${NAMESPACE}:{queue:mails}`, this.#queueUs)
    }
  }
}

async function bytesOf(port: number): Promise<number> {
  const memory = await askFields(port, 'INFO', 'memory')
  return Number(memory.get('used_memory')) - Number(memory.get('mem_clients_normal'))
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
