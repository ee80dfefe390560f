// Increments of one tick travel together, in one call per partition; those of one counter are sent as one sum.

import { type IncrementAnswer, increment } from '../generated/counters.ts'
import type { BatchTerms, SendBatch } from '../runtime/calls/batcher.ts'
import { DriverError } from '../runtime/errors/errors.ts'
import { isError } from '../runtime/errors/is-error.ts'
import { summaryOf } from '../runtime/errors/thrown.ts'
import { BacklogError, OverflowError } from './errors.ts'
import { loadOne } from './load.ts'
import { MAX_A_CALL, noteEpoch, type CountersPartition, partitionFor, type CountersSource } from './source.ts'
import { type CounterChange, type CounterSum, inSums, spreadSum } from './sums.ts'
import type { CounterValue } from './value.ts'

/** The result of an increment. */
export interface Counted {
  readonly id: string
  /** The value after the increment. */
  readonly value: CounterValue
  /** False if its idempotency key was known: it was counted before, and not again. */
  readonly counted: boolean
}

type Refused = 'absent' | 'overflow' | 'behind'
/** An error: it was retried alone after others of its batch had been counted, and that failed. */
type Outcome = Counted | Refused | Error

export function isCounted(outcome: Outcome): outcome is Counted {
  return typeof outcome === 'object' && !(outcome instanceof Error)
}

const BATCHES: BatchTerms = {
  name: increment.script.name,
  items: MAX_A_CALL,
  bytes: 1024 * 1024,
  underWay: 2,
  gathers: true,
  waiting: 100_000,
}

const MOST_TRIES = 10

/** Increments of one partition that wait to be sent. All handles with the same terms share one line. */
interface Line {
  readonly partition: CountersPartition
  readonly name: string
  readonly send: SendBatch<CounterChange, Outcome>
}

export class Incrementer {
  readonly #source: CountersSource
  readonly #lines: { readonly partitions: readonly Line[] }

  constructor(source: CountersSource) {
    const { idempotencyTtlMs, mostDirty } = source.terms
    this.#source = source
    const partitions = source.partitions.map((partition): Line => {
      const name = `${partition.unit.prefix} increment ${idempotencyTtlMs} ${mostDirty}`
      return { partition, name, send: (items, by) => sendBatch(source, partition, items, by) }
    })
    this.#lines = { partitions }
  }

  /** Throws OverflowError, BacklogError, UnknownCounterError, SinkError, DriverError, AmbiguousError. */
  async increment(asked: CounterChange): Promise<Counted> {
    const outcome = await this.try(asked)
    return isCounted(outcome) ? outcome : this.tryAgain(asked, outcome)
  }

  /** Like `increment`, which mostly needs only this: one promise less saves a good part of the cost of an increment. */
  try(asked: CounterChange): Promise<Outcome> {
    const { name, send } = partitionFor(this.#lines, asked.id)
    const batcher = this.#source.runtime.batcher<CounterChange, Outcome>(name, BATCHES, send)
    return batcher.addOne(asked, asked.id.length + asked.key.length)
  }

  /** After `try` was refused: loads the counter, and retries as `increment` does. */
  async tryAgain(asked: CounterChange, why: Refused | Error): Promise<Counted> {
    const source = this.#source
    let outcome: Outcome = why
    for (let tries = 1; outcome === 'absent'; tries++) {
      if (tries === MOST_TRIES) {
        throw new DriverError(
          'busy',
          `the counter ${asked.id} was evicted from Redis each time it was loaded`,
        )
      }
      await loadOne(source, partitionFor(this.#lines, asked.id).partition, asked.id)
      outcome = await this.try(asked)
    }
    if (outcome instanceof Error) throw outcome
    if (outcome === 'overflow') throw new OverflowError(asked.id)
    if (outcome === 'behind') throw new BacklogError(asked.id, source.terms.mostDirty)
    return outcome
  }
}

async function sendBatch(
  source: CountersSource,
  partition: CountersPartition,
  asked: readonly CounterChange[],
  by: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = Array.from({ length: asked.length })
  const { idempotencyTtlMs, mostDirty } = source.terms
  const send = async (groups: readonly CounterSum[]): Promise<CounterSum[]> => {
    const counters = groups.map(({ id, delta, key }) => ({ id, delta: String(delta), key }))
    const known = partition.epoch
    const answer = await partition.unit.inSlot(
      (run) => run(increment, (id) => ({ ...id, idempotencyTtlMs, mostDirty, counters })),
      { by },
    )
    noteEpoch(source, partition, answer.epoch, known)
    return recordResults(asked, groups, answer, outcomes)
  }
  const again = await send(inSums(asked))
  // The first call has counted others: this failure concerns only the retried increments.
  if (again.length > 0) await send(again).catch((error: unknown) => recordFailure(again, error, outcomes))
  return outcomes
}

/** Records the results of the increments. Returns the groups to retry, each increment as its own group. */
function recordResults(
  asked: readonly CounterChange[],
  groups: readonly CounterSum[],
  { values, refused, known }: IncrementAnswer,
  outcomes: Outcome[],
): CounterSum[] {
  const whyNot = new Map(refused.map(({ at, why }) => [at, why]))
  const repeated = new Set(known)
  const again: CounterSum[] = []
  for (const [at, group] of groups.entries()) {
    const why = whyNot.get(at)
    if (why === undefined) {
      const counted = !repeated.has(at)
      spreadSum(asked, group, values[at] ?? '0', (member, value) => {
        outcomes[member] = { id: group.id, value, counted }
      })
    } else if (why !== 'overflow' || group.members.length === 1) {
      for (const member of group.members) outcomes[member] = why as Refused
    } else again.push(...group.members.map((member) => alone(asked, member)))
  }
  return again
}

function recordFailure(groups: readonly CounterSum[], error: unknown, outcomes: Outcome[]): void {
  const failure = isError(error) ? error : new Error(summaryOf(error))
  for (const member of groups.flatMap(({ members }) => members)) outcomes[member] = failure
}

function alone(asked: readonly CounterChange[], member: number): CounterSum {
  const { id, key, delta } = asked[member] as CounterChange
  return { id, key, delta, members: [member] }
}
