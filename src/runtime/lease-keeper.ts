// Extends the leases of this process: one timer for all of them, and one script call for all that share a
// slot. A lease is extended when a third of it has passed, so two more attempts fit before it ends.

import { endsAtOf } from './grant.ts'

/** How the leases of one structure are extended. */
export interface LeaseKind {
  /** Leases in one slot whose kinds have the same name are extended in one call. */
  readonly name: string
  /** When each of the leases ends now by the server's clock; 0: it is lost. All of them share a slot. */
  extend(leases: readonly ExtendedLease[]): Promise<{ nowMs: number; endsAtMs: readonly number[] }>
}

export interface ExtendedLease {
  /** What the keys of its unit begin with. */
  readonly beginning: string
  readonly token: number
  readonly leaseMs: number
}

/** A lease, as the keeper sees it. Instants are of `performance.now()`. */
export interface Kept {
  readonly kind: LeaseKind
  readonly beginning: string
  /** Leases with the same name can be extended in one call. */
  readonly slotName: string
  readonly token: number
  /** When there is something to do. */
  readonly dueAt: number
  /** From when on it may be extended along with others. */
  readonly mayExtendAt: number
  /** How long to extend it now. */
  readonly wantedMs: number
  /** An extension is under way. */
  putOff(): void
  /** Until when the lease was extended, by the server's clock and by ours; 0: it is lost. */
  noteExtended(expiresAtMs: number, endsAt: number): void
  /** Ends the lease when its time is over. */
  expireIfOver(): void
  /** Its instance closes: the signal aborts with this cause. */
  stop(cause: Error): void
  /** Gives it back, at the latest after `ms`, where its holder may still do so himself. Never rejects. */
  giveBackWithin(ms: number): Promise<void>
}

const MOST_A_CALL = 500

export class LeaseKeeper {
  readonly #leases = new Set<Kept>()
  #timer: NodeJS.Timeout | null = null
  #timerAt = Infinity
  /** Why the instance closes; null: it does not. */
  #closedBecause: Error | null = null

  keep(lease: Kept): void {
    if (this.#closedBecause !== null) return this.#refuse(lease, this.#closedBecause)
    this.#leases.add(lease)
    this.#plan(lease.dueAt)
  }

  drop(lease: Kept): void {
    this.#leases.delete(lease)
  }

  /** Rejects when the server does not answer; a lease that it does not know any more is lost. */
  extendNow(lease: Kept, leaseMs: number): Promise<void> {
    return extendAll(lease.kind, [lease], () => leaseMs)
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

  #plan(at: number): void {
    if (at >= this.#timerAt) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timerAt = at
    // A lease must not keep a process alive that has nothing else to do.
    this.#timer = setTimeout(() => this.#tend(), Math.max(0, at - performance.now())).unref()
  }

  #tend(): void {
    this.#timer = null
    this.#timerAt = Infinity
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
      const name = `${lease.kind.name} ${lease.slotName}`
      const group = groups.get(name) ?? []
      groups.set(name, group)
      group.push(lease)
    }
    return [...groups.values()].flatMap(inChunks)
  }

  #extendGroup(group: Kept[]): void {
    for (const lease of group) lease.putOff()
    const [{ kind }] = group as [Kept]
    // Those that could not be extended are tried again until they end, which their signals tell.
    extendAll(kind, group, (lease) => lease.wantedMs)
      .catch(() => undefined)
      .finally(() => {
        for (const lease of group) if (this.#leases.has(lease)) this.#plan(lease.dueAt)
      })
  }
}

async function extendAll(
  kind: LeaseKind,
  leases: readonly Kept[],
  leaseMsOf: (lease: Kept) => number,
): Promise<void> {
  const asked = leases.map((lease) => ({
    beginning: lease.beginning,
    token: lease.token,
    leaseMs: leaseMsOf(lease),
  }))
  const askedAt = performance.now()
  const { nowMs, endsAtMs } = await kind.extend(asked)
  for (const [at, lease] of leases.entries()) {
    const expiresAtMs = endsAtMs[at] ?? 0
    lease.noteExtended(expiresAtMs, endsAtOf(askedAt, expiresAtMs - nowMs))
  }
}

function inChunks(leases: Kept[]): Kept[][] {
  const chunks: Kept[][] = []
  for (let from = 0; from < leases.length; from += MOST_A_CALL)
    chunks.push(leases.slice(from, from + MOST_A_CALL))
  return chunks
}
