// Claims by hand from all partitions, which are asked in turn; whoever waits is called by any of them.

import { Ears, longestSleepMs } from '../../runtime/subscriptions/hearing.ts'
import { type Opening, openWithin, rest, unlessAborted } from '../../runtime/time/in-time.ts'
import {
  type AskedAll,
  type Asking,
  InTurn,
  isSoon,
  PATIENCE_MS,
  SILENT_RECHECK_MS,
} from '../../runtime/time/in-turn.ts'
import { lastWord } from '../../runtime/calls/last-word.ts'
import { closed } from '../../runtime/calls/runner.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import { toWaitMs, type Waiting } from '../../runtime/waiting/wait.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { type ClaimTerms, giveBackIfClosed, tellAcked, toClaimedJobs } from './claim.ts'
import { isBehindOthers, leaveInTheEnd } from './exchange.ts'
import { type LentJobs, toLentJob } from '../detached/lent-jobs.ts'
import { onlyFitting } from './misfits.ts'
import { anyOf, type Listening, listenOn } from './partition-letters.ts'
import { Settler, toAck } from './settler.ts'
import type { Source } from '../source/source.ts'

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }
/** Behind payloads with which they reach this no other partition is asked for jobs; what one gives has no more. */
const MOST_BYTES = 4 * 1024 * 1024

interface Asked {
  readonly jobs: ClaimedJob[]
  /** When the first of the leases ends, by the server's clock. */
  readonly endsAtMs: number
  /** When to look again at the latest; 0: it need not be. */
  readonly recheckMs: number
  /** Of the payloads. */
  readonly bytes: number
}

interface Turn {
  /** Who is to be called; empty: nobody. */
  readonly worker: string
  readonly done: readonly ClaimedJob[]
  /** It is asked again as long as there is nothing. */
  readonly waits: boolean
  readonly signal: AbortSignal | undefined
}

interface Stand {
  readonly id: string
  readonly opening: Opening<Listening>
  readonly endsAt: number
  readonly signal?: AbortSignal | undefined
}

export class PartitionClaims {
  readonly #sources: readonly Source[]
  readonly #inTurn: InTurn<Source>

  constructor(sources: readonly Source[]) {
    this.#sources = sources
    this.#inTurn = new InTurn(sources, (sources[0] as Source).unit.runtime.runner.deadlineMs)
  }

  /** Resolves to none when there was none for `wait`; acks those that are done first. Throws the signal's reason. */
  async claim(terms: ClaimTerms, waiting: Waiting, done: readonly ClaimedJob[]): Promise<ClaimedJob[]> {
    const { jobs } = await this.#claim(terms, waiting, done)
    return jobs
  }

  /** As `claim`, for somebody else. Throws the signal's reason. */
  async lend(terms: ClaimTerms, waiting: Waiting): Promise<LentJobs> {
    const { jobs, endsAtMs } = await this.#claim(terms, waiting, [])
    return { jobs: jobs.map(toLentJob), leaseMs: terms.leaseMs, expiresAtMs: endsAtMs }
  }

  async #claim(terms: ClaimTerms, waiting: Waiting, done: readonly ClaimedJob[]): Promise<Asked> {
    const waitMs = toWaitMs(waiting)
    const { signal } = waiting
    signal?.throwIfAborted()
    if (this.#sources[0]?.unit.runtime.runner.closed) throw closed()
    const asked = await this.#askInTurn(terms, { worker: '', done, waits: waitMs > 0, signal })
    if (asked.jobs.length > 0 || waitMs === 0) return asked
    const endsAt = performance.now() + waitMs
    const id = this.#sources[0]?.unit.runtime.mailbox.newId() ?? ''
    const opening = await this.#listen(id, endsAt, signal)
    try {
      return await this.#askOrSleep(terms, { id, opening, endsAt, signal })
    } finally {
      opening.close()
      await this.#leave(id, signal)
    }
  }

  async #askOrSleep(terms: ClaimTerms, { id, opening, endsAt, signal }: Stand): Promise<Asked> {
    const { deadlines } = (this.#sources[0] as Source).unit.runtime.runner
    for (;;) {
      // Before it asks: what is told from here on is heard.
      const posts = opening.now?.posts ?? null
      const asked = await this.#askInTurn(terms, { worker: id, done: [], waits: true, signal })
      const { jobs, recheckMs } = asked
      const leftMs = Math.ceil(endsAt - performance.now())
      if (jobs.length > 0 || leftMs <= 0) return asked
      const longest = longestSleepMs(posts && new Ears(posts), RECHECKS)
      const ms = Math.min(leftMs, longest, recheckMs === 0 ? Infinity : recheckMs)
      await (posts === null ? rest(ms, deadlines, signal) : anyOf(posts, ms, signal))
    }
  }

  /** Rejects with the signal's reason: jobs that were claimed for a caller who has gone are for others. */
  #askInTurn(terms: ClaimTerms, turn: Turn): Promise<Asked> {
    return unlessAborted(this.#askAll(terms, turn), turn.signal, ({ jobs }) => giveBack(jobs))
  }

  /**
   * A partition that does not answer does not keep the others from it; where none gives any, it is told, but to one who waits for the
   * others. Acks come first: where one of them fails, that is told, and what was claimed with them is given back.
   */
  async #askAll(terms: ClaimTerms, { worker, done, waits, signal }: Turn): Promise<Asked> {
    const round = new Round(terms, worker, signal)
    const parts = this.#inTurn.next()
    const acksFor = (source: Source): ClaimedJob[] => done.filter((job) => job.partition === source.partition)
    const acking = parts.filter((source) => acksFor(source).length > 0)
    if (acking.length > 0) {
      await round.throwFailure(await this.#inTurn.askAll(acking, round.asking(acksFor)))
    }
    const others = parts.filter((source) => !acking.includes(source))
    return round.end(await this.#inTurn.askAll(others, { ...round.asking(), comesAgain: waits }))
  }

  /** What comes late where listening takes long, and never where it is forbidden. Partitions may share a channel. */
  async #listen(id: string, endsAt: number, signal: AbortSignal | undefined): Promise<Opening<Listening>> {
    const told = await Promise.all(this.#sources.map(({ unit }) => learnTold(unit)))
    const channels = [...new Set(told.map(({ channel }) => channel))]
    const { mailbox } = (this.#sources[0] as Source).unit.runtime
    const leftMs = Math.min(endsAt - performance.now(), PATIENCE_MS)
    return openWithin(listenOn(channels, mailbox, id), leftMs, signal)
  }

  /** Nobody must be called in vain. Nobody waits for a silent partition. */
  #leave(worker: string, signal: AbortSignal | undefined): Promise<void> {
    const leaving = Promise.all(this.#sources.map((source) => leaveInTheEnd(source, worker)))
    return lastWord(isSoon(leaving), (this.#sources[0] as Source).unit.runtime.runner, signal)
  }
}

/** What comes of asking all partitions once. */
class Round {
  readonly #terms: ClaimTerms
  readonly #worker: string
  readonly #signal: AbortSignal | undefined
  readonly #jobs: ClaimedJob[] = []
  readonly #rechecks: number[] = []
  readonly #ends: number[] = []
  #bytes = 0

  constructor(terms: ClaimTerms, worker: string, signal: AbortSignal | undefined) {
    this.#terms = terms
    this.#worker = worker
    this.#signal = signal
  }

  /** `acksFor`: of whom every answer is needed. */
  asking(acksFor?: (source: Source) => ClaimedJob[]): Asking<Source, Asked> {
    return {
      ask: (source, by) => {
        const acks = acksFor?.(source) ?? []
        const limit = this.#limit
        if (this.#signal?.aborted || (limit === 0 && acks.length === 0)) return null
        const turn = { worker: this.#worker, done: acks, signal: this.#signal }
        return ask(source, { ...this.#terms, limit }, turn, by)
      },
      take: (asked) => this.#take(asked),
      giveBack: ({ jobs }) => giveBack(jobs),
      hasEnough: () => acksFor === undefined && this.#jobs.length > 0,
    }
  }

  /** Throws what went wrong, once all that was claimed is given back. */
  async throwFailure({ failures }: AskedAll): Promise<void> {
    if (failures.length === 0) return
    await giveBack(this.#jobs)
    throw failures[0]
  }

  end({ failures, isWhole }: AskedAll): Asked {
    if (this.#jobs.length === 0 && failures.length > 0) throw failures[0]
    const ends = this.#jobs.length === 0 ? this.#ends : this.#jobs.map(({ expiresAtMs }) => expiresAtMs)
    const rechecks = isWhole ? this.#rechecks : [...this.#rechecks, SILENT_RECHECK_MS]
    const recheckMs = rechecks.length === 0 ? 0 : Math.min(...rechecks)
    return { jobs: this.#jobs, endsAtMs: Math.min(...ends), recheckMs, bytes: this.#bytes }
  }

  get #limit(): number {
    return this.#bytes < MOST_BYTES ? this.#terms.limit - this.#jobs.length : 0
  }

  /** Where a silent partition was asked for as many, too, there may be more than are wanted. */
  async #take({ jobs, endsAtMs, recheckMs, bytes }: Asked): Promise<void> {
    const wanted = jobs.slice(0, this.#limit)
    this.#jobs.push(...wanted)
    this.#bytes += bytes
    this.#ends.push(endsAtMs)
    if (recheckMs > 0) this.#rechecks.push(recheckMs)
    await giveBack(jobs.slice(wanted.length))
  }
}

async function giveBack(jobs: readonly ClaimedJob[]): Promise<void> {
  await Promise.allSettled(jobs.map((job) => job.release()))
}

/**
 * Asks again as long as all that came does not fit, for as long as a call may take: then the others are asked first. `by`: when the first
 * call settles.
 */
async function ask(
  source: Source,
  terms: ClaimTerms,
  { worker, done, signal }: Omit<Turn, 'waits'>,
  by: number,
): Promise<Asked> {
  let acking = done.filter(({ isClaimed }) => isClaimed)
  const looksUntil = performance.now() + source.unit.runtime.runner.deadlineMs
  const settler = new Settler(source)
  let first: number | undefined = by
  for (;;) {
    const wanted = {
      ...terms,
      acks: acking.map((job) => toAck(job, undefined, source)),
      worker: terms.limit > 0 ? worker : '',
    }
    const exchanged = await settler.exchange(wanted, first).catch((error: unknown) => {
      for (const job of acking) job.noteAckFailed(error)
      throw error
    })
    tellAcked(acking, exchanged.refused)
    acking = []
    first = undefined
    const claimed = toClaimedJobs(source, settler, exchanged)
    await giveBackIfClosed(source, claimed)
    const jobs = await onlyFitting(source, claimed, signal)
    const { endsAtMs, recheckMs } = exchanged
    if (jobs.length > 0 || (claimed.length === 0 && !isBehindOthers(exchanged))) {
      const bytes = exchanged.jobs.reduce((sum, { payload }) => sum + payload.length, 0)
      return { jobs, endsAtMs, recheckMs, bytes }
    }
    if (performance.now() >= looksUntil) return { jobs, endsAtMs, recheckMs: 1, bytes: 0 }
  }
}
