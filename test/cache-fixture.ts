// Shared by the tests of the cache: a cache of its own for each, on a clock that stands still.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { Cache, type CacheOptions } from 'perilune/cache'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import type { Driver } from '../src/driver.ts'
import { Runtime } from '../src/runtime/connection/runtime.ts'
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'
import { counting } from './counting-driver.ts'

const KEYS = ['a', 'b', 'c', 't']

export interface Process<Value> {
  readonly cache: Cache<Value>
  readonly runtime: Runtime
  /** Names of the scripts run so far. */
  readonly calls: string[]
}

export interface Setup<Value> extends Process<Value> {
  readonly client: Redis
  readonly name: string
  /** The keys `a`, `b`, `c`, the tag `t`, and the cache as a whole. */
  readonly clock: { advance(ms: number): Promise<void> }
  /** Another process with the same cache, as far as one process can be two. */
  another(options?: CacheOptions<Value>): Process<Value>
}

/** On a clock that stands still; with `clock: 'real'` on the server's. */
export async function setup<Value = unknown>(
  options: CacheOptions<Value> & { clock?: 'real' } = {},
): Promise<Setup<Value>> {
  const { clock: kind, ...given } = options
  const client = new Redis(inject('redisPort'))
  const plain = ioredis(client)
  const name = randomUUID()
  const runtimes: Runtime[] = []
  const onClock = (driver: Driver): Driver =>
    kind === 'real' ? driver : withTestClock(driver, contract.clock)
  const another = (own: CacheOptions<Value> = given): Process<Value> => {
    const calls: string[] = []
    const driver: Driver = counting(onClock(ioredis(client)), calls)
    const runtime = new Runtime(driver, 'cache-test', 5000)
    runtimes.push(runtime)
    return { cache: new Cache<Value>(runtime, name, own), runtime, calls }
  }
  let us = START_US
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    for (const key of KEYS) await setTestClock(plain, `cache-test:{cache:${name}:${key}}`, us)
    await setTestClock(plain, `cache-test:{cache:${name}}`, us)
    // A clock that is set by hours is learnt at the next answer only.
    for (const { clock } of runtimes) clock.forget()
  }
  onTestFinished(async () => {
    for (const runtime of runtimes) await runtime.close()
    await plain.close()
    client.disconnect()
  })
  if (kind !== 'real') await advance(0)
  return { ...another(), client, name, clock: { advance }, another }
}

/** A loader that counts its runs and can be held back. */
export interface Counted<Value> {
  readonly load: () => Promise<Value>
  readonly runs: () => number
}

export function counted<Value>(make: (run: number) => Value | Promise<Value>): Counted<Value> {
  let runs = 0
  return {
    load: async () => make((runs += 1)),
    runs: () => runs,
  }
}
