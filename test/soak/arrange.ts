// Brings the lines of all processes together: calls with their answers, and who saw what.

import type { Answer, AnswerTerms, Call, Left, Line, Role, Seen } from './history.ts'

/** A time in which the deployment may lose what it acknowledged, such as the seconds before a kill -9. */
export interface Window {
  fromUs: number
  toUs: number
  /** The feeds that it concerns. */
  feeds: readonly Role[]
}

/** A call and what became of it. */
export interface Operation {
  readonly by: string
  readonly op: Call['op']
  readonly feed: Role
  readonly messages: readonly string[]
  readonly token: number
  readonly calledAt: number
  /** Infinity when no answer came. */
  readonly answeredAt: number
  readonly outcome: Answer['outcome']
  readonly answer: AnswerTerms
}

export interface History {
  readonly operations: readonly Operation[]
  /** By message. */
  readonly appends: ReadonlyMap<string, Operation>
  readonly seen: ReadonlyMap<string, readonly Seen[]>
  readonly left: Record<Role, readonly Left[]>
  readonly broken: readonly string[]
  readonly windows: readonly Window[]
}

/** An answer within a window counts as unknown: its write may have been lost. */
export function arrange(lines: readonly Line[], windows: readonly Window[]): History {
  const answers = new Map<string, Answer>()
  for (const line of lines) if (line.kind === 'answer') answers.set(keyOf(line), line)
  const operations = lines
    .filter((line) => line.kind === 'call')
    .map((call) => toOperation(call, answers.get(keyOf(call)), windows))
  const left = lines.filter((line) => line.kind === 'left')
  return {
    operations,
    appends: new Map(
      operations.filter(({ op }) => op === 'append').map((append) => [append.messages[0] ?? '', append]),
    ),
    seen: groupBy(
      lines.filter((line) => line.kind === 'seen'),
      ({ by }) => by,
    ),
    left: {
      watched: left.filter(({ feed }) => feed === 'watched'),
      worked: left.filter(({ feed }) => feed === 'worked'),
    },
    broken: lines.filter((line) => line.kind === 'broken').map(({ what }) => what),
    windows,
  }
}

export function groupBy<Item, Key>(items: readonly Item[], keyOfItem: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOfItem(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

export function isWithin(windows: readonly Window[], feed: Role, at: number): boolean {
  return windows.some(({ fromUs, toUs, feeds }) => fromUs <= at && at <= toUs && feeds.includes(feed))
}

function toOperation(call: Call, answer: Answer | undefined, windows: readonly Window[]): Operation {
  const { by, op, feed, messages = [], token = 0, at } = call
  const common = { by, op, feed, messages, token, calledAt: at }
  if (answer === undefined) return { ...common, answeredAt: Infinity, outcome: 'unknown', answer: {} }
  const outcome = isWithin(windows, feed, answer.at) && answer.outcome === 'ok' ? 'unknown' : answer.outcome
  return { ...common, answeredAt: answer.at, outcome, answer }
}

function keyOf({ by, n }: { by: string; n: number }): string {
  return `${by} ${n}`
}
