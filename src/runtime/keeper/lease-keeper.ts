// Renews the leases of this process: one timer for all of them, and one script call for all that share a slot. A lease
// is renewed when a third of it has passed, so two more attempts fit before it expires.
//
//   keep ──► KEPT ──renewal due──► ASKED, with leases of its slot nearly due ──answered, or failed──► KEPT, replanned
//             │ ├── the machine was suspended: replanned
//             │ ├── its time is over: notified
//             │ └── its unit is deleted: notified; in doubt the server is asked
//             ├─ drop: it is released, or lost
//             └─ the instance closes: its signal aborts, and it is given back, as is every later grant
//
// Each lease itself determines when it is due (extension-plan.ts) and whether it is still held (belief.ts).

import { LinkedList, type ListPlace } from '../../linked-list.ts'
import type { ExtensionQuestion } from './belief.ts'
import { Clearings } from '../calls/clearings.ts'
import type { Trace } from '../calls/run.ts'
import { type AskedLease, type Extendable, extendTogether } from './extend-together.ts'
import { lookForSuspension, suspendedMs } from '../time/suspended.ts'
import { didNotHappen } from '../errors/outage.ts'
import { startTimer, type Timer } from '../time/timer.ts'

export type { ExtendedLease, LeaseKind } from './extend-together.ts'

/** A lease for the keeper. All times are of `performance.now()`. */
export interface KeeperLease extends Extendable {
  /** Leases with the same name can be extended in one call. */
  readonly slotName: string
  /** `performance.now()` before its request. */
  readonly askedAt: number
  /** When the keeper must act on it next. */
  readonly dueAt: number
  /** From when on it may be extended together with others. */
  readonly mayExtendAt: number
  /** The length for which to extend it now. */
  readonly wantedMs: number
  /** An extension is requested now; if it fails, another one is tried later. */
  ask(leaseMs: number): ExtensionQuestion
  /** Its unit was deleted, or it was ended by its token. */
  noteEnded(): void
  /** One of these may have happened, without an answer: nothing is believed until the server was asked. */
  doubt(): void
  /** Plans again, for instance after a suspension of the machine. */
  replan(): void
  /** Ends the lease when its time is over. */
  expireIfOver(): void
  /** The instance closes: the signal aborts with this cause. */
  stop(cause: Error): void
  /** Gives the lease back after at most `ms`, during which its holder may release it. Never rejects. */
  giveBackWithin(ms: number): Promise<void>
}

interface AskedByKeeper extends AskedLease {
  readonly lease: KeeperLease
}

/** The position of a lease in the list of all. */
export type KeptPlace = ListPlace<KeeperLease>

const MOST_A_CALL = 500
/** How often it checks for a suspension of the machine; timers do not count suspended time either. */
const LOOK_MS = 1000

export class LeaseKeeper {
  /** Separate from the clearings of jobs and messages, whose many keys would displace the oldest ones. */
  readonly #clearings: Clearings
  readonly #leases = new LinkedList<KeptPlace>()
  /** Those that may have others, by their names. */
  readonly #objects = new Map<string, Set<KeeperLease>>()
  #timer: Timer | null = null
  #dueAt = Infinity
  #suspendedMs = suspendedMs()
  /** The reason for closing; null while the instance is open. */
  #closedBecause: Error | null = null

  constructor(isCluster?: () => boolean) {
    this.#clearings = new Clearings(isCluster)
  }

  /** True when a grant that was requested then may have been deleted since: it is requested again. */
  mayBeCleared(beginning: string, askedAt: number): boolean {
    return this.#clearings.concerns(beginning, askedAt)
  }

  keep(place: KeptPlace): void {
    const { value: lease } = place
    if (this.#closedBecause !== null) return this.#refuse(lease, this.#closedBecause)
    this.#add(place)
    if (this.mayBeCleared(lease.beginning, lease.askedAt)) lease.doubt()
    this.#plan(lease.dueAt)
  }

  drop(place: KeptPlace): void {
    const { value: lease } = place
    this.#leases.delete(place)
    if (lease.kind.hasOthers !== true) return
    const objects = this.#objects.get(nameOf(lease))
    objects?.delete(lease)
    if (objects?.size === 0) this.#objects.delete(nameOf(lease))
  }

  /** A dropped lease could not be given back: watches it again. */
  watch(place: KeptPlace): void {
    if (this.#closedBecause !== null) return
    this.#add(place)
    this.#plan(place.value.dueAt)
  }

  /** The lease may need an action earlier than planned. */
  replan(place: KeptPlace): void {
    if (this.#leases.has(place)) this.#plan(place.value.dueAt)
  }

  /** Rejects when the server does not answer, or rejects; a lease that the server does not know is lost. */
  async extendNow(place: KeptPlace, leaseMs: number): Promise<void> {
    const asked = this.#ask(place.value, leaseMs)
    const extending = extendTogether(asked)
    this.#planAll(asked)
    const [error] = await extending
    this.#planAll(asked)
    if (error !== undefined) throw error
  }

  /** What this instance has of the lease with this token: several objects where its callers repeated an id. */
  find({ kind, beginning, token }: Pick<KeeperLease, 'kind' | 'beginning' | 'token'>): KeeperLease[] {
    const found: KeeperLease[] = []
    for (const { value: lease } of this.#leases) {
      if (lease.token === token && lease.beginning === beginning && lease.kind.name === kind.name)
        found.push(lease)
    }
    return found
  }

  /** Runs the deletion of a unit: leases on it that were requested by now are lost. Rejects as `clear` does. */
  async clearing<Answer>(beginning: string, clear: (trace: Trace) => Promise<Answer>): Promise<Answer> {
    const leases = this.#leasesOn(beginning)
    const answer = await this.#clearings.run([beginning], clear).catch((error: unknown) => {
      if (!didNotHappen(error)) for (const lease of this.#leasesOn(beginning)) lease.doubt()
      throw error
    })
    for (const lease of leases) lease.noteEnded()
    for (const lease of this.#leasesOn(beginning)) {
      if (this.#clearings.since(beginning, lease.askedAt)) void lease.giveBackWithin(0)
      else if (this.#clearings.mayBeSince(beginning, lease.askedAt)) lease.doubt()
    }
    return answer
  }

  /**
   * The instance closes: the signals of all leases abort with this cause. Then the leases are given back, at once or
   * within `withinMs` by their notified holders. Resolves when that is done; never rejects.
   */
  async close(cause: Error, withinMs: number): Promise<void> {
    this.#timer?.cancel()
    this.#timer = null
    this.#closedBecause = cause
    const leases = [...this.#leases]
    for (const place of leases) this.drop(place)
    for (const { value: lease } of leases) lease.stop(cause)
    await Promise.all(leases.map(({ value: lease }) => lease.giveBackWithin(withinMs)))
  }

  /** Other objects of the same lease. */
  othersOf(lease: KeeperLease): KeeperLease[] {
    return [...(this.#objects.get(nameOf(lease)) ?? [])].filter((other) => other !== lease)
  }

  #add(place: KeptPlace): void {
    const { value: lease } = place
    this.#leases.add(place)
    if (lease.kind.hasOthers !== true) return
    const objects = this.#objects.get(nameOf(lease)) ?? new Set()
    this.#objects.set(nameOf(lease), objects.add(lease))
  }

  /** Its grant arrived while the instance was closing. */
  #refuse(lease: KeeperLease, cause: Error): void {
    lease.stop(cause)
    void lease.giveBackWithin(0)
  }

  #leasesOn(beginning: string): KeeperLease[] {
    return [...this.#leases].map(({ value: lease }) => lease).filter((lease) => lease.beginning === beginning)
  }

  #plan(at: number): void {
    if (at >= this.#dueAt || this.#closedBecause !== null) return
    this.#dueAt = at
    this.#sleep()
  }

  /** Sleeps in limited steps, so that the length of a lease is not limited by timers. */
  #sleep(): void {
    this.#timer?.cancel()
    const ms = Math.min(Math.max(0, this.#dueAt - performance.now()), LOOK_MS)
    // A lease must not keep an otherwise idle process alive.
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

  /** Leases that fit in one call: one structure, one slot. */
  #dueGroups(): Iterable<KeeperLease[]> {
    const now = performance.now()
    const groups = new Map<string, KeeperLease[]>()
    for (const { value: lease } of this.#leases) {
      if (lease.mayExtendAt > now) continue
      const name = groupOf(lease)
      const group = groups.get(name) ?? []
      groups.set(name, group)
      group.push(lease)
    }
    return groups.values()
  }

  #extendGroup(group: KeeperLease[]): void {
    for (const asked of inChunks(this.#askAll(group))) {
      // Failed ones are retried until they expire, which their signals report.
      void extendTogether(asked).finally(() => this.#planAll(asked))
    }
  }

  /** Leaves out what was due, and was asked for with another object of its lease. */
  #askAll(group: readonly KeeperLease[]): AskedByKeeper[] {
    const now = performance.now()
    return group.flatMap((lease) => (lease.mayExtendAt > now ? [] : this.#ask(lease, lease.wantedMs)))
  }

  /** What is requested of a lease concerns all its objects: of two lengths, the server keeps the last. */
  #ask(lease: KeeperLease, leaseMs: number): AskedByKeeper[] {
    const others = lease.kind.hasOthers === true ? this.othersOf(lease) : []
    return [lease, ...others].map((each) => ({ lease: each, question: each.ask(leaseMs) }))
  }

  #planAll(asked: readonly AskedByKeeper[]): void {
    for (const { lease } of asked) this.#plan(lease.dueAt)
  }
}

function groupOf({ kind, slotName, isExtendedAlone, beginning, token }: KeeperLease): string {
  const group = `${kind.name} ${slotName}`
  return isExtendedAlone ? `${group} ${beginning} ${token}` : group
}

function nameOf({ beginning, token }: KeeperLease): string {
  return `${beginning}${token}`
}

function inChunks(asked: AskedByKeeper[]): AskedByKeeper[][] {
  const chunks: AskedByKeeper[][] = []
  for (let from = 0; from < asked.length; from += MOST_A_CALL)
    chunks.push(asked.slice(from, from + MOST_A_CALL))
  return chunks
}
