// What the tests of held leases share: a lease of each kind, a holder whose calls can be rejected, cut off, or left
// without their answers, and another caller that wants the same.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import {
  type Attempt,
  type Driver,
  type Duration,
  type Lease,
  type OnceOptions,
  type Perilune,
  perilune,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { onTestFinished } from 'vitest'
import { ConnectionLostError } from '../src/driver.ts'
import { type Proxy, startProxy } from './servers/proxy.ts'
import { startRedis } from './servers/redis.ts'

export interface Terms {
  lease: Duration
  maxHold?: Duration
}

/** A kind of lease, and how it is acquired. */
export interface Kind {
  take(redis: Perilune, name: string, terms: Terms): Promise<Lease>
  /** By another caller, which excludes the holder. */
  takeOver(redis: Perilune, name: string, wait?: Duration): Promise<Lease>
  clear(redis: Perilune, name: string): Promise<boolean>
}

export const KINDS: Readonly<Record<string, Kind>> = {
  'a lock': {
    take: (redis, name, terms) => redis.lock(name, terms).acquire(),
    takeOver: (redis, name, wait = '20s') => redis.lock(name).acquire({ wait }),
    clear: (redis, name) => redis.lock(name).clear(),
  },
  "a reader's lease": {
    take: (redis, name, terms) => redis.lock(name, terms).shared.acquire(),
    takeOver: (redis, name, wait = '20s') => redis.lock(name).acquire({ wait }),
    clear: (redis, name) => redis.lock(name).clear(),
  },
  'a permit': {
    take: (redis, name, terms) => redis.semaphore(name, { limit: 1, ...terms }).acquire(),
    takeOver: (redis, name, wait = '20s') => redis.semaphore(name, { limit: 1 }).acquire({ wait }),
    clear: (redis, name) => redis.semaphore(name, { limit: 1 }).clear(),
  },
  'a set of locks': {
    take: (redis, name, terms) => redis.locks([`${name}:a`, `${name}:b`], terms).acquire(),
    takeOver: (redis, name, wait = '20s') => redis.lock(`${name}:b`).acquire({ wait }),
    clear: (redis, name) => redis.lock(`${name}:b`).clear(),
  },
  'an attempt of once': {
    take: (redis, name, terms) => begin(redis, name, terms),
    takeOver: (redis, name) => begin(redis, name, {}),
    clear: (redis, name) => redis.once(name).clear('key'),
  },
}

/** Tries again and again. */
export async function begin(
  redis: Perilune,
  name: string,
  options: OnceOptions<unknown>,
): Promise<Attempt<unknown>> {
  const once = redis.once(name, options)
  for (;;) {
    const begun = await once.begin('key')
    if (begun.status === 'started') return begun.attempt
    await sleep(5)
  }
}

export interface Scene {
  readonly name: string
  /** The holder's. */
  readonly redis: Perilune
  /** Another instance, on the same server. */
  readonly other: Perilune
  readonly admin: Redis
  /** Between the holder and the server. */
  readonly proxy: Proxy
  /** From now on the server carries out what the holder asks for, and its answers are lost; or not any more. */
  loseAnswers(lost: boolean): void
  /** The server carries out the next script of the holder, and its answer is lost; no other one is. */
  loseNextAnswer(): void
  /** From now on the server refuses scripts of the holder, for certain; or not any more. */
  forbid(forbidden: boolean): Promise<void>
}

/** On a server of its own, with a deadline of a second for the holder. */
export async function scene(): Promise<Scene> {
  const server = await startRedis()
  const proxy = await startProxy(server.port)
  const admin = new Redis(server.port)
  await admin.call('ACL', 'SETUSER', 'holder', 'on', '>secret', '~*', '&*', '+@all')
  const client = new Redis({
    port: proxy.port,
    username: 'holder',
    password: 'secret',
    retryStrategy: () => 20,
  })
  client.on('error', () => undefined)
  const answers: Answers = { lost: false }
  const redis = perilune(losing(ioredis(client), answers), { namespace: 'leases', deadline: '1s' })
  const other = perilune(ioredis(admin), { namespace: 'leases' })
  onTestFinished(async () => {
    await Promise.all([redis.close(), other.close()])
    for (const each of [client, admin]) each.disconnect()
    await proxy.stop()
    await server.stop()
  })
  await Promise.all([other.preload(), client.ping()])
  const forbid = async (forbidden: boolean): Promise<void> => {
    await admin.call('ACL', 'SETUSER', 'holder', `${forbidden ? '-' : '+'}@scripting`)
  }
  return {
    name: randomUUID(),
    redis,
    other,
    admin,
    proxy,
    loseAnswers: (lost) => (answers.lost = lost),
    loseNextAnswer: () => (answers.lost = 'next'),
    forbid,
  }
}

interface Answers {
  lost: boolean | 'next'
}

function losing(driver: Driver, answers: Answers): Driver {
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    const reply = await run(call)
    if (answers.lost === false) return reply
    if (answers.lost === 'next') answers.lost = false
    throw new ConnectionLostError('the answer was cut off', true)
  }
  return driver
}

/** Resolves once the lease has been extended by itself so often. Rejects when it is lost. */
export async function extendedByItself(lease: Lease, times = 2): Promise<void> {
  for (let n = 0; n < times; n++) {
    const { expiresAtMs } = lease
    while (lease.expiresAtMs <= expiresAtMs) {
      lease.signal.throwIfAborted()
      await sleep(5)
    }
  }
}

/** Resolves to the reason for which its signal aborts. */
export function lossOf({ signal }: Lease): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
}
