// Shared by the tests of the queue: a queue of its own for each, by default on a clock that stands still.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Duration, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import type { Queue } from '../src/queue/queue.ts'
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'
import { counting } from './counting-driver.ts'

export interface Payloads {
  mail: { to: string }
  image: { url: string }
}

export interface Setup {
  queue: Queue<Payloads>
  redis: Perilune
  client: Redis
  name: string
  /** The scripts that were called through `redis` so far. */
  calls: readonly string[]
  clock: { advance(ms: number): Promise<void> }
  /** Another queue, on the same clock. */
  another(): Promise<Queue<Payloads>>
}

const NAMESPACE = 'queue-test'

interface Place {
  clock?: 'real'
  port?: number
  deadline?: Duration
}

export async function setup({ clock: kind, port, deadline = '5s' }: Place = {}): Promise<Setup> {
  const client = new Redis(port ?? inject('redisPort'))
  // Faults report their own connection errors.
  client.on('error', () => undefined)
  const calls: string[] = []
  const plain = counting(ioredis(client), calls)
  const redis = perilune(kind === 'real' ? plain : withTestClock(plain, contract.clock), {
    namespace: NAMESPACE,
    deadline,
  })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  let us = START_US
  const names = [name]
  const move = async (): Promise<void> => {
    for (const each of names) await setTestClock(plain, `${NAMESPACE}:{queue:${each}}`, us)
  }
  if (kind !== 'real') await move()
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await move()
  }
  const another = async (): Promise<Queue<Payloads>> => {
    names.push(randomUUID())
    if (kind !== 'real') await move()
    return redis.queue<Payloads>(names.at(-1) as string)
  }
  return { queue: redis.queue<Payloads>(name), redis, client, name, calls, clock: { advance }, another }
}

/** Resolves once the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** Resolves once nothing was called for longer than a worker that does not hear waits until it looks again. */
export async function untilQuiet(calls: readonly string[]): Promise<void> {
  for (let seen = -1; seen !== calls.length; ) {
    seen = calls.length
    await new Promise((resolve) => setTimeout(resolve, 600))
  }
}
