// One bad element harms no other. Random histories of good and bad elements: payloads that the codec cannot read, that
// the schema rejects or throws at, that are too large, and unreadable results; in feeds and queues, with and without
// partitions, worked on and read in every way. The good ones are delivered exactly as without the bad ones, and each
// bad one ends with its name.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { batch, type Feed, jsonText, type Perilune, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { countOf, SEED, tell } from '../proof.ts'
import { until } from '../queue-fixture.ts'

const RUNS = countOf(250, 8)
const BAD = '{ no JSON'
const TOO_LARGE = 'x'.repeat(4 * 1024 * 1024)

const client = new Redis(inject('redisPort'))
const redis: Perilune = perilune(ioredis(client), { namespace: 'poison', deadline: '60s' })

afterAll(async () => {
  await redis.close()
  client.disconnect()
})

const partitions = fc.constantFrom(undefined, 1, 3)
const spread = (count: number | undefined): object => (count === undefined ? {} : { partitions: count })

/** A too large element gets an error, and has no other effect. */
async function refused(adding: Promise<unknown>): Promise<void> {
  await expect(adding).rejects.toMatchObject({ name: 'InvalidArgumentError' })
}

describe('in a feed', () => {
  type Kind = 'good' | 'bad' | 'too large'
  const kinds = fc.array(
    fc.constantFrom<Kind>('good', 'good', 'good', 'bad', 'bad', 'good', 'good', 'bad', 'good', 'too large'),
    { minLength: 1, maxLength: 40 },
  )

  function open<Body>(name: string, count: number | undefined, options: object): Feed<Body> {
    const opened =
      count === undefined
        ? redis.feed<Body>(name, options)
        : redis.feed<Body>(name, { ...options, partitions: count })
    return opened as Feed<Body>
  }

  /** Of one partition: between partitions there is no order. */
  const key = (count: number | undefined): object => (count === undefined ? {} : { key: 'k' })

  /** The same good messages with and without bad ones between them; the ids of the bad ones. */
  async function make(history: readonly Kind[], count: number | undefined) {
    const name = randomUUID()
    const mixed = open<number>(name, count, { maxClaims: 5 })
    const raw = open<string>(name, count, { codec: jsonText })
    const alone = open<number>(`${name} alone`, count, { maxClaims: 5 })
    const bad: string[] = []
    for (const [at, kind] of history.entries()) {
      if (kind === 'bad') bad.push((await raw.append(BAD, key(count))).id)
      else if (kind === 'too large') await refused(raw.append(`"${TOO_LARGE}"`, key(count)))
      else for (const feed of [mixed, alone]) await feed.append(at, key(count))
    }
    return { mixed, alone, bad }
  }

  interface Seen {
    readonly good: number[]
    readonly bad: string[]
  }

  type Way = (feed: Feed<number>, limit: number) => Promise<Seen>

  const idsOf = (messages: readonly { id: string }[]): string[] => messages.map(({ id }) => id)

  const byPages: Way = async (feed, limit) => {
    const seen: Seen = { good: [], bad: [] }
    for (let after: string | undefined; ; ) {
      const page = await feed.read({ limit, ...(after === undefined ? {} : { after }) })
      seen.good.push(...page.messages.map(({ body }) => body))
      seen.bad.push(...idsOf(page.undecodable))
      after = page.next
      if (!page.more) return seen
    }
  }

  const following =
    (what: 'tail' | 'subscriber'): Way =>
    async (feed, limit) => {
      const seen: Seen = { good: [], bad: [] }
      const { total } = await feed.inspect()
      const ending = new AbortController()
      const stopAtEnd = (): void => {
        if (seen.good.length + seen.bad.length === total) ending.abort()
      }
      const onUndecodable = ({ id }: { id: string }): void => {
        seen.bad.push(id)
        stopAtEnd()
      }
      const options = { limit, signal: ending.signal, onUndecodable }
      if (total === 0) return seen
      const messages = what === 'tail' ? feed.tail(options) : feed.subscriber('s').read(options)
      try {
        for await (const { body } of messages) {
          seen.good.push(body)
          stopAtEnd()
        }
      } catch (error) {
        if (!ending.signal.aborted) throw error
      }
      return seen
    }

  const claiming =
    (how: 'at once' | 'one by one' | 'given back'): Way =>
    async (feed, limit) => {
      const seen: Seen = { good: [], bad: [] }
      for (let claims = 0; ; claims += 1) {
        await using claim = await feed.claim({ limit, lease: '1m' })
        if (claim === null) break
        seen.bad.push(...idsOf(claim.undecodable))
        expect(claim.messages.length + claim.undecodable.length).toBeLessThanOrEqual(limit)
        if (how === 'given back' && claims % 2 === 0) continue
        seen.good.push(...claim.messages.map(({ body }) => body))
        if (how === 'one by one') for (const { id } of claim.messages) await claim.ack([id])
        else await claim.ack()
      }
      // Claims of which nothing could be read are skipped: their messages are among the dead letters.
      return { ...seen, bad: (await byPages(feed.deadLetters, 7)).bad }
    }

  const taking: Way = async (feed, limit) => {
    const good: number[] = []
    for (;;) {
      const taken = await feed.pop({ limit })
      if (taken.length === 0) return { good, bad: (await byPages(feed.deadLetters, 7)).bad }
      good.push(...taken.map(({ body }) => body))
    }
  }

  const WAYS: readonly (readonly [string, Way])[] = [
    ['by pages', byPages],
    ['by tail', following('tail')],
    ['by a subscriber', following('subscriber')],
    ['by claims that are acked at once', claiming('at once')],
    ['by claims that are acked one by one', claiming('one by one')],
    ['by claims that are given back now and then', claiming('given back')],
    ['by takes', taking],
  ]

  test.each(WAYS)(
    'good messages are received %s as if there were no bad ones',
    async (_, way) => {
      let bads = 0
      const property = fc.asyncProperty(
        kinds,
        partitions,
        fc.integer({ min: 1, max: 6 }),
        async (history, count, limit) => {
          const { mixed, alone, bad } = await make(history, count)
          const [met, expected] = [await way(mixed, limit), await way(alone, limit)]
          expect(met.good).toEqual(expected.good)
          expect(met.bad.toSorted()).toEqual(bad.toSorted())
          bads += bad.length
          for (const feed of [mixed, alone]) await feed.clear()
        },
      )
      await fc.assert(property, { numRuns: RUNS, seed: SEED })
      tell(`feeds: ${RUNS} histories with ${bads} bad messages among the good ones`)
    },
    600_000,
  )
})

describe('in a queue', () => {
  type Kind = 'good' | 'undecodable' | 'refused' | 'throws' | 'rejects' | 'too large'
  const KINDS: readonly Kind[] = [
    'good',
    'good',
    'good',
    'good',
    'undecodable',
    'refused',
    'throws',
    'rejects',
    'too large',
  ]
  const kinds = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 30 })
  const NAMES: Partial<Record<Kind, string>> = {
    undecodable: 'undecodable-payload',
    refused: 'invalid-payload',
    throws: 'schema-failed',
    rejects: 'schema-failed',
  }

  interface Payload {
    readonly kind: Kind
    readonly at: number
  }
  interface Given {
    readonly j: Payload
  }

  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => {
        const { kind } = value as Payload
        if (kind === 'refused') return { issues: [{ message: 'no' }] }
        if (kind === 'throws') throw Object.create(null)
        return kind === 'rejects' ? Promise.reject(new Error('no')) : { value }
      },
    },
  } as const

  /** The ids of all jobs, by what becomes of them. */
  async function make(history: readonly Kind[], count: number | undefined) {
    const name = randomUUID()
    const open = (options: object): unknown => redis.queue(name, { ...options, ...spread(count) } as never)
    const queue = open({ schemas: { j: schema } }) as Queue<Given>
    const plain = open({}) as Queue<Given>
    const raw = open({ codec: jsonText }) as Queue<{ j: string }>
    const good = new Map<number, string>()
    const bad = new Map<string, string>()
    for (const [at, kind] of history.entries()) {
      const options = { resultTtl: '1h', group: 'g', maxAttempts: 1 } as const
      if (kind === 'too large') await refused(raw.enqueue('j', `"${TOO_LARGE}"`, options))
      else if (kind === 'undecodable') bad.set((await raw.enqueue('j', BAD, options)).id, NAMES[kind] ?? '')
      else {
        const { id } = await plain.enqueue('j', { kind, at }, options)
        if (kind === 'good') good.set(at, id)
        else bad.set(id, NAMES[kind] ?? '')
      }
    }
    return { queue, raw, good, bad }
  }

  type World = Awaited<ReturnType<typeof make>>
  /** The elements that were worked on, in order. */
  type Way = (world: World, limit: number) => Promise<number[]>

  const isOver = async ({ queue, good, bad }: World): Promise<boolean> => {
    const { acked, dead } = await queue.inspect()
    return acked === good.size && dead === bad.size
  }

  const byWorker: Way = async (world, limit) => {
    const seen: number[] = []
    await using _worker = world.queue.work(({ payload }) => seen.push(payload.at), { concurrency: limit })
    await until(() => isOver(world))
    return seen.toSorted((one, other) => one - other)
  }

  const byBatches: Way = async (world, limit) => {
    const seen: number[] = []
    const handler = batch<Payload>({ size: limit, within: '5ms' }, (jobs) => {
      seen.push(...jobs.map(({ payload }) => payload.at))
    })
    await using _worker = world.queue.work({ j: handler })
    await until(() => isOver(world))
    return seen.toSorted((one, other) => one - other)
  }

  const byHand: Way = async ({ queue }, limit) => {
    const seen: number[] = []
    for (;;) {
      const jobs = await queue.claim({ limit })
      if (jobs.length === 0) return seen
      seen.push(...jobs.map(({ payload }) => payload.at))
      await Promise.all(jobs.map((job) => job.ack()))
    }
  }

  const byDetachedClaims: Way = async ({ queue }, limit) => {
    const seen: number[] = []
    for (;;) {
      const { jobs } = await queue.claimDetached({ limit })
      if (jobs.length === 0) return seen
      seen.push(...jobs.map(({ payload }) => payload.at))
      await queue.byToken.ack(jobs.map(({ id, token }) => ({ id, token })))
    }
  }

  /** Those who ack by hand give results that others cannot read. */
  const withOddResults: Way = async ({ queue, raw, good }, limit) => {
    const seen: number[] = []
    for (;;) {
      const claim = await queue.claimDetached({ limit })
      if (claim.jobs.length === 0) break
      seen.push(...claim.jobs.map(({ payload }) => payload.at))
      await raw.byToken.ack(
        claim.jobs.map(({ id, token, payload }) => ({ id, token, result: payload.at % 2 === 0 ? BAD : '7' })),
      )
    }
    for (const [at, id] of good) {
      const end = await queue.jobs.waitForResult(id)
      expect([end?.state, end?.result, end?.undecodable.map(({ part }) => part)]).toEqual(
        at % 2 === 0 ? ['done', null, ['result']] : ['done', 7, []],
      )
    }
    return seen
  }

  const WAYS: readonly (readonly [string, Way])[] = [
    ['by a worker', byWorker],
    ['in batches', byBatches],
    ['by hand', byHand],
    ['by detached claims', byDetachedClaims],
    ['by detached claims, with results that others cannot read', withOddResults],
  ]

  test.each(WAYS)(
    'good jobs are done %s as if there were no bad ones, and each bad one is dead of its kind',
    async (_, way) => {
      let bads = 0
      const property = fc.asyncProperty(
        kinds,
        partitions,
        fc.integer({ min: 1, max: 6 }),
        async (history, count, limit) => {
          const world = await make(history, count)
          const { queue, good, bad } = world
          expect(await way(world, limit)).toEqual([...good.keys()])

          const dead = new Map<string, string>()
          for (let after: string | null = '0'; after !== null; ) {
            const page = await queue.jobs.list('dead', after === '0' ? { limit: 4 } : { limit: 4, after })
            for (const { id, failure } of page.jobs) dead.set(id, failure?.kind ?? '')
            after = page.next
          }
          expect(dead).toEqual(bad)
          bads += bad.size
          await queue.clear()
        },
      )
      await fc.assert(property, { numRuns: RUNS, seed: SEED })
      tell(`queues: ${RUNS} histories with ${bads} bad jobs among the good ones`)
    },
    600_000,
  )
})
