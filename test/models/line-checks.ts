// What must be true of a lock or a semaphore after each call of a history, in words.

import { type Attempt, believes } from './line-attempts.ts'
import type { Letter, Outcome } from './line-unit.ts'
import type { LineView } from './line-view.ts'

export interface Moment {
  readonly nowMs: number
  readonly attempts: readonly Attempt[]
  readonly before: LineView
  readonly after: LineView
}

export interface Call {
  readonly name: string
  /** The attempt that it concerns; empty: none. */
  readonly id: string
  readonly outcome: Outcome
  /** Whether its process is alive and listens. */
  readonly isReached: (id: string) => boolean
}

export function faultsAt(moment: Moment): string[] {
  return [
    ...moment.after.lasting.map((part) => `${part} never expires`),
    ...beliefFaults(moment),
    ...exclusionFaults(moment),
    ...limitFaults(moment),
  ]
}

export function faultsOfCall(moment: Moment, call: Call): string[] {
  return [...answerFaults(moment, call), ...placeFaults(moment), ...ticketFaults(moment, call)]
}

/** Who believes that it holds is a holder in the stored state, with the same token, and at least for as long. */
function beliefFaults({ nowMs, attempts, after }: Moment): string[] {
  return attempts
    .filter((each) => believes(each, nowMs))
    .filter(({ id, token, untilMs }) => {
      const holder = after.holders.get(id)
      return holder?.token !== token || holder.endsAtMs < untilMs
    })
    .map(({ id, token, untilMs }) => `${id} believes to hold ${token} until ${untilMs}, and does not`)
}

function exclusionFaults({ nowMs, attempts, after }: Moment): string[] {
  if (after.limit !== null) return []
  const holding = attempts.filter((each) => believes(each, nowMs))
  const isAlone = holding.length < 2 || holding.every(({ mode }) => mode === 'shared')
  return isAlone ? [] : [`two holders: ${holding.map(({ id, mode }) => `${id} ${mode}`).join(', ')}`]
}

/** The limit may be lowered below what is held; nothing is granted then. */
function limitFaults({ before, after }: Moment): string[] {
  if (after.limit === null || newHolders(before, after).length === 0) return []
  const held = [...after.holders.values()].reduce((sum, { weight }) => sum + weight, 0)
  return held > after.limit ? [`${held} are held of ${after.limit}`] : []
}

function answerFaults({ after, before }: Moment, { id, name, outcome }: Call): string[] {
  const [status] = outcome.answer
  const stands = after.tickets.some((ticket) => ticket.id === id) || after.called === id
  if (status === 'granted' && !after.holders.has(id))
    return [`${id} has the answer that it holds, and does not`]
  if (status === 'queued' && !stands) return [`${id} has the answer that it waits, and does not`]
  const isNew = after.holders.has(id) && !before.holders.has(id)
  if (outcome.refusal !== '' && name.startsWith('acquire') && isNew) return [`${id} was refused, and holds`]
  return []
}

/** No attempt is granted before those who stood in line before it, and still do. */
function placeFaults({ attempts, before, after }: Moment): string[] {
  const standing = new Set(after.tickets.map(({ id }) => id))
  return newHolders(before, after).flatMap((id) => {
    if (attempts.find((each) => each.id === id)?.mode === 'barging') return []
    const place = before.tickets.findIndex((ticket) => ticket.id === id)
    const ahead = place === -1 ? before.tickets : before.tickets.slice(0, place)
    const passed = ahead.filter((ticket) => standing.has(ticket.id) && ticket.id !== id)
    return passed.map((ticket) => `${id} has passed ${ticket.id}`)
  })
}

/** A ticket of a process that can be reached leaves the line with a letter that calls it. */
function ticketFaults({ before, after }: Moment, { id: own, name, outcome, isReached }: Call): string[] {
  if (name === 'clear') return []
  const standing = new Set(after.tickets.map(({ id }) => id))
  return before.tickets
    .filter(({ id, text }) => !standing.has(id) && id !== own && isReached(id) && text.split(' ')[3] === '1')
    .filter(({ id }) => !after.holders.has(id) && !outcome.letters.some((letter) => calls(letter, id)))
    .map(({ id }) => `the ticket of ${id} is gone, and its process was not notified`)
}

function calls({ id, text }: Letter, of: string): boolean {
  return id === of && /^(come|granted) /.test(text)
}

function newHolders(before: LineView, after: LineView): string[] {
  return [...after.holders.keys()].filter((id) => !before.holders.has(id))
}
