// Extends the leases of this process: one timer for all of them, and one script call for all that share a
// slot. A lease is extended when a third of it has passed, so two more attempts fit before it ends.

import type { Question } from './belief.ts'
import { Clearings } from './clearings.ts'
import { type Extendable, extendTogether } from './extending.ts'
import { lookForSuspension, suspendedMs } from './suspended.ts'

export type { ExtendedLease, LeaseKind } from './extending.ts'

/** A lease, as the keeper sees it. Instants are of `performance.now()`. */
export interface Kept extends Extendable {
  /** Leases with the same name can be extended in one call. */
  readonly slotName: string
  /** `performance.now()` before it was asked for. */
  readonly askedAt: number
  /** When there is something to do. */
  readonly dueAt: number
  /** From when on it may be extended along with others. */
  readonly mayExtendAt: number
  /** How long to extend it now. */
  readonly wantedMs: number
  /** It is asked for this extension now; if that fails, another is tried later. */
  ask(leaseMs: number): Question
  /** Its unit was deleted. */
  noteCleared(): void
  /** Plans anew, for instance after a suspension of the machine. */
  replan(): void
  /** Ends the lease when its time is over. */
  expireIfOver(): void
  /** Its instance closes: the signal aborts with this cause. */
  stop(cause: Error): void
  /** Gives it back, at the latest after `ms`, where its holder may still do so himself. Never rejects. */
  giveBackWithin(ms: number): Promise<void>
}

const MOST_A_CALL = 500
/** How often it looks whether the machine was suspended; timers do not count that time either. */
const LOOK_MS = 1000

export class LeaseKeeper {
  /** Apart from those of jobs and messages, of which many keys that are cleared would forget the oldest. */
  readonly #clearings = new Clearings()
  readonly #leases = new Set<Kept>()
  #timer: NodeJS.Timeout | null = null
  #dueAt = Infinity
  #suspendedMs = suspendedMs()
  /** Why the instance closes; null: it does not. */
  #closedBecause: Error | null = null

  keep(lease: Kept): void {
    if (this.#closedBecause !== null) return this.#refuse(lease, this.#closedBecause)
    // Should the server know it nevertheless, it is not to hold for nobody.
    if (this.#clearings.since(lease.beginning, lease.askedAt)) return void lease.giveBackWithin(0)
    this.#leases.add(lease)
    this.#plan(lease.dueAt)
  }

  drop(lease: Kept): void {
    this.#leases.delete(lease)
  }

  /** One that was dropped was not given back after all. */
  watch(lease: Kept): void {
    if (this.#closedBecause !== null) return
    this.#leases.add(lease)
    this.#plan(lease.dueAt)
  }

  /** There may be something to do for this lease earlier than it said before. */
  replan(lease: Kept): void {
    if (this.#leases.has(lease)) this.#plan(lease.dueAt)
  }

  /** Rejects when the server does not answer, or refuses; a lease that it does not know any more is lost. */
  async extendNow(lease: Kept, leaseMs: number): Promise<void> {
    const extending = extendTogether([{ lease, question: lease.ask(leaseMs) }])
    this.replan(lease)
    const [error] = await extending
    this.replan(lease)
    if (error !== undefined) throw error
  }

  /** Runs what deletes a unit: the leases on it are lost that have been asked for by now. Rejects as `clear` does. */
  async clearing<Answer>(beginning: string, clear: () => Promise<Answer>): Promise<Answer> {
    const leases = this.#leasesOn(beginning)
    const answer = await this.#clearings.run(beginning, clear)
    for (const lease of leases) lease.noteCleared()
    for (const lease of this.#leasesOn(beginning)) {
      if (this.#clearings.since(beginning, lease.askedAt)) void lease.giveBackWithin(0)
    }
    return answer
  }

  /**
   * The instance closes: the signals of all leases abort with this cause. Then the leases are given back, at once, or within
   * `withinMs` by those who were told. Resolves when that is over; never rejects.
   */
  async close(cause: Error, withinMs: number): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#closedBecause = cause
    const leases = [...this.#leases]
    this.#leases.clear()
    for (const lease of leases) lease.stop(cause)
    await Promise.all(leases.map((lease) => lease.giveBackWithin(withinMs)))
  }

  /** Its grant came while the instance closed. */
  #refuse(lease: Kept, cause: Error): void {
    lease.stop(cause)
    void lease.giveBackWithin(0)
  }

  #leasesOn(beginning: string): Kept[] {
    return [...this.#leases].filter((lease) => lease.beginning === beginning)
  }

  #plan(at: number): void {
    if (at >= this.#dueAt) return
    this.#dueAt = at
    this.#sleep()
  }

  /** Never for long, so that the length of a lease is no length of a timer. */
  #sleep(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    const ms = Math.min(Math.max(0, this.#dueAt - performance.now()), LOOK_MS)
    // A lease must not keep a process alive that has nothing else to do.
    this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    this.#timer = null
    if (this.#wasSuspended()) for (const lease of this.#leases) lease.replan()
    else if (this.#leases.size > 0 && performance.now() < this.#dueAt) return this.#sleep()
    this.#dueAt = Infinity
    this.#tend()
  }

  #wasSuspended(): boolean {
    lookForSuspension()
    const ms = suspendedMs()
    if (ms === this.#suspendedMs) return false
    this.#suspendedMs = ms
    return true
  }

  #tend(): void {
    for (const lease of this.#leases) lease.expireIfOver()
    for (const group of this.#dueGroups()) this.#extendGroup(group)
    for (const lease of this.#leases) this.#plan(lease.dueAt)
  }

  /** What may go in one call: one structure, one slot. */
  #dueGroups(): Kept[][] {
    const now = performance.now()
    const groups = new Map<string, Kept[]>()
    for (const lease of this.#leases) {
      if (lease.mayExtendAt > now) continue
      const name = groupOf(lease)
      const group = groups.get(name) ?? []
      groups.set(name, group)
      group.push(lease)
    }
    return [...groups.values()].flatMap(inChunks)
  }

  #extendGroup(group: Kept[]): void {
    const asked = group.map((lease) => ({ lease, question: lease.ask(lease.wantedMs) }))
    // Those that could not be extended are tried again until they end, which their signals tell.
    void extendTogether(asked).finally(() => {
      for (const lease of group) this.replan(lease)
    })
  }
}

function groupOf({ kind, slotName, isExtendedAlone, beginning, token }: Kept): string {
  const group = `${kind.name} ${slotName}`
  return isExtendedAlone ? `${group} ${beginning} ${token}` : group
}

function inChunks(leases: Kept[]): Kept[][] {
  const chunks: Kept[][] = []
  for (let from = 0; from < leases.length; from += MOST_A_CALL)
    chunks.push(leases.slice(from, from + MOST_A_CALL))
  return chunks
}
