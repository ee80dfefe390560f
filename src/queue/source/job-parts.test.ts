import { batch, jsonText, type Job, type PartitionedQueue, type Queue } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup as setupPlain, until } from '../../../test/queue-fixture.ts'

const BAD = 'no JSON'
const KIND = 'undecodable-payload'

const sorted = (values: readonly unknown[]): unknown[] =>
  values.toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)))

/** A queue without partitions, and one in partitions. */
const FORMS = [
  ['a queue', undefined],
  ['a queue in partitions', 2],
] as const

describe.each(FORMS)('in %s a job whose payload the codec cannot read', (_, partitions) => {
  type Any = Queue<{ j: number }> | PartitionedQueue<{ j: number }>

  /** Seven jobs of one group; another client has stored the fourth, in another form. */
  async function setup({ jobs = true } = {}) {
    const { redis, client, name } = await setupPlain({ clock: 'real' })
    const open = (options: object): Any =>
      redis.queue(name, { ...options, ...(partitions === undefined ? {} : { partitions }) } as never) as never
    const queue = open({})
    const raw = open({ codec: jsonText }) as unknown as Queue
    const good = (n: number) => ({ name: 'j', payload: n, group: 'g', tags: ['t'], maxAttempts: 2 }) as const
    const poison = () => raw.enqueue('j', BAD, { group: 'g', tags: ['t'], maxAttempts: 2 })
    const keys = (part: string): Promise<string[]> => client.keys(`*${name}*:${part}`)
    const untilWaiting = () =>
      until(async () => {
        const fields = await Promise.all((await keys('jobs')).map((key) => client.hkeys(key)))
        return fields.flat().some((field) => field.startsWith('w'))
      })
    const untilListening = () => until(async () => (await keys('listeners')).length === (partitions ?? 1))
    const made = { queue, raw, poison, good, untilWaiting, untilListening }
    if (!jobs) return { ...made, bad: { id: '' } }
    await queue.enqueueMany([1, 2, 3].map(good))
    const bad = await poison()
    await queue.enqueueMany([4, 5, 6].map(good))
    return { ...made, bad }
  }

  const payloadsOf = (jobs: readonly { payload: unknown }[]): unknown[] => jobs.map(({ payload }) => payload)
  const undecodableOf = (jobs: readonly Job[]): unknown[] =>
    jobs.flatMap(({ id, undecodable }) =>
      undecodable.map(({ part, bytes, error }) => [
        id,
        part,
        Buffer.from(bytes).toString(),
        (error as Error).name,
      ]),
    )

  test('is dead once a claim finds it, and the others are claimed', async () => {
    const { queue, bad } = await setup()

    const jobs = await queue.claim({ limit: 10 })

    expect(payloadsOf(jobs)).toEqual([1, 2, 3, 4, 5, 6])
    expect(await queue.jobs.get(bad.id)).toMatchObject({
      state: 'dead',
      failure: { kind: KIND, message: expect.stringContaining('SyntaxError') },
    })
  })

  test('does not fill a claim or a detached claim: both continue after it', async () => {
    const { queue, poison, good } = await setup({ jobs: false })
    for (let n = 0; n < 3; n += 1) await poison()
    await queue.enqueueMany([good(1), good(2)])

    expect(payloadsOf(await queue.claim({ limit: 1 }))).toEqual([1])
    expect(payloadsOf((await queue.claimDetached({ limit: 1 })).jobs)).toEqual([2])
    expect(await queue.claim()).toEqual([])
    expect(await queue.dead.list()).toMatchObject([{ kind: KIND, count: 3 }])
  })

  test('reaches no handler, and onError is called', async () => {
    const { queue, bad } = await setup()
    const seen: unknown[] = []
    const errors: unknown[] = []
    await using _worker = queue.work(({ payload }) => void seen.push(payload), {
      onError: (error, job) => errors.push([(error as Error).message, job?.id]),
    })
    await until(async () => (await queue.inspect()).dead === 1 && (await queue.inspect()).acked === 6)
    expect(sorted(seen)).toEqual([1, 2, 3, 4, 5, 6])
    expect(errors).toEqual([[expect.stringContaining('payload cannot be read: SyntaxError'), bad.id]])
  })

  test('is in no batch', async () => {
    const { queue } = await setup()
    const seen: unknown[] = []
    const gather = batch<number>({ size: 7, within: '20ms' }, (jobs) => void seen.push(...payloadsOf(jobs)))
    await using _worker = queue.work({ j: gather })
    await until(async () => (await queue.inspect()).dead === 1 && (await queue.inspect()).acked === 6)
    expect(sorted(seen)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('is reported to listeners, and to waiters for its result', async () => {
    const { queue, bad, untilWaiting, untilListening } = await setup()
    const waiting = queue.jobs.waitForResult(bad.id, { wait: '20s' })
    const events = queue.events({ kinds: ['dead'] })
    const heard = events.next()
    await untilWaiting()
    await untilListening()
    await queue.claim({ limit: 10 })
    expect(await waiting).toMatchObject({ state: 'dead', failure: { kind: KIND } })
    expect((await heard).value).toMatchObject({ kind: 'dead', id: bad.id, more: KIND })
    await events.return()
  })

  test('keeps its place in each list, with its bytes', async () => {
    const { queue, bad } = await setup()
    const reported = [[bad.id, 'payload', BAD, 'SyntaxError']]
    const all = [1, 2, 3, null, 4, 5, 6]
    const pages = [
      await queue.jobs.list('grouped'),
      await queue.jobs.search({ tag: 't' }),
      await queue.jobs.search({ name: 'j' }),
    ]
    for (const { jobs } of pages) {
      expect(sorted(payloadsOf(jobs))).toEqual(sorted(all))
      expect(undecodableOf(jobs)).toEqual(reported)
    }
    expect(undecodableOf(await queue.jobs.getMany([bad.id]))).toEqual(reported)
    await queue.claim({ limit: 10 })
    expect(undecodableOf((await queue.jobs.list('dead')).jobs)).toEqual(reported)
    expect(undecodableOf((await queue.jobs.list('dead', { kind: KIND })).jobs)).toEqual(reported)
    expect(sorted(payloadsOf((await queue.jobs.list('claimed')).jobs))).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('can be done by a client that can read it, once it is requeued', async () => {
    const { queue, raw } = await setup()
    await queue.claim({ limit: 10 })
    expect(await queue.dead.requeue(KIND)).toBe(1)
    expect(payloadsOf(await raw.claim())).toEqual([BAD])
  })

  test('an undecodable result, progress or recurring payload spoils nothing else', async () => {
    const { queue, raw, untilWaiting } = await setup({ jobs: false })
    const { id } = await queue.enqueue('j', 1, { group: 'g', resultTtl: '1h' })
    const [job] = await raw.claim()
    await job?.progress('{progress')
    const dependent = await queue.enqueue('j', 2, { group: 'g', dependsOn: [id] })
    const waiting = queue.jobs.waitForResult(id, { wait: '20s' })
    await untilWaiting()
    expect(undecodableOf(await queue.jobs.getMany([id]))).toEqual([
      [id, 'progress', '{progress', 'SyntaxError'],
    ])
    await job?.ack('{result')
    expect(await waiting).toMatchObject({
      state: 'done',
      result: null,
      undecodable: [{ part: 'result', bytes: Buffer.from('{result') }],
    })
    expect(await queue.jobs.dependencies(dependent.id)).toMatchObject([
      { id, state: 'done', result: null, undecodable: [{ part: 'result' }] },
    ])
    await queue.recurring.set('fine', { every: '1h', name: 'j', payload: 1, group: 'g' })
    await raw.recurring.set('bad', { every: '1h', name: 'j', payload: '{recurring', group: 'g' })
    const { recurring } = await queue.recurring.list()
    expect(
      sorted(recurring.map(({ id: each, payload, undecodable }) => [each, payload, undecodable.length])),
    ).toEqual([
      ['bad', null, 1],
      ['fine', 1, 0],
    ])
  })
})

describe('a job whose schema throws is retried, and dead after its last attempt', () => {
  const ODD = [
    [
      'throws',
      () => {
        throw new Error('no URL')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no URL'))],
    [
      'throws what is no error',
      () => {
        throw Object.create(null)
      },
    ],
    ['answers nothing', () => undefined],
    ['answers issues that are none', () => ({ issues: [null] })],
  ] as const

  test.each(ODD)('when it %s', async (_, fail) => {
    const { queue: plain, redis, name } = await setupPlain({ clock: 'real' })
    const validate = (value: unknown) => ((value as { to: string }).to === 'bad' ? fail() : { value })
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as never
    const queue = redis.queue(name, { schemas: { mail: schema } }) as unknown as typeof plain
    await plain.enqueueMany(
      ['bad', 'a', 'bad', 'b', 'bad', 'c'].map((to) => ({ name: 'mail', payload: { to }, maxAttempts: 1 })),
    )

    expect((await queue.claim()).map(({ payload }) => payload)).toEqual([{ to: 'a' }])
    expect((await queue.claimDetached()).jobs.map(({ payload }) => payload)).toEqual([{ to: 'b' }])
    const seen: unknown[] = []
    await using _worker = queue.work(({ payload }) => void seen.push(payload))
    await until(() => seen.length === 1)
    await until(async () => (await queue.inspect()).dead === 3)

    expect(seen).toEqual([{ to: 'c' }])
    expect(await queue.dead.list()).toMatchObject([
      { kind: 'schema-failed', count: 3, sample: { message: expect.stringMatching(/^payload could not/) } },
    ])
  })

  test('and is done when the schema answers later', async () => {
    const { queue: plain, redis, name } = await setupPlain({ clock: 'real' })
    let asked = 0
    const validate = async (value: unknown) => {
      asked += 1
      if (asked < 3) throw new Error('the database is away')
      return { value }
    }
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as never
    const queue = redis.queue(name, { schemas: { mail: schema } }) as unknown as typeof plain
    await plain.enqueue('mail', { to: 'a' }, { backoff: 'none' })

    expect(await queue.claim()).toMatchObject([{ attempt: 3, payload: { to: 'a' } }])
    expect((await queue.inspect()).dead).toBe(0)
  })
})
