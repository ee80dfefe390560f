// Finds lines in a recorded history, and changes them in a copy.

import type { Answer, Call, Left, Line, Role, Seen } from './history.ts'

export interface Asked {
  call: Call
  answer: Answer
}

export function isKind<Kind extends Line['kind']>(kind: Kind): (line: Line) => line is Line & { kind: Kind } {
  return (line): line is Line & { kind: Kind } => line.kind === kind
}

export function leftIn(lines: readonly Line[], role: Role): Left[] {
  return lines.filter(isKind('left')).filter(({ feed }) => feed === role)
}

/** A message in the middle of the watched feed. */
export function middleOf(lines: readonly Line[]): Left {
  const left = leftIn(lines, 'watched')
  return found(left[Math.floor(left.length / 2)])
}

/** The lines of one of the observers. */
export function seenByOne(lines: readonly Line[]): Seen[] {
  const seen = lines.filter(isKind('seen'))
  return seen.filter(({ by }) => by === seen[0]?.by)
}

export function middleSeen(lines: readonly Line[]): Seen {
  const seen = seenByOne(lines)
  return found(seen[Math.floor(seen.length / 2)])
}

/** Calls of one kind with their answers, in the order of the answers. */
export function asked(lines: readonly Line[], op: Call['op'], outcome: Answer['outcome'] = 'ok'): Asked[] {
  const calls = new Map(
    lines.filter(isKind('call')).map((call): [string, Call] => [`${call.by} ${call.n}`, call]),
  )
  const answers = lines.filter(isKind('answer')).filter((answer) => answer.outcome === outcome)
  const all = answers.map((answer) => ({ answer, call: found(calls.get(`${answer.by} ${answer.n}`)) }))
  return all.filter(({ call }) => call.op === op).toSorted((left, right) => left.answer.at - right.answer.at)
}

export function appendOf(lines: readonly Line[], message: string): Asked {
  return found(asked(lines, 'append').find(({ call }) => call.messages?.includes(message)))
}

/** Later claims of the same message with the first, for a message that was claimed more than once. */
export function claimedAgain(lines: readonly Line[]): { message: string; first: Asked; second: Asked } {
  const holders = new Map<string, Asked>()
  for (const second of asked(lines, 'claim')) {
    for (const message of second.answer.messages ?? []) {
      const first = holders.get(message)
      if (first !== undefined && isUntouched(lines, first) && isHeld(second))
        return { message, first, second }
      holders.set(message, second)
    }
  }
  throw new Error('no message of this history was claimed twice')
}

/** A claim whose answer came before its lease was over. */
function isHeld({ answer }: Asked): boolean {
  return (answer.until ?? 0) > answer.at
}

/** A claim whose holder did nothing with it. */
function isUntouched(lines: readonly Line[], { answer }: Asked): boolean {
  return !lines.some((line) => line.kind === 'call' && line.by === answer.by && line.token === answer.token)
}

export function replace(lines: readonly Line[], changes: ReadonlyMap<Line, Line>): Line[] {
  return lines.map((line) => changes.get(line) ?? line)
}

export function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('this history has nothing of the kind')
  return value
}
