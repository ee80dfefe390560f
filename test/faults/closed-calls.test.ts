// Every call of every structure on an instance that is closed: it ends at once, and nothing is sent.

import { Redis } from 'ioredis'
import { type Driver, PeriluneError } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { placeOn } from './uses/place.ts'
import { allUses } from './uses/use.ts'

/** The driver, which notes all that it is asked for. */
function noting(driver: Driver, asked: string[]): Driver {
  const noted = <Method extends keyof Driver>(method: Method): Driver[Method] => {
    const call = (...args: unknown[]): unknown => {
      asked.push(method)
      return (driver[method] as (...given: unknown[]) => unknown).apply(driver, args)
    }
    return call as Driver[Method]
  }
  const methods = ['run', 'runMany', 'read', 'write', 'load', 'subscribe', 'info', 'wait'] as const
  const own = Object.fromEntries(methods.map((method) => [method, noted(method)]))
  const rest = { close: () => driver.close(), healthy: () => driver.healthy() }
  return Object.assign(Object.create(driver) as Driver, own, rest)
}

test.each(await allUses())('calls of the $structure are rejected at once', async ({ steps }) => {
  const port = inject('redisPort')
  const client = new Redis(port)
  onTestFinished(() => client.disconnect())
  const asked: string[] = []
  const place = await placeOn({ port, driver: noting(ioredis(client), asked), namespace: 'closed' })
  const all = steps(place)

  await place.redis.close()
  asked.length = 0
  const codes = new Set<unknown>()
  for (const [, , run] of all) codes.add(await codeOf(async () => run()))

  expect(asked).toEqual([])
  // A step may be about something that an earlier one would have made: then it has nothing to ask for.
  expect([...codes].filter((code) => code !== undefined && code !== 'invalid-argument')).toEqual(['closed'])
})

async function codeOf(step: () => Promise<unknown>): Promise<unknown> {
  return step().then(
    () => undefined,
    (error: unknown) => (error instanceof PeriluneError ? error.code : undefined),
  )
}
