// What is stored of a lock or a semaphore: who holds it, and who stands in line, in order.

import type { Snapshot } from '../audit/snapshot.ts'

export interface Holder {
  readonly token: string
  readonly endsAtMs: number
  readonly weight: number
}

export interface Ticket {
  readonly id: string
  readonly text: string
}

export interface LineView {
  /** Those whose lease has not ended, by the id of their attempt. */
  readonly holders: ReadonlyMap<string, Holder>
  readonly tickets: readonly Ticket[]
  /** The weight that may be held at once; null: one may write, or many may read. */
  readonly limit: number | null
  /** The attempt that was notified that it is next, and whose ticket was removed; of locks only. */
  readonly called: string
  /** Keys that would never expire. */
  readonly lasting: readonly string[]
}

export type Kind = 'lock' | 'semaphore'

export const PARTS: Readonly<Record<Kind, readonly string[]>> = {
  lock: ['state', 'queue', 'readers', 'reader-ids'],
  semaphore: ['state', 'queue', 'permits', 'ids'],
}

export function viewOf(kind: Kind, unit: Snapshot): LineView {
  const tickets = [...unit.scores('queue').keys()].map((text) => ({ id: text.split(' ')[0] ?? '', text }))
  const lasting = unit.parts.filter((part) => unit.leftMs(part) === -1)
  return { tickets, lasting, ...(kind === 'lock' ? lockOf(unit) : semaphoreOf(unit)) }
}

type Held = Pick<LineView, 'holders' | 'limit' | 'called'>

/** See lua/shared/lock/state.lua. */
function lockOf(unit: Snapshot): Held {
  const [, mode = '-', token = '0', endsAt = '0', , called = '', id = ''] = fieldsOf(unit)
  const shared = { called: called.split('/')[1] ?? '', limit: null }
  if (mode === 's') return { ...shared, holders: entriesOf(unit, 'readers', 'reader-ids', READER) }
  const endsAtMs = Number(endsAt)
  const isHeld = mode === 'x' && endsAtMs > unit.nowMs
  return { ...shared, holders: new Map(isHeld ? [[id, { token, endsAtMs, weight: 1 }]] : []) }
}

/** See lua/shared/semaphore/permits.lua. */
function semaphoreOf(unit: Snapshot): Held {
  const [, limit = '0'] = fieldsOf(unit)
  return { called: '', limit: Number(limit), holders: entriesOf(unit, 'permits', 'ids', PERMIT) }
}

const READER = /^(?<id>\S*) /
const PERMIT = /^(?<weight>\d+) (?<id>\S+) /

function entriesOf(unit: Snapshot, ends: string, ids: string, form: RegExp): Map<string, Holder> {
  const entries = unit.hash(ids)
  const holders = new Map<string, Holder>()
  for (const [token, endsAtMs] of unit.scores(ends)) {
    const { id, weight = '1' } = form.exec(String(entries.get(token)))?.groups ?? {}
    if (id !== undefined && endsAtMs > unit.nowMs) {
      holders.set(id, { token, endsAtMs, weight: Number(weight) })
    }
  }
  return holders
}

function fieldsOf(unit: Snapshot): string[] {
  return unit.text('state')?.split(' ') ?? []
}
