// The messages that each observer saw, compared with the final content of the feed.

import { type History, isWithin } from './arrange.ts'
import { isRenamed } from './check-contents.ts'
import { type Fault, fault } from './fault.ts'
import type { Left, Seen } from './history.ts'

/** Nothing is removed from the watched feed, so everybody must see all of it, once and in its order. */
export function checkObservers(history: History): Fault[] {
  const places = new Map(history.left.watched.map((line, place) => [nameOf(line), place]))
  const owners = new Map(history.left.watched.map(({ message, id }) => [id, message]))
  return [...history.seen].flatMap(([observer, seen]) => {
    const reused = seen.filter(({ message, id }) => (owners.get(id) ?? message) !== message)
    const faults = [...checkObserver(history, places, seen), ...fault('reused', reused.map(nameOf))]
    return faults.map((found) => ({ ...found, first: `${observer}: ${found.first}` }))
  })
}

function checkObserver(
  history: History,
  places: ReadonlyMap<string, number>,
  seen: readonly Seen[],
): Fault[] {
  const kept = seen.filter((line) => places.has(nameOf(line)))
  const gone = seen.filter(
    (line) => !places.has(nameOf(line)) && !isWithin(history.windows, 'watched', line.at),
  )
  const { twice, reordered, missed } = walk(kept, places)
  return [
    ...checkGone(history, gone),
    ...fault('invented', kept.filter((line) => line.at < calledAt(history, line)).map(nameOf)),
    ...fault('twice', twice),
    ...fault('reordered', reordered),
    ...fault('missed', missed),
    ...fault('false alarm', seen.filter((line) => isFalseAlarm(history, line)).map(nameOf)),
  ]
}

/** Messages that were shown and are not there in the end, at least not under that id. */
function checkGone({ appends, left }: History, gone: readonly Seen[]): Fault[] {
  const names = new Set(left.watched.map(({ message }) => message))
  const known = gone.filter(({ message }) => appends.get(message)?.feed === 'watched')
  const renamed = known.filter(
    (line) => isRenamed(line, appends.get(line.message)) || names.has(line.message),
  )
  return [
    ...fault('invented', gone.filter((line) => !known.includes(line)).map(nameOf)),
    ...fault('renamed', renamed.map(nameOf)),
    ...fault('lost', known.filter((line) => !renamed.includes(line)).map(nameOf)),
  ]
}

interface Walk {
  twice: string[]
  reordered: string[]
  /** Messages that were skipped without a report. */
  missed: string[]
}

function walk(kept: readonly Seen[], places: ReadonlyMap<string, number>): Walk {
  const accounted = new Set<number>()
  const found: Walk = { twice: [], reordered: [], missed: [] }
  let furthest = -1
  for (const line of kept) {
    const place = places.get(nameOf(line)) ?? 0
    if (accounted.has(place)) found.twice.push(nameOf(line))
    else if (place < furthest) found.reordered.push(nameOf(line))
    if (line.lostBefore !== null) for (let lost = furthest + 1; lost < place; lost++) accounted.add(lost)
    accounted.add(place)
    furthest = Math.max(furthest, place)
  }
  for (const [name, place] of places) if (!accounted.has(place)) found.missed.push(name)
  return found
}

function isFalseAlarm({ windows }: History, { lostBefore, at }: Seen): boolean {
  return (
    lostBefore !== null && !windows.some(({ fromUs, feeds }) => fromUs <= at && feeds.includes('watched'))
  )
}

function calledAt({ appends }: History, { message }: Seen): number {
  return appends.get(message)?.calledAt ?? 0
}

function nameOf({ message, id }: Seen | Left): string {
  return `${message} ${id}`
}
