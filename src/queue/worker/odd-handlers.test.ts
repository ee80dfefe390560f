// The attempt ends for every value that user code throws or returns: by an ack, a retry, or a failure with its reason.

import {
  type BatchHandler,
  batch,
  type Codec,
  InvalidArgumentError,
  type Queue,
  type QueueOptions,
} from 'perilune'
import { describe, expect, test } from 'vitest'
import { ODD_THROWS } from '../../../test/odd-throws.ts'
import { setup, until } from '../../../test/queue-fixture.ts'
import type { Handlers } from './attempts.ts'
import type { WorkOptions } from './worker.ts'

type Jobs = Record<string, unknown>

interface Callback {
  readonly options?: QueueOptions
  readonly handlers: Handlers<Jobs>
  readonly work?: Pick<WorkOptions<Jobs>, 'backoff'>
}

const ODD = Object.keys(ODD_THROWS)

function oddOf(name: string): unknown {
  return ODD_THROWS[name]?.()
}

function fails({ name }: { readonly name: string }): never {
  throw oddOf(name)
}

const each = (handler: BatchHandler<unknown>): Handlers<Jobs> =>
  Object.fromEntries(ODD.map((name) => [name, handler]))

const validating = (validate: (job: { name: string }) => never): QueueOptions => ({
  schemas: Object.fromEntries(
    ODD.map((name) => [
      name,
      { '~standard': { version: 1, vendor: 'odd', validate: () => validate({ name }) } },
    ]),
  ),
})

const reading: Codec<unknown> = {
  name: 'odd',
  encode: String,
  decode: (bytes) => fails({ name: bytes.toString() }),
}

const CALLBACKS: Record<string, Callback> = {
  'a handler': { handlers: fails },
  'a handler that is async': { handlers: async (job) => fails(job) },
  'the handler of a batch': { handlers: each(batch({ size: 1 }, ([job]) => fails(job as { name: string }))) },
  'the result of a batch': {
    handlers: each(
      batch({ size: 1 }, (jobs) =>
        jobs.map(({ name }) => Object.assign(new Error('in a batch'), { cause: oddOf(name) })),
      ),
    ),
  },
  'a hook around the handler': { options: { hooks: { around: fails } }, handlers: () => undefined },
  'a hook around the handler, async': {
    options: { hooks: { around: async (job) => fails(job) } },
    handlers: () => undefined,
  },
  'the backoff of a worker': { handlers: fails, work: { backoff: (_, job) => fails(job) } },
}

describe.each(Object.entries(CALLBACKS))(
  'a value that %s throws',
  (_, { options = {}, handlers, work = {} }) => {
    test('has its job retried, for any value', async () => {
      const { redis, name } = await setup({ clock: 'real' })
      const queue = redis.queue<Jobs>(name, options)
      await queue.enqueueMany(
        ODD.map((odd) => ({ name: odd, payload: odd, maxAttempts: 2, backoff: 'none' as const })),
      )

      await using _worker = queue.work(handlers, { ...work, concurrency: 50, lease: '1h' })
      await until(async () => (await queue.inspect()).dead === ODD.length)

      const readable = redis.queue<Jobs>(name, {
        codec: { ...reading, name: options.codec?.name ?? 'json', decode: String },
      })
      const { jobs } = await readable.jobs.list('dead', { limit: 100 })
      expect(jobs.map(({ attempts }) => attempts)).toEqual(ODD.map(() => 2))
      for (const { failure } of jobs) {
        expect(failure?.kind).not.toBe('lost')
        expect(failure?.message).not.toBe('')
      }
    })
  },
)

test('any value that the codec of a payload throws makes the job dead at once, with a message', async () => {
  const { redis, name } = await setup({ clock: 'real' })
  const queue = redis.queue<Jobs>(name, { codec: reading })
  await queue.enqueueMany(ODD.map((odd) => ({ name: odd, payload: odd, maxAttempts: 2 })))

  await using _worker = queue.work(() => undefined, { concurrency: 50, lease: '1h' })
  await until(async () => (await queue.inspect()).dead === ODD.length)

  const { jobs } = await queue.jobs.list('dead', { limit: 100 })
  expect(jobs.map(({ attempts, failure }) => [attempts, failure?.kind])).toEqual(
    ODD.map(() => [1, 'undecodable-payload']),
  )
  for (const { failure } of jobs) expect(failure?.message).toMatch(/^payload cannot be read: ./)
})

test.each([
  ['a schema', validating(fails)],
  ['a codec below a schema', { ...validating(fails), codec: { ...reading, name: 'json' } }],
])('what %s throws ends the attempt of a worker', async (_, options) => {
  const { redis, name } = await setup({ clock: 'real' })
  await redis.queue(name).enqueueMany(ODD.map((odd) => ({ name: odd, payload: odd, maxAttempts: 1 })))

  await using _worker = redis.queue(name, options).work(() => undefined, { concurrency: 50, lease: '1h' })
  await until(async () => (await redis.queue(name).inspect()).dead === ODD.length)

  const { jobs } = await redis.queue(name).jobs.list('dead', { limit: 100 })
  for (const { failure } of jobs) expect(failure?.kind).not.toBe('lost')
})

test('the kind of a failure is the name of the error if it is text, in one line', async () => {
  const { redis, name } = await setup({ clock: 'real' })
  const queue = redis.queue<Jobs>(name)
  await queue.enqueueMany(ODD.map((odd) => ({ name: odd, payload: 0, id: odd, maxAttempts: 1 })))

  await using _worker = queue.work(fails, { concurrency: 50, lease: '1h' })
  await until(async () => (await queue.inspect()).dead === ODD.length)

  const kindOf = async (odd: string): Promise<string | undefined> =>
    (await queue.jobs.get(odd))?.failure?.kind
  expect(await kindOf('an error')).toBe('RangeError')
  expect(await kindOf('an error whose name has two lines')).toBe('Http Error')
  expect(await kindOf('an error whose name is a number')).toBe('thrown')
  expect(await kindOf('an error whose name is cut within a character')).toBe(`${'a'.repeat(99)}😀`)
  expect(await kindOf('an object without a prototype')).toBe('thrown')
})

const circle: { self?: unknown } = {}
circle.self = circle

const RESULTS: Record<string, () => unknown> = {
  'a bigint': () => 10n,
  'a circle': () => circle,
  'a function': () => () => 0,
  'a symbol': () => Symbol('result'),
  'a toJSON that throws': () => ({ toJSON: () => fails({ name: 'an error' }) }),
  'a toJSON that gives nothing': () => ({ toJSON: () => undefined }),
  'a proxy that is revoked': () => oddOf('a proxy that is revoked'),
  'a promise that rejects': async () => fails({ name: 'an error' }),
  'a text that is too large': () => 'x'.repeat(4 * 1024 * 1024),
}

async function runsOf(queue: Queue<Jobs>, handlers: (job: { name: string }) => unknown): Promise<string[]> {
  const runs: string[] = []
  const names = Object.keys(RESULTS)
  await queue.enqueueMany(
    names.map((name) => ({ name, payload: 0, id: name, maxAttempts: 2, backoff: 'none' as const })),
  )
  const handler = (job: { name: string }): unknown => {
    runs.push(job.name)
    return handlers(job)
  }
  await using _worker = queue.work(handler, { concurrency: 50, lease: '1h' })
  await until(async () => (await queue.inspect()).dead === names.length)
  return runs
}

test('a job whose result cannot be stored is retried, and then dead with the reason', async () => {
  const { redis, name } = await setup({ clock: 'real' })
  const queue = redis.queue<Jobs>(name)

  const runs = await runsOf(queue, (job) => RESULTS[job.name]?.())

  expect(runs).toHaveLength(2 * Object.keys(RESULTS).length)
  const found = await Promise.all(Object.keys(RESULTS).map((id) => queue.jobs.get(id)))
  expect(found.map((job) => job?.failure?.kind)).toEqual([
    'InvalidArgumentError',
    'InvalidArgumentError',
    'InvalidArgumentError',
    'InvalidArgumentError',
    'RangeError',
    'InvalidArgumentError',
    'TypeError',
    'RangeError',
    'InvalidArgumentError',
  ])
  expect(found[0]?.failure?.message).toContain('result must be a value that JSON can hold')
  expect(found.at(-1)?.failure?.message).toContain('result must be at most 4194304 bytes')
})

test.each([
  ['gives neither text nor bytes', () => 42 as unknown as string],
  ['throws', () => fails({ name: 'a proxy that is revoked' })],
])('a result whose codec %s has its job tried again', async (_, encode) => {
  const { redis, name } = await setup({ clock: 'real' })
  const codec: Codec<unknown> = {
    name: 'odd',
    encode: (value) => (value === 0 ? '0' : encode()),
    decode: () => 0,
  }
  const queue = redis.queue<Jobs>(name, { codec })

  const runs = await runsOf(queue, () => 'a result')

  expect(runs).toHaveLength(2 * Object.keys(RESULTS).length)
})

test('a job claimed by hand stays claimed when its result cannot be stored', async () => {
  const { queue } = await setup({ clock: 'real' })
  await queue.enqueue('mail', { to: 'ada' })
  const [job] = await queue.claim()

  await expect(job?.ack('x'.repeat(4 * 1024 * 1024))).rejects.toThrow(InvalidArgumentError)
  await job?.ack('short')

  expect(job?.outcome).toBe('acked')
})
