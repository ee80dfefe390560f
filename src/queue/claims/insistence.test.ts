// Outcomes of a worker that the server rejects or does not answer: they are retried.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type ClaimedJob, type Codec, type Driver, perilune, type Queue, type WorkOptions } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { until } from '../../../test/queue-fixture.ts'
import { ServerReplyError } from '../../driver.ts'

type Fate = 'taken' | 'refused' | 'not answered'
type Call = Parameters<Driver['run']>[0]

interface Scene {
  readonly queue: Queue
  /** As in another process. */
  readonly plain: Queue
  /** As `plain`, with another codec. */
  as(codec: Codec<unknown>): Queue
  /** What happens to the calls of one operation from now on. */
  fate: Fate
  /** The number of these calls. */
  readonly tries: number
}

/** A queue whose calls of one operation are rejected, or executed but not answered. */
function setup(operation: string): Scene {
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const name = randomUUID()
  const open = (through: Driver, options: { codec?: Codec<unknown> } = {}): Queue => {
    const redis = perilune(through, { namespace: 'insisting-test', deadline: '300ms' })
    onTestFinished(() => redis.close())
    return redis.queue(name, options)
  }
  onTestFinished(() => client.disconnect())
  const as = (codec: Codec<unknown>): Queue => open(driver, { codec })
  const scene = { queue: open(wrapped()), plain: open(driver), as, fate: 'taken' as Fate, tries: 0 }
  return scene

  async function run(call: Call): ReturnType<Driver['run']> {
    const { fate } = scene
    // A handler whose own outcome fails throws, so that the job is retried.
    const isRetry = fate === 'refused' && call.script.name === 'queue/retry'
    if (call.script.name !== operation && !isRetry) return driver.run(call)
    scene.tries += 1
    if (fate === 'refused') throw new ServerReplyError('NOPERM not now')
    const reply = await driver.run(call)
    return fate === 'taken' ? reply : new Promise(() => undefined)
  }

  function wrapped(): Driver {
    return Object.assign(Object.create(driver) as Driver, {
      run,
      info: () => driver.info(),
      close: () => driver.close(),
      subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
    })
  }
}

function fail(): never {
  throw new RangeError('of the handler')
}

interface Outcome {
  readonly operation: string
  readonly handler: (job: ClaimedJob) => unknown
  readonly names?: Record<string, never>
  readonly becomes: string
}

const OUTCOMES: Record<string, Outcome> = {
  'the retry of a handler that threw': { operation: 'queue/retry', handler: fail, becomes: 'retried' },
  'a retry that the handler asks for': {
    operation: 'queue/retry',
    handler: (job) => job.retry({ kind: 'RangeError' }),
    becomes: 'retried',
  },
  'a failure': {
    operation: 'queue/fail',
    handler: (job) => job.fail({ kind: 'RangeError' }),
    becomes: 'dead',
  },
  'a release': { operation: 'queue/release', handler: (job) => job.release(), becomes: 'released' },
}

describe.each(Object.entries(OUTCOMES))('%s', (_, { operation, handler, becomes }) => {
  /** A worker whose first attempt at a job ends with the outcome; further attempts do nothing until the test is over. */
  async function working(scene: Scene, options: Pick<WorkOptions, 'onError'> = {}) {
    const outcomes: unknown[] = []
    let attempts = 0
    const first = (job: ClaimedJob): unknown => {
      attempts += 1
      return attempts === 1 ? handler(job) : undefined
    }
    await scene.plain.enqueue('mail', 0, { id: 'one', backoff: 'none' })
    const worker = scene.queue.work(first, {
      ...options,
      lease: '1h',
      onSettled: ({ outcome }) => outcomes.push(outcome),
    })
    onTestFinished(() => worker.close({ within: '0ms' }))
    return { worker, outcomes }
  }

  test('is retried after it was rejected, and onError is called for each try', async () => {
    const scene = setup(operation)
    const errors: unknown[] = []
    scene.fate = 'refused'
    const { outcomes } = await working(scene, { onError: (error) => errors.push(error) })
    await until(() => scene.tries >= 3)
    scene.fate = 'taken'
    await until(() => outcomes.length > 0)

    expect(outcomes[0]).toBe(becomes)
    const refusals = errors.filter((error) => Object(error).code === 'forbidden')
    expect(refusals.length).toBeGreaterThanOrEqual(3)
  })

  test('is retried when it was not answered, and takes effect once', async () => {
    const scene = setup(operation)
    scene.fate = 'not answered'
    const { outcomes } = await working(scene)
    await until(() => scene.tries >= 1)
    scene.fate = 'taken'
    await until(() => outcomes.includes(becomes))

    const { retried, dead } = await scene.plain.inspect()
    expect({ retried, dead }).toEqual({
      retried: becomes === 'retried' ? 1 : 0,
      dead: becomes === 'dead' ? 1 : 0,
    })
  })

  test('is tried once more by a worker that closes, and goes to onError', async () => {
    const scene = setup(operation)
    const errors: (string | undefined)[] = []
    scene.fate = 'refused'
    const { worker } = await working(scene, { onError: (_error, job) => errors.push(job?.id) })
    await until(() => scene.tries >= 1)
    await worker.close({ within: '0ms' })

    expect(errors.at(-1)).toBe('one')
    expect(await scene.plain.inspect()).toMatchObject({ claimed: 1 })
  })

  test('ends with the lease of the job', async () => {
    const scene = setup(operation)
    const errors: unknown[] = []
    scene.fate = 'refused'
    await scene.plain.enqueue('mail', 0, { id: 'short', maxAttempts: 1 })
    await using _worker = scene.queue.work(handler, {
      lease: '600ms',
      onError: (error, job) => void (job !== null && errors.push(error)),
    })
    await until(async () => (await scene.plain.jobs.get('short'))?.state === 'dead')
    await until(() => errors.length > 0)

    expect((await scene.plain.jobs.get('short'))?.failure?.kind).toBe('lost')
  })
})

test.each(['refused', 'not answered'] as const)(
  'making an undecodable job dead in a claim by hand is retried when it was %s, and the other jobs come at once',
  async (fate) => {
    const scene = setup('queue/fail')
    const raw = { name: 'json', encode: (text: unknown) => text as string, decode: () => 'as it is' }
    await scene
      .as(raw)
      .enqueueMany(['not json', '{"n":1}'].map((payload) => ({ name: 'job', payload, maxAttempts: 1 })))
    scene.fate = fate

    const jobs = await scene.queue.claim({ limit: 2, lease: '20s' })

    expect(jobs.map(({ payload }) => payload)).toEqual([{ n: 1 }])
    await until(() => scene.tries >= 2)
    scene.fate = 'taken'
    await until(async () => (await scene.plain.inspect()).dead === 1)
    expect(await scene.plain.dead.list()).toMatchObject([{ kind: 'undecodable-payload', count: 1 }])
  },
)
