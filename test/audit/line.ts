// The line of tickets that locks and semaphores have. See lua/shared/line.lua.

import type { Snapshot } from './snapshot.ts'

const TICKET = /^\S+ \S \d+ \d \d+ .*$/s

/** `lastTicket`: according to the state; 0: there are no waiters. */
export function lineFaults(unit: Snapshot, part: string, lastTicket: number): string[] {
  const tickets = [...unit.scores(part)]
  const ids = tickets.map(([text]) => text.split(' ')[0])
  return [
    ...(lastTicket === 0 && tickets.length > 0
      ? [`${tickets.length} stand in line, and the state says none`]
      : []),
    ...tickets.filter(([text]) => !TICKET.test(text)).map(([text]) => `ticket '${text}' is unreadable`),
    ...tickets
      .filter(([, number]) => number >= lastTicket + 1)
      .map(([text]) => `ticket '${text}' is newer than the newest`),
    ...(new Set(ids).size < ids.length ? ['an attempt stands twice in line'] : []),
  ]
}
