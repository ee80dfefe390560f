// Extends the leases of this process: one timer for all of them, and one script call for all that share a
// slot. A lease is extended when a third of it has passed, so two more attempts fit before it ends.
//
//   keep ──► KEPT ──it is due──► ASKED, along with those of its slot that are nearly due ──answered, or failed──► KEPT, planned anew
//             │ ├── the machine was suspended: planned anew
//             │ ├── its time is over: told so
//             │ └── its unit is deleted: told so; what was granted meanwhile is given back
//             ├─ drop: it is released, or lost
//             └─ the instance closes: its signal aborts, and it is given back, as everything is that comes after that
//
// When each is due is its own affair (extension-plan.ts), and so is what it believes (belief.ts).

import { LinkedList, type ListPlace } from '../../linked-list.ts'
import type { ExtensionQuestion } from './belief.ts'
import { Clearings } from '../calls/clearings.ts'
import { type Extendable, extendTogether } from './extend-together.ts'
import { lookForSuspension, suspendedMs } from '../time/suspended.ts'
import { startTimer, type Timer } from '../time/timer.ts'

export type { ExtendedLease, LeaseKind } from './extend-together.ts'

/** A lease, as the keeper sees it. Instants are of `performance.now()`. */
export interface KeeperLease extends Extendable {
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
  ask(leaseMs: number): ExtensionQuestion
  /** Its unit was deleted, or it was ended by its token. */
  noteEnded(): void
  /** Plans anew, for instance after a suspension of the machine. */
  replan(): void
  /** Ends the lease when its time is over. */
  expireIfOver(): void
  /** Its instance closes: the signal aborts with this cause. */
  stop(cause: Error): void
  /** Gives it back, at the latest after `ms`, where its holder may still do so himself. Never rejects. */
  giveBackWithin(ms: number): Promise<void>
}

/** Where a lease is in the list of all. */
export type KeptPlace = ListPlace<KeeperLease>

const MOST_A_CALL = 500
/** How often it looks whether the machine was suspended; timers do not count that time either. */
const LOOK_MS = 1000

export class LeaseKeeper {
  /** Apart from those of jobs and messages, of which many keys that are cleared would forget the oldest. */
  readonly #clearings = new Clearings()
  readonly #leases = new LinkedList<KeptPlace>()
  #timer: Timer | null = null
  #dueAt = Infinity
  #suspendedMs = suspendedMs()
  /** Why the instance closes; null: it does not. */
  #closedBecause: Error | null = null

  keep(place: KeptPlace): void {
    const { value: lease } = place
    if (this.#closedBecause !== null) return this.#refuse(lease, this.#closedBecause)
    // Should the server know it nevertheless, it is not to hold for nobody.
    if (this.#clearings.since(lease.beginning, lease.askedAt)) return void lease.giveBackWithin(0)
    this.#leases.add(place)
    this.#plan(lease.dueAt)
  }

  drop(place: KeptPlace): void {
    this.#leases.delete(place)
  }

  /** One that was dropped was not given back after all. */
  watch(place: KeptPlace): void {
    if (this.#closedBecause !== null) return
    this.#leases.add(place)
    this.#plan(place.value.dueAt)
  }

  /** There may be something to do for this lease earlier than it said before. */
  replan(place: KeptPlace): void {
    if (this.#leases.has(place)) this.#plan(place.value.dueAt)
  }

  /** Rejects when the server does not answer, or refuses; a lease that it does not know any more is lost. */
  async extendNow(place: KeptPlace, leaseMs: number): Promise<void> {
    const { value: lease } = place
    const extending = extendTogether([{ lease, question: lease.ask(leaseMs) }])
    this.replan(place)
    const [error] = await extending
    this.replan(place)
    if (error !== undefined) throw error
  }

  /** The lease of this token, where this process has it. */
  find({ kind, beginning, token }: Pick<KeeperLease, 'kind' | 'beginning' | 'token'>): KeeperLease | null {
    for (const { value: lease } of this.#leases) {
      if (lease.token === token && lease.beginning === beginning && lease.kind.name === kind.name)
        return lease
    }
    return null
  }

  /** Runs what deletes a unit: the leases on it are lost that have been asked for by now. Rejects as `clear` does. */
  async clearing<Answer>(beginning: string, clear: () => Promise<Answer>): Promise<Answer> {
    const leases = this.#leasesOn(beginning)
    const answer = await this.#clearings.run(beginning, clear)
    for (const lease of leases) lease.noteEnded()
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
    this.#timer?.cancel()
    this.#timer = null
    this.#closedBecause = cause
    const leases = [...this.#leases]
    for (const place of leases) this.#leases.delete(place)
    for (const { value: lease } of leases) lease.stop(cause)
    await Promise.all(leases.map(({ value: lease }) => lease.giveBackWithin(withinMs)))
  }

  /** Its grant came while the instance closed. */
  #refuse(lease: KeeperLease, cause: Error): void {
    lease.stop(cause)
    void lease.giveBackWithin(0)
  }

  #leasesOn(beginning: string): KeeperLease[] {
    return [...this.#leases].map(({ value: lease }) => lease).filter((lease) => lease.beginning === beginning)
  }

  #plan(at: number): void {
    if (at >= this.#dueAt) return
    this.#dueAt = at
    this.#sleep()
  }

  /** Never for long, so that the length of a lease is no length of a timer. */
  #sleep(): void {
    this.#timer?.cancel()
    const ms = Math.min(Math.max(0, this.#dueAt - performance.now()), LOOK_MS)
    // A lease must not keep a process alive that has nothing else to do.
    this.#timer = startTimer(() => this.#look(), ms).unref()
  }

  #look(): void {
    this.#timer = null
    if (this.#wasSuspended()) for (const { value: lease } of this.#leases) lease.replan()
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
    for (const { value: lease } of this.#leases) lease.expireIfOver()
    for (const group of this.#dueGroups()) this.#extendGroup(group)
    for (const { value: lease } of this.#leases) this.#plan(lease.dueAt)
  }

  /** What may go in one call: one structure, one slot. */
  #dueGroups(): KeptPlace[][] {
    const now = performance.now()
    const groups = new Map<string, KeptPlace[]>()
    for (const place of this.#leases) {
      if (place.value.mayExtendAt > now) continue
      const name = groupOf(place.value)
      const group = groups.get(name) ?? []
      groups.set(name, group)
      group.push(place)
    }
    return [...groups.values()].flatMap(inChunks)
  }

  #extendGroup(group: KeptPlace[]): void {
    const asked = group.map(({ value: lease }) => ({ lease, question: lease.ask(lease.wantedMs) }))
    // Those that could not be extended are tried again until they end, which their signals tell.
    void extendTogether(asked).finally(() => {
      for (const place of group) this.replan(place)
    })
  }
}

function groupOf({ kind, slotName, isExtendedAlone, beginning, token }: KeeperLease): string {
  const group = `${kind.name} ${slotName}`
  return isExtendedAlone ? `${group} ${beginning} ${token}` : group
}

function inChunks(leases: KeptPlace[]): KeptPlace[][] {
  const chunks: KeptPlace[][] = []
  for (let from = 0; from < leases.length; from += MOST_A_CALL)
    chunks.push(leases.slice(from, from + MOST_A_CALL))
  return chunks
}
