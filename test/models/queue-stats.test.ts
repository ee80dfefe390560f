// Random histories of a queue, and what its statistics say of each minute, hour and day: the sums of what happened.

import fc from 'fast-check'
import type { ClaimedJob, Queue, Spread, StatsCounts } from 'perilune'
import { expect, test } from 'vitest'
import { START_US } from '../../src/testing/test-clock.ts'
import { countOf, SEED } from '../proof.ts'
import { type Payloads, type Setup, setup } from '../queue-fixture.ts'

type Kind = 'enqueued' | 'waited' | 'acked' | 'retried' | 'dead'
interface Event {
  readonly atMs: number
  readonly kind: Kind
  readonly name: string
  readonly spanMs: number
}
type Step =
  | { readonly do: 'enqueue'; readonly name: 'mail' | 'image'; readonly count: number }
  | { readonly do: 'claim' | 'acked' | 'retried' | 'dead'; readonly count: number }
  | { readonly do: 'pass'; readonly ms: number }

const LENGTHS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
// Sixty steps stay within the lease of a claim.
const count = fc.integer({ min: 1, max: 30 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('enqueue' as const), name: fc.constantFrom('mail', 'image'), count }),
  fc.record({ do: fc.constant('claim' as const), count }),
  fc.record({ do: fc.constantFrom('acked' as const, 'retried' as const, 'dead' as const), count }),
  fc.record({
    do: fc.constant('pass' as const),
    ms: fc.oneof(
      fc.integer({ min: 1, max: 2000 }),
      fc.integer({ min: 1, max: 200_000 }),
      fc.integer({ min: 1, max: 40_000_000 }),
    ),
  }),
)

class History {
  readonly #queue: Queue<Payloads>
  readonly #clock: Setup['clock']
  readonly #events: Event[] = []
  readonly #readyAtMs = new Map<string, number>()
  readonly #claimed: { job: ClaimedJob; atMs: number }[] = []
  #nowMs = START_US / 1000

  constructor({ queue, clock }: Setup) {
    this.#queue = queue
    this.#clock = clock
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      if (each.do === 'pass') await this.#pass(each.ms)
      else if (each.do === 'enqueue') await this.#enqueue(each.name, each.count)
      else if (each.do === 'claim') await this.#claim(each.count)
      else await this.#settle(each.do, each.count)
    }
    for (const by of ['minute', 'hour', 'day'] as const) {
      for (const name of [undefined, 'mail', 'image']) await this.#check(by, name)
    }
  }

  async #pass(ms: number): Promise<void> {
    await this.#clock.advance(ms)
    this.#nowMs += ms
  }

  async #enqueue(name: 'mail' | 'image', jobs: number): Promise<void> {
    const payload = { to: 'x', url: 'x' }
    const enqueued = await this.#queue.enqueueMany(Array.from({ length: jobs }, () => ({ name, payload })))
    for (const { id } of enqueued) {
      this.#readyAtMs.set(id, Number(id) / 1000)
      this.#note('enqueued', name, 0)
    }
  }

  async #claim(limit: number): Promise<void> {
    const jobs = await this.#queue.claim({ limit, lease: '30d' })
    for (const job of jobs) {
      this.#note('waited', job.name, Math.max(0, this.#nowMs - (this.#readyAtMs.get(job.id) ?? 0)))
      this.#claimed.push({ job, atMs: this.#nowMs })
    }
  }

  async #settle(kind: 'acked' | 'retried' | 'dead', jobs: number): Promise<void> {
    const settled = this.#claimed.splice(0, jobs)
    await Promise.all(settled.map(({ job }) => end(job, kind)))
    for (const { job, atMs } of settled) {
      const isLast = kind === 'retried' && job.attempt === job.maxAttempts
      this.#note(isLast ? 'dead' : kind, job.name, this.#nowMs - atMs)
      this.#readyAtMs.set(job.id, this.#nowMs)
    }
  }

  #note(kind: Kind, name: string, spanMs: number): void {
    this.#events.push({ atMs: this.#nowMs, kind, name, spanMs })
  }

  async #check(by: keyof typeof LENGTHS, name?: string): Promise<void> {
    const { periods } = await this.#queue.stats(name === undefined ? { by } : { by, name })
    for (const period of periods) {
      const here = this.#events.filter(
        (event) =>
          (name === undefined || event.name === name) &&
          event.atMs >= period.atMs &&
          event.atMs < period.atMs + LENGTHS[by],
      )
      const times = (kind: Kind): number => here.filter((event) => event.kind === kind).length
      expect(pick(period)).toEqual({
        enqueued: times('enqueued'),
        acked: times('acked'),
        retried: times('retried'),
      })
      const isRun = ({ kind }: Event): boolean => kind !== 'enqueued' && kind !== 'waited'
      compare(period.wait, spansOf(here.filter(({ kind }) => kind === 'waited')))
      compare(period.run, spansOf(here.filter(isRun)))
    }
  }
}

function end(job: ClaimedJob, kind: 'acked' | 'retried' | 'dead'): Promise<unknown> {
  if (kind === 'acked') return job.ack()
  return kind === 'retried' ? job.retry({ delay: '0ms' }) : job.fail()
}

function pick({ enqueued, acked, retried }: StatsCounts): object {
  return { enqueued, acked, retried }
}

function spansOf(events: readonly Event[]): number[] {
  return events.map(({ spanMs }) => spanMs).toSorted((one, other) => one - other)
}

/** A percentile is the middle of its bucket: 6.25 % off at most, or half a millisecond. */
function compare(spread: Spread, spans: readonly number[]): void {
  const sum = spans.reduce((total, span) => total + span, 0)
  expect(spread.count).toBe(spans.length)
  expect(spread.meanMs).toBeCloseTo(spans.length === 0 ? 0 : sum / spans.length, 2)
  expect(spread.maxMs).toBeCloseTo(spans.at(-1) ?? 0, 2)
  for (const [share, found] of [
    [0.5, spread.p50Ms],
    [0.9, spread.p90Ms],
    [0.99, spread.p99Ms],
  ] as const) {
    const exact = spans[Math.ceil(share * spans.length) - 1] ?? 0
    expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.max(0.51, exact * 0.0626))
  }
}

test('statistics show for each period what happened in it', { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const property = fc.asyncProperty(history, async (steps) =>
    new History(await setup({ deadline: '30s' })).play(steps),
  )

  await fc.assert(property, { numRuns: countOf(1000, 20), seed: SEED })
})
