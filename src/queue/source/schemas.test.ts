import { InvalidArgumentError } from 'perilune'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { setup, until } from '../../../test/queue-fixture.ts'

const isShort = async (text: string): Promise<boolean> => text.length < 10

/** The same schemas of two libraries: a synchronous one, an asynchronous one, and one that transforms the value. */
const LIBRARIES = {
  zod: {
    mail: z.object({ to: z.email(), cc: z.array(z.email()).optional() }),
    note: z.object({ text: z.string().refine(isShort, 'is too long') }),
    visit: z.object({ at: z.coerce.date(), pages: z.number().default(1) }),
  },
  valibot: {
    mail: v.object({
      to: v.pipe(v.string(), v.email()),
      cc: v.optional(v.array(v.pipe(v.string(), v.email()))),
    }),
    note: v.objectAsync({ text: v.pipeAsync(v.string(), v.checkAsync(isShort, 'is too long')) }),
    visit: v.object({
      at: v.pipe(
        v.unknown(),
        v.transform((at) => new Date(at as string)),
        v.date(),
      ),
      pages: v.optional(v.number(), 1),
    }),
  },
}

describe.each(['zod', 'valibot'] as const)('a queue with schemas of %s', (library) => {
  const prepare = async () => {
    const { queue: plain, redis, name } = await setup({ clock: 'real' })
    const schemas = LIBRARIES[library] as (typeof LIBRARIES)['zod']
    return { plain, queue: redis.queue(name, { schemas }) }
  }

  test('has the types of payloads as they are given and as handlers get them', async () => {
    const { queue } = await prepare()
    expectTypeOf(queue.enqueue<'mail'>)
      .parameter(1)
      .toEqualTypeOf<{ to: string; cc?: string[] | undefined }>()
    expectTypeOf(queue.enqueue<'visit'>)
      .parameter(1)
      .toEqualTypeOf<{ at: unknown; pages?: number | undefined }>()
    await using _worker = queue.work({
      visit: ({ payload }) => expectTypeOf(payload).toEqualTypeOf<{ at: Date; pages: number }>(),
    })
  })

  test('rejects a payload that does not fit, names the path, and enqueues nothing', async () => {
    const { queue, plain } = await prepare()

    const mail = queue.enqueue('mail', { to: 'no-one', cc: ['ada@example.org', 'x'] })
    await expect(mail).rejects.toThrow(InvalidArgumentError)
    await expect(mail).rejects.toMatchObject({
      argument: 'payload.to',
      message: expect.stringMatching(/^payload\.to does not fit: .*email.*; payload\.cc\[1\]: /i),
    })
    const note = queue.enqueue('note', { text: 'more than ten letters' })
    await expect(note).rejects.toThrow('payload.text does not fit: is too long')

    expect(await plain.settings.inspect()).toMatchObject({ enqueued: 0 })
  })

  test('checks all jobs before it enqueues the first', async () => {
    const { queue, plain } = await prepare()
    const fine = { name: 'mail', payload: { to: 'ada@example.org' } } as const
    const short = { name: 'note', payload: { text: 'short' } } as const
    const long = { name: 'note', payload: { text: 'more than ten letters' } } as const

    await expect(queue.enqueueMany([fine, short, long])).rejects.toThrow(
      /^jobs\[2\]\.payload\.text does not fit/,
    )
    await expect(queue.enqueueMany([fine, { name: 'mail', payload: { to: 7 as never } }])).rejects.toThrow(
      /^jobs\[1\]\.payload\.to does not fit/,
    )
    expect(await plain.settings.inspect()).toMatchObject({ enqueued: 0 })

    expect(await queue.enqueueMany([fine, short])).toHaveLength(2)
  })

  test('gives handlers the output of the schemas', async () => {
    const { queue } = await prepare()
    const seen: unknown[] = []
    await using _worker = queue.work({ visit: ({ payload }) => seen.push(payload) })
    await queue.enqueue('visit', { at: new Date(86_400_000) })

    await until(() => seen.length === 1)

    expect(seen).toEqual([{ at: new Date(86_400_000), pages: 1 }])
  })

  test('gives no handler a payload that does not fit: the job is dead', async () => {
    const { queue, plain } = await prepare()
    const [seen, errors]: [string[], unknown[]] = [[], []]
    await plain.enqueueMany([
      { name: 'mail', payload: { to: 'no-one' } },
      { name: 'mail', payload: { to: 'ada@example.org' } },
      { name: 'image', payload: { url: 'without a schema' } },
    ])
    await using _worker = queue.work((job: { name: string }) => void seen.push(job.name), {
      onError: (error) => errors.push(error),
    })

    await until(async () => (await queue.settings.inspect()).acked === 2)
    await until(async () => (await queue.settings.inspect()).dead === 1)

    expect(seen.toSorted()).toEqual(['image', 'mail'])
    expect(errors).toEqual([expect.objectContaining({ argument: 'payload.to' })])
    const [failure] = await queue.dead.list()
    expect(failure).toMatchObject({
      kind: 'invalid-payload',
      sample: { message: expect.stringMatching(/^payload\.to does not fit/) },
    })
  })

  test('claims and detached claims only return jobs that fit, and continue after others', async () => {
    const { queue, plain } = await prepare()
    const bad = { name: 'mail', payload: { to: 'no-one' } } as const
    const good = { name: 'mail', payload: { to: 'ada@example.org' } } as const
    await plain.enqueueMany([bad, bad, good, bad, good])

    expect(await queue.claim()).toMatchObject([{ payload: { to: 'ada@example.org' } }])
    const detached = await queue.claimDetached()
    expect(detached.jobs).toMatchObject([{ payload: { to: 'ada@example.org' } }])
    await plain.enqueue('mail', { to: 'no-one' })
    expect(await queue.claim()).toEqual([])

    expect(await queue.dead.list()).toMatchObject([{ kind: 'invalid-payload', count: 4 }])
  })
})

test('types come from every library in the same way', async () => {
  const { redis, name } = await setup()
  const queue = redis.queue(name, { schemas: LIBRARIES.valibot })
  expectTypeOf(queue.enqueue<'mail'>)
    .parameter(1)
    .toEqualTypeOf<{ to: string; cc?: string[] | undefined }>()
  expectTypeOf(await queue.claim())
    .items.toHaveProperty('payload')
    .toExtend<{ to: string } | { text: string } | { at: Date; pages: number }>()
})

test('a value that is no schema is rejected', async () => {
  const { redis } = await setup()
  for (const schemas of [{ mail: {} }, { mail: null }, null, { mail: { '~standard': { version: 2 } } }]) {
    expect(() => redis.queue('x', { schemas: schemas as never })).toThrow(/schemas/)
  }
})

describe.each([undefined, 2])('in %s partitions a payload that does not fit', (partitions) => {
  const prepare = async () => {
    const { redis, name } = await setup({ clock: 'real' })
    const spread = partitions === undefined ? {} : { partitions }
    return redis.queue(name, { ...spread, schemas: { mail: z.object({ to: z.string() }) } })
  }
  const bad = { name: 'mail', payload: { to: 7 as never } } as const

  test('cannot recur, and a recurring job with the same id stays as it was', async () => {
    const queue = await prepare()
    await queue.recurring.set('daily', { name: 'mail', payload: { to: 'ada' }, every: '1d', group: 'a' })

    for (const group of ['a', 'b', 'c']) {
      await expect(queue.recurring.set('daily', { ...bad, every: '1d', group })).rejects.toThrow(
        /^payload\.to does not fit/,
      )
    }
    expect(await queue.recurring.get('daily')).toMatchObject({ payload: { to: 'ada' }, group: 'a' })
  })

  test('cannot follow a job, which stays claimed', async () => {
    const queue = await prepare()
    await queue.enqueue('mail', { to: 'ada' })
    const [job] = await queue.claim()

    await expect(job?.ackAndEnqueue(bad)).rejects.toThrow(/^next\.payload\.to does not fit/)
    const lease = { id: job?.id ?? '', token: job?.token ?? 0 }
    await expect(queue.byToken.ackAndEnqueue([{ ...lease, next: bad }])).rejects.toThrow(
      /^next\.payload\.to does not fit/,
    )

    expect(job?.isClaimed).toBe(true)
    await expect(job?.ackAndEnqueue({ ...bad, payload: { to: 'bob' } })).resolves.toMatchObject({
      duplicate: false,
    })
  })
})
