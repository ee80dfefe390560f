// The final content of the feeds, compared with appends and acks.

import type { History, Operation } from './arrange.ts'
import { type Fault, fault } from './fault.ts'
import type { Left, Role } from './history.ts'
import { realTimeBreaches } from './real-time.ts'

export function checkContents(history: History): Fault[] {
  const done = doneBy(history)
  const acknowledged = [...history.appends.values()].filter(({ outcome }) => outcome === 'ok')
  const stillThere = history.left.worked.map(({ message }) => message).filter((message) => done.has(message))
  const doneTwice = [...done].filter(([, acks]) => acks.length > 1).map(([message]) => message)
  return [
    ...checkFeed(history, 'watched'),
    ...checkFeed(history, 'worked'),
    ...fault('lost', withoutTrace(history, acknowledged)),
    ...fault('undone', stillThere),
    ...fault('twice', doneTwice),
  ]
}

/** Messages that an acknowledged ack removed, with the acks that did. */
export function doneBy({ operations }: History): Map<string, Operation[]> {
  const done = new Map<string, Operation[]>()
  for (const ack of operations) {
    if (ack.op !== 'ack' || ack.outcome !== 'ok') continue
    for (const message of ack.messages) {
      if (!ack.answer.refused?.includes(message)) done.set(message, [...(done.get(message) ?? []), ack])
    }
  }
  return done
}

function checkFeed({ appends, left }: History, feed: Role): Fault[] {
  const entries = left[feed]
  const invented = entries.filter(({ message }) => !canBeIn(feed, appends.get(message)))
  const order = entries.flatMap(({ message }) => appends.get(message) ?? [])
  return [
    ...fault('invented', invented.map(tell)),
    ...fault('twice', repeated(entries).map(tell)),
    ...fault('renamed', entries.filter((entry) => isRenamed(entry, appends.get(entry.message))).map(tell)),
    ...fault(
      'fallen',
      entries.filter(({ id }, at) => Number(id) <= Number(entries[at - 1]?.id ?? 0)).map(tell),
    ),
    ...fault(
      'real time',
      realTimeBreaches(order).map(({ messages }) => messages.join(' ')),
    ),
  ]
}

function canBeIn(feed: Role, append: Operation | undefined): boolean {
  return append !== undefined && append.feed === feed && append.outcome !== 'failed'
}

export function isRenamed({ id }: { id: string }, append: Operation | undefined): boolean {
  return append?.outcome === 'ok' && append.answer.id !== id
}

function repeated(entries: readonly Left[]): Left[] {
  const names = new Set<string>()
  return entries.filter(({ message }) => names.size === names.add(message).size)
}

/** The messages of these appends that are neither there nor done, nor perhaps done by an ack without answer. */
export function withoutTrace(history: History, appends: readonly Operation[]): string[] {
  const { operations, left } = history
  const perhapsDone = operations.filter(({ op, outcome }) => op === 'ack' && outcome === 'unknown')
  const accounted = new Set([
    ...left.watched.map(({ message }) => message),
    ...left.worked.map(({ message }) => message),
    ...doneBy(history).keys(),
    ...perhapsDone.flatMap(({ messages }) => messages),
  ])
  return appends.map(({ messages: [message = ''] }) => message).filter((message) => !accounted.has(message))
}

function tell({ message, id }: { message: string; id: string }): string {
  return `${message} as ${id}`
}
