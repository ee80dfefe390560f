// Processes that use different partition counts for one queue, and clear it, in every order of their calls: an
// acknowledged job can be claimed, unless it was cleared.

import { randomUUID } from 'node:crypto'
import type { GeneratorValue } from 'fast-check'
import * as fc from 'fast-check'
import { Redis } from 'ioredis'
import { type Driver, InvalidArgumentError, type PartitionedQueue, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { countOf } from '../proof.ts'

const NAMESPACE = 'partition-number'
const NUMBERS = [2, 3]
const RUNS = countOf(5000, 120)

let client: Redis
beforeAll(() => {
  client = new Redis(inject('redisPort'))
})
afterAll(() => client.disconnect())

/** Lets one call at a time through, and chooses which. */
class Turns {
  readonly #gen: GeneratorValue
  readonly #waiting: (() => void)[] = []
  #underWay = 0
  step = 0

  constructor(gen: GeneratorValue) {
    this.#gen = gen
  }

  driver(): Driver {
    const driver = ioredis(client)
    const run = driver.run.bind(driver)
    driver.run = async (call) => {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      try {
        return await run(call)
      } finally {
        this.#underWay -= 1
      }
    }
    return driver
  }

  async play(all: readonly Promise<unknown>[]): Promise<void> {
    let over = false
    void Promise.allSettled(all).then(() => (over = true))
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#underWay > 0 || this.#waiting.length === 0) continue
      const at = this.#gen(fc.nat, { max: this.#waiting.length - 1 })
      const [resume] = this.#waiting.splice(at, 1)
      this.step += 1
      this.#underWay += 1
      resume?.()
    }
  }
}

interface Enqueued {
  readonly payload: string
  readonly begun: number
}

/** The events: acknowledged jobs, and the ends of clears. */
class World {
  readonly name = randomUUID()
  readonly enqueued: Enqueued[] = []
  readonly cleared: number[] = []
  readonly #gen: GeneratorValue
  readonly #turns: Turns

  constructor(gen: GeneratorValue) {
    this.#gen = gen
    this.#turns = new Turns(gen)
  }

  async play(): Promise<void> {
    const processes = Array.from({ length: 1 + this.#upTo(2) }, () => this.#process())
    await this.#turns.play(processes)
  }

  async #process(): Promise<void> {
    const redis = perilune(this.#turns.driver(), { namespace: NAMESPACE, deadline: '1m' })
    const steps = Array.from({ length: 1 + this.#upTo(4) }, () => ({
      partitions: NUMBERS[this.#upTo(1)] as number,
      group: `g${this.#upTo(5)}`,
      clears: this.#upTo(3) === 0,
    }))
    const queues = new Map(NUMBERS.map((partitions) => [partitions, redis.queue(this.name, { partitions })]))
    for (const { partitions, group, clears } of steps) {
      const queue = queues.get(partitions) as PartitionedQueue
      const begun = this.#turns.step
      const payload = randomUUID()
      const done = clears ? queue.clear() : queue.enqueue('job', payload, { group })
      const refused = await done.then(
        () => false,
        (error: unknown) => {
          expect(error).toBeInstanceOf(InvalidArgumentError)
          return true
        },
      )
      if (refused) continue
      if (clears) this.cleared.push(this.#turns.step)
      else this.enqueued.push({ payload, begun })
    }
    await redis.close()
  }

  #upTo(most: number): number {
    return this.#gen(fc.nat, { max: most })
  }
}

/** How many jobs lie in all partitions that anybody may think of. */
async function stored(name: string): Promise<number> {
  const most = Array.from({ length: Math.max(...NUMBERS) }, (_, at) => at)
  const found = most.map((at) => client.zcard(`${NAMESPACE}:{queue:${name}:${at}}:grouped`))
  return (await Promise.all(found)).reduce((sum, each) => sum + each, 0)
}

async function claimable(name: string): Promise<unknown[]> {
  const number = await client.hget(`${NAMESPACE}:{queue:${name}}:meta`, 'partitions')
  if (number === null) return []
  const redis = perilune(ioredis(client), { namespace: NAMESPACE })
  const jobs = await redis.queue(name, { partitions: Number(number) }).claim({ limit: 100 })
  await redis.close()
  return jobs.map(({ payload }) => payload)
}

test('an acknowledged message can be claimed, unless it was cleared', async () => {
  const property = fc.asyncProperty(fc.gen(), async (gen) => {
    const world = new World(gen)
    await world.play()

    const hidden = await stored(world.name)
    const payloads = await claimable(world.name)
    expect(hidden).toBe(payloads.length)
    const lastClear = Math.max(-1, ...world.cleared)
    const safe = world.enqueued.filter(({ begun }) => begun >= lastClear)
    expect(payloads).toEqual(expect.arrayContaining(safe.map(({ payload }) => payload)))
    const known = new Set<unknown>(world.enqueued.map(({ payload }) => payload))
    expect(payloads.filter((payload) => !known.has(payload))).toEqual([])
  })
  await fc.assert(property, { numRuns: RUNS })
}, 600_000)
