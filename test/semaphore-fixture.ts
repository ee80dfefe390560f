// Shared by the tests of the semaphore: a semaphore of its own for each, by default on a clock that stands still.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune, type Semaphore, type SemaphoreOptions } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'
import { counting } from './counting-driver.ts'

export interface Setup {
  semaphore: Semaphore
  redis: Perilune
  client: Redis
  name: string
  /** Names of the scripts run so far. */
  calls: readonly string[]
  clock: { advance(ms: number): Promise<void> }
  /** Resolves once there are so many waiters in line. */
  waiting(count: number): Promise<void>
}

export interface SetupOptions extends SemaphoreOptions {
  clock?: 'real'
  port?: number
}

const NAMESPACE = 'semaphore-test'

export async function setup({ clock: kind, port, ...options }: SetupOptions): Promise<Setup> {
  const client = new Redis(port ?? inject('redisPort'))
  const calls: string[] = []
  const plain = counting(ioredis(client), calls)
  const redis = perilune(kind === 'real' ? plain : withTestClock(plain, contract.clock), {
    namespace: NAMESPACE,
  })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  let us = START_US
  const move = (): Promise<void> => setTestClock(plain, `${NAMESPACE}:{semaphore:${name}}`, us)
  if (kind !== 'real') await move()
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await move()
  }
  const semaphore = redis.semaphore(name, options)
  const waiting = (count: number): Promise<void> => lineOf(semaphore, count)
  return { semaphore, redis, client, name, calls, clock: { advance }, waiting }
}

/** Resolves once there are so many waiters in line. */
export async function lineOf(semaphore: Semaphore, count: number): Promise<void> {
  while ((await semaphore.inspect()).waiting !== count) await new Promise((resolve) => setTimeout(resolve, 2))
}
