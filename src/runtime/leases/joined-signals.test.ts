// What remains on a caller's signal, and what a lease's signal reports, for everything that runs a task under a lease.

import { randomUUID } from 'node:crypto'
import { getEventListeners } from 'node:events'
import { Redis } from 'ioredis'
import { type Lease, LeaseLostError, type Perilune, perilune, type Term } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'

type Task = (context: { readonly signal: AbortSignal }) => Promise<void> | void

function setup(): { redis: Perilune; name: string } {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'joined' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, name: randomUUID() }
}

/** Listeners, and signals that `AbortSignal.any` has made of it. */
function leftOn(signal: AbortSignal): number {
  const symbols = Object.getOwnPropertySymbols(signal)
  const dependants = symbols.filter(({ description }) => description === 'kDependantSignals')
  const sets = dependants.map((symbol) => Reflect.get(signal, symbol) as { size: number } | null)
  return sets.reduce((sum, set) => sum + (set?.size ?? 0), getEventListeners(signal, 'abort').length)
}

const RUNS: Readonly<
  Record<string, (redis: Perilune, name: string, task: Task, signal: AbortSignal) => Promise<void>>
> = {
  'a lock': (redis, name, task, signal) => redis.lock(name).run(task, { signal }),
  "a reader's lease": (redis, name, task, signal) => redis.lock(name).shared.run(task, { signal }),
  'a permit': (redis, name, task, signal) => redis.semaphore(name, { limit: 1 }).run(task, { signal }),
  'a set of locks': (redis, name, task, signal) => redis.locks([name, `${name}b`]).run(task, { signal }),
  'an attempt of once': (redis, name, task, signal) => redis.once<void>(name).run('key', task, { signal }),
  'a nested lease': (redis, name, task, signal) =>
    redis.lock(name).run((held) => redis.lock(name).run(task, { signal, held })),
}

test.each(Object.entries(RUNS))('%s leaves nothing on the signal of its caller', async (_, run) => {
  const { redis, name } = setup()
  const { signal } = new AbortController()
  let during = 0
  let kept: AbortSignal | null = null

  await run(
    redis,
    name,
    (context) => {
      kept = context.signal
      during = leftOn(signal)
    },
    signal,
  )

  expect(during).toBe(1)
  expect(leftOn(signal)).toBe(0)
  expect(kept).toMatchObject({ aborted: false })
})

test.each(Object.entries(RUNS))(
  '%s aborts with the signal of its caller, for the same reason',
  async (_, run) => {
    const { redis, name } = setup()
    const stop = new AbortController()
    let seen: unknown = null

    await run(
      redis,
      name,
      (context) => {
        const { signal } = context
        stop.abort('stop')
        seen = [signal.reason, context.signal.aborted]
      },
      stop.signal,
    )

    expect(seen).toEqual(['stop', true])
    expect(leftOn(stop.signal)).toBe(0)
  },
)

test('an attempt that could not be completed leaves no listener once its lease has ended', async () => {
  const { redis, name } = setup()
  const { signal } = new AbortController()

  const running = redis.once(name, { lease: '50ms', maxHold: '0s' }).run(
    'key',
    async (context) => {
      await until(context.signal)
      throw new Error('too late')
    },
    { signal },
  )

  await expect(running).rejects.toThrow('too late')
  expect(leftOn(signal)).toBe(0)
})

/** The signal may have aborted before a listener could be added. */
async function until(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

function stallBeyond(end: number): void {
  while (performance.now() <= end);
}

test('after a stall the signal of a set of locks reports the loss when it is first read', async () => {
  const { redis, name } = setup()
  const lease: Lease = await redis.locks([name, `${name}b`], { lease: '300ms' }).acquire()
  const { signal } = lease
  stallBeyond(performance.now() + lease.remainingMs)

  expect(lease.signal.aborted).toBe(true)
  expect(signal.reason).toBeInstanceOf(LeaseLostError)
})

test('after a stall the signal of a term reports the loss when it is first read, and the campaign continues', async () => {
  const { redis, name } = setup()
  let elect: ((term: Term) => void) | null = null
  const elected = new Promise<Term>((resolve) => (elect = resolve))
  const campaign = redis.election(name, { lease: '300ms' }).campaign((term) => {
    elect?.(term)
    return new Promise((resolve) => term.signal.addEventListener('abort', () => resolve()))
  })
  const term = await elected
  stallBeyond(performance.now() + 300)

  expect(term.signal.aborted).toBe(true)
  expect(term.signal.reason).toBeInstanceOf(LeaseLostError)
  expect(campaign.leading).toBe(false)
  await campaign.close()
})
