// Shared by the tests of the lock: a lock of its own for each, and a way to delay sent commands.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type Lock, type LockOptions, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'

export interface Setup {
  lock: Lock
  redis: Perilune
  client: Redis
  name: string
  /** Names of the scripts run so far. */
  calls: string[]
  /** Makes calls of this operation wait on this side until the function it resolves to is called. */
  holdBack(operation: string): () => void
  clock: { advance(ms: number): Promise<void> }
}

interface Options extends LockOptions {
  /** The server's own clock instead of one that stands still. */
  clock?: 'real'
  port?: number
  /** Another instance on the lock of this name. */
  name?: string
}

export async function setup(options: Options = {}): Promise<Setup> {
  const { clock: kind, port = inject('redisPort'), name = randomUUID(), ...lockOptions } = options
  const client = new Redis(port, { retryStrategy: () => 20 })
  client.on('error', () => undefined)
  const plain = ioredis(client)
  const gate = new Gate(kind === 'real' ? plain : withTestClock(plain, contract.clock))
  const redis = perilune(gate.driver, { namespace: 'lock-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  let us = START_US
  const move = (): Promise<void> => setTestClock(plain, `lock-test:{lock:${name}}`, us)
  if (kind !== 'real') await move()
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await move()
  }
  const { calls } = gate
  const lock = redis.lock(name, lockOptions)
  const holdBack = (operation: string): (() => void) => gate.holdBack(operation)
  return { lock, redis, client, name, calls, holdBack, clock: { advance } }
}

class Gate {
  readonly calls: string[] = []
  readonly driver: Driver
  readonly #held = new Map<string, Promise<void>>()

  constructor(driver: Driver) {
    this.driver = Object.assign(Object.create(driver) as Driver, {
      run: async (call: Parameters<Driver['run']>[0]) => {
        if (call.send === 'hash') this.calls.push(call.script.name)
        await this.#held.get(call.script.name)
        return driver.run(call)
      },
      info: () => driver.info(),
      close: () => driver.close(),
      healthy: () => driver.healthy(),
      load: (script: Parameters<Driver['load']>[0]) => driver.load(script),
      subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
    })
  }

  holdBack(operation: string): () => void {
    let open = (): void => undefined
    this.#held.set(operation, new Promise((resolve) => (open = resolve)))
    return () => {
      this.#held.delete(operation)
      open()
    }
  }
}
