// Extends leases of one structure and slot in one call; a lease that cannot be extended must not affect the others.

import type { ExtensionAnswer, ExtensionQuestion } from './belief.ts'
import type { Trace } from '../calls/run.ts'
import { DriverError, type PeriluneError } from '../errors/errors.ts'

/** How the leases of one structure are extended. */
export interface LeaseKind {
  /** Leases in one slot whose kinds have the same name are extended in one call. */
  readonly name: string
  /** A lease may have several objects in one instance: its callers repeated an id. */
  readonly hasOthers?: boolean
  /** All of them share a slot. */
  extend(leases: readonly ExtendedLease[], trace?: Trace): Promise<ExtendedLeases>
}

export interface ExtendedLease {
  /** The beginning of the keys of its unit. */
  readonly beginning: string
  readonly token: number
  readonly leaseMs: number
}

export interface ExtendedLeases {
  readonly nowMs: number
  /** The new end of each lease by the server's clock; 0: the lease is lost. */
  readonly endsAtMs: readonly number[]
  /** By index: leases that could not be read, and why; these are unchanged. Default: none. */
  readonly refused?: ReadonlyMap<number, PeriluneError>
}

/** A lease that can be extended. */
export interface Extendable {
  readonly kind: LeaseKind
  readonly beginning: string
  readonly token: number
  /** Set when it was rejected in a call of its own: it must not block others. */
  isExtendedAlone: boolean
  /** The server's answer; `expiresAtMs` 0: the lease is lost. */
  noteExtended(question: ExtensionQuestion, extension: ExtensionAnswer): void
  /** The extension was rejected, or not answered. */
  noteNotExtended(question: ExtensionQuestion, error: unknown): void
}

export interface AskedLease {
  readonly lease: Extendable
  readonly question: ExtensionQuestion
}

/**
 * Extends leases in one call. If one lease makes the server reject all of them (its key may be forbidden), the list is
 * halved: the others are extended, and the bad lease is found in few calls. Resolves to the errors of leases that could
 * not be extended; each lease is notified of its own.
 */
export async function extendTogether(asked: readonly AskedLease[]): Promise<unknown[]> {
  const [{ lease: one }] = asked as [AskedLease]
  try {
    return noteAnswer(asked, await one.kind.extend(asked.map(toExtendedLease)))
  } catch (error) {
    if (asked.length > 1 && isRefusal(error)) return extendHalves(asked)
    if (isRefusal(error)) one.isExtendedAlone = true
    return asked.map((each) => noteError(each, error))
  }
}

async function extendHalves(asked: readonly AskedLease[]): Promise<unknown[]> {
  const half = Math.ceil(asked.length / 2)
  const halves = [asked.slice(0, half), asked.slice(half)]
  return (await Promise.all(halves.map(extendTogether))).flat()
}

function toExtendedLease({ lease: { beginning, token }, question: { leaseMs } }: AskedLease): ExtendedLease {
  return { beginning, token, leaseMs }
}

function noteAnswer(asked: readonly AskedLease[], { nowMs, endsAtMs, refused }: ExtendedLeases): unknown[] {
  const errors: unknown[] = []
  for (const [at, each] of asked.entries()) {
    const error = refused?.get(at)
    if (error !== undefined) errors.push(noteError(each, error))
    else each.lease.noteExtended(each.question, { nowMs, expiresAtMs: endsAtMs[at] ?? 0 })
  }
  return errors
}

function noteError({ lease, question }: AskedLease, error: unknown): unknown {
  lease.noteNotExtended(question, error)
  return error
}

/** True for an error of this call only: without the bad lease a call may succeed. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof DriverError)) return false
  return error.code === 'forbidden' || error.code === 'unknown-layout' || error.code === 'script-failed'
}
