// An instance of Perilune of its own for a test, on the real clock, closed when the test is over.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import { counting } from './counting-driver.ts'

export interface Instance {
  readonly redis: Perilune
  readonly client: Redis
  /** Names of the scripts run so far. */
  readonly calls: string[]
  /** The driver of the instance. */
  readonly driver: Driver
  /** From now on the answers of a script take so long. */
  slowly(script: string, ms: number): void
  /** Names nothing else in this server. */
  readonly name: string
}

export function instance(): Instance {
  const client = new Redis(inject('redisPort'))
  const calls: string[] = []
  const driver = counting(ioredis(client), calls)
  const slowly = (script: string, ms: number): void => {
    const run = driver.run.bind(driver)
    driver.run = async (call) => {
      const reply = await run(call)
      if (call.script.name === script) await new Promise((resolve) => setTimeout(resolve, ms))
      return reply
    }
  }
  const redis = perilune(driver, { namespace: 'instance-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, client, calls, driver, slowly, name: randomUUID() }
}
