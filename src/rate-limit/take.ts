// Batches the takes of one tick into one script call, also for different subjects, when a subject has a single gcra
// limit. On a cluster subjects are in different slots, so a call has takes of one subject only.

import { ServerReplyError } from '../driver.ts'
import { type TakeEachAnswer, takeEach } from '../generated/rate-limit.ts'
import type { BatchTerms, SendBatch } from '../runtime/calls/batcher.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import { toPeriluneError } from '../runtime/calls/script-errors.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { type Allowed, type Denied, onlyAllowed, onlyDenied } from './decision.ts'
import type { LimitTerms } from './limits.ts'

type TakenGroup = TakeEachAnswer['takes'][number]
/** A take that was rejected or not answered ends in its own error, without effect on others. */
type Outcome = Allowed | Denied | Error

/** A take on its way. */
interface Asked {
  readonly state: string
  readonly cost: number
  outcome: Outcome | null
}

/** Takes of one subject and one cost, decided together. */
interface Group {
  readonly state: string
  readonly cost: number
  readonly round: number
  readonly members: Asked[]
  count: number
}

const NAME = takeEach.script.name
// A subject costs the server about 3 µs, so a call blocks others for 1 ms at most.
const BATCHES: BatchTerms = { name: NAME, items: 300, bytes: 1024 * 1024, underWay: 2, waiting: 100_000 }

/** Takes of a limiter; limiters of one name with the same terms share their calls. */
export class Taker {
  readonly #runtime: Runtime
  readonly #terms: LimitTerms
  readonly #batch: string
  readonly #place: string
  readonly #send: SendBatch<Asked, Outcome>

  /** `place` names the limiter in its namespace. */
  constructor(runtime: Runtime, place: string, terms: LimitTerms) {
    const { name, limit, windowMs, burst } = terms
    this.#runtime = runtime
    this.#terms = terms
    this.#place = place
    this.#batch = `${place} takes ${name} ${limit} ${windowMs} ${burst}`
    this.#send = (asked, by) => this.#sendBatch(asked, by)
  }

  async take(unit: Unit, cost: number): Promise<Allowed | Denied> {
    const runtime = this.#runtime
    const by = runtime.server.info === null ? await learnedBy(unit) : undefined
    const state = `${unit.beginning}state`
    const batcher = runtime.batcher(this.#batch + unit.slotName, BATCHES, this.#send)
    const outcome = await batcher.addOne({ state, cost, outcome: null }, state.length, by)
    if (outcome instanceof Error) throw outcome
    return outcome
  }

  async #sendBatch(asked: readonly Asked[], by: number): Promise<Outcome[]> {
    await Promise.all(inRounds(asked).map((groups) => this.#sendRound(groups, by)))
    return asked.map(({ outcome }) => outcome as Outcome)
  }

  /** One call. Never rejects: an error becomes the outcome of its takes. */
  async #sendRound(groups: readonly Group[], by: number): Promise<void> {
    const { callIds, runner } = this.#runtime
    const { name, limit, windowMs, burst } = this.#terms
    const states = groups.map(({ state }) => state)
    const place = this.#runtime.server.info?.cluster ? (states[0] as string) : this.#place
    const slot = callIds.takeSlot(place)
    const { caller, call } = callIds.next(slot)
    // The suffix separates these call slots from those of the subject, in which its other calls run.
    const args = { caller: `${caller}t`, call: Number(call), name, limit, windowMs, burst, takes: groups }
    try {
      this.#deliver(groups, await runner.run(takeEach, states, args, { by }))
    } catch (error) {
      for (const { members } of groups) for (const asked of members) asked.outcome = error as Error
    } finally {
      callIds.giveBack(place, slot)
    }
  }

  #deliver(groups: readonly Group[], { nowUs, takes, refused }: TakeEachAnswer): void {
    for (const { at, error } of refused ?? []) {
      const refusal = toPeriluneError(new ServerReplyError(error), takeEach)
      for (const asked of groups[at]?.members ?? []) asked.outcome = refusal
    }
    for (const [at, { cost, members }] of groups.entries()) {
      const taken = takes[at] as TakenGroup
      for (const [nth, asked] of members.entries()) {
        asked.outcome ??= this.#outcome(nowUs, taken, cost, nth)
      }
    }
  }

  /** The outcome of the nth take of a group, counted from 0. */
  #outcome(nowUs: number, taken: TakenGroup, cost: number, nth: number): Allowed | Denied {
    const { granted, token, free, resetUs, waitUs } = taken
    if (nth >= granted) return onlyDenied(this.#terms, { nowUs, free, resetUs }, waitUs)
    // Units of later takes in the group were still free at the time of this one.
    const later = (granted - 1 - nth) * cost
    const { limit, windowMs } = this.#terms
    const sooner = later === 0 ? 0 : Math.floor((later * windowMs * 1000) / limit)
    return onlyAllowed(this.#terms, { nowUs, free: free + later, resetUs: resetUs - sooner }, token + nth)
  }
}

/** Asks what the server is. Resolves to the deadline of the call that needs to know. */
async function learnedBy(unit: Unit): Promise<number | undefined> {
  const trace: Trace = {}
  await unit.learnFor(trace)
  return trace.by
}

/** A call names a subject once: takes of another cost go into the next call, after the earlier ones. */
function inRounds(batch: readonly Asked[]): Group[][] {
  const rounds: Group[][] = []
  const newest = new Map<string, Group>()
  for (const asked of batch) {
    const { state, cost } = asked
    const known = newest.get(state)
    if (known?.cost === cost) {
      known.count = known.members.push(asked)
      continue
    }
    const round = known === undefined ? 0 : known.round + 1
    const group: Group = { state, cost, round, members: [asked], count: 1 }
    newest.set(state, group)
    ;(rounds[round] ??= []).push(group)
  }
  return rounds
}
