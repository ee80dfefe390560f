// Corrupts a good history in one way each, to see that the checker reports exactly that: the order of a feed.

import type { Rule } from './fault.ts'
import { appendOf, found, isKind, leftIn, middleOf, middleSeen, replace, seenByOne } from './find-lines.ts'
import type { Line } from './history.ts'

export interface HistorySabotage {
  readonly what: string
  /** The only rule that it breaks. */
  readonly found: Rule
  /** A spoilt copy. Throws when the history has nothing to spoil in this way. */
  spoil(lines: readonly Line[]): Line[]
}

const HOUR_US = 3_600_000_000

export const orderSabotages: readonly HistorySabotage[] = [
  { what: 'an acknowledged message is nowhere', found: 'lost', spoil: loseMessage },
  { what: 'there is a message that was not sent', found: 'invented', spoil: inventMessage },
  { what: 'an append that failed took effect', found: 'invented', spoil: failAppend },
  { what: 'an observer saw a message before it was sent', found: 'invented', spoil: seeTooEarly },
  { what: 'a message is twice in the feed and was seen twice', found: 'twice', spoil: doubleMessage },
  { what: 'one observer saw a message twice', found: 'twice', spoil: seeTwice },
  { what: 'a message has another id than the answer to its append', found: 'renamed', spoil: renameMessage },
  { what: 'an observer was shown another id', found: 'renamed', spoil: seeOtherId },
  { what: 'ids fall along the feed', found: 'fallen', spoil: swapIds },
  { what: 'one observer did not see a message', found: 'missed', spoil: (lines) => skip(lines, 1) },
  {
    what: 'one observer skipped ten messages in silence',
    found: 'missed',
    spoil: (lines) => skip(lines, 10),
  },
  { what: 'an observer got a report of a gap where there was none', found: 'false alarm', spoil: warn },
  {
    what: 'an observer got a report of ten missed messages, though nothing was lost',
    found: 'false alarm',
    spoil: skipAndWarn,
  },
  { what: 'one observer saw two messages in the other order', found: 'reordered', spoil: seeSwapped },
  {
    what: 'a message stands behind one that was sent after its answer',
    found: 'real time',
    spoil: breakRealTime,
  },
  {
    what: 'a process met an unhandled rejection',
    found: 'broken',
    spoil: (lines) => [...lines, { kind: 'broken', what: 'unhandled' }],
  },
]

function loseMessage(lines: readonly Line[]): Line[] {
  const { message } = middleOf(lines)
  return lines.filter((line) => !('message' in line && line.message === message))
}

function inventMessage(lines: readonly Line[]): Line[] {
  const { message } = middleOf(lines)
  const { call, answer } = appendOf(lines, message)
  return lines.filter((line) => line !== call && line !== answer)
}

function failAppend(lines: readonly Line[]): Line[] {
  const { answer } = appendOf(lines, middleOf(lines).message)
  return replace(lines, new Map([[answer, { ...answer, outcome: 'failed' }]]))
}

function seeTooEarly(lines: readonly Line[]): Line[] {
  const line = middleSeen(lines)
  return replace(lines, new Map([[line, { ...line, at: appendOf(lines, line.message).call.at - 1 }]]))
}

function doubleMessage(lines: readonly Line[]): Line[] {
  const { message, id } = middleOf(lines)
  const { answer } = appendOf(lines, message)
  const again = String(Number(id) + 0.5)
  const unsure = lines.filter((line) => line !== answer)
  return unsure.flatMap((line) => {
    const isIt = 'message' in line && line.message === message
    return isIt ? [line, { ...line, id: again }] : [line]
  })
}

function seeTwice(lines: readonly Line[]): Line[] {
  const line = middleSeen(lines)
  return lines.flatMap((each) => (each === line ? [each, each] : [each]))
}

function renameMessage(lines: readonly Line[]): Line[] {
  const { answer } = appendOf(lines, middleOf(lines).message)
  return replace(lines, new Map([[answer, { ...answer, id: '1' }]]))
}

function seeOtherId(lines: readonly Line[]): Line[] {
  const line = middleSeen(lines)
  const twin = { ...line, id: '1' }
  return lines.flatMap((each) => (each === line ? [each, twin] : [each]))
}

/** Everybody agrees about the ids, but those of two neighbours are exchanged. */
function swapIds(lines: readonly Line[]): Line[] {
  const left = leftIn(lines, 'watched')
  const at = Math.floor(left.length / 2)
  const [one, two] = [found(left[at]), found(left[at + 1])]
  const ids = new Map([
    [one.message, two.id],
    [two.message, one.id],
  ])
  const answers = new Map([one, two].map(({ message }) => [appendOf(lines, message).answer as Line, message]))
  return lines.map((line) => {
    const message = 'message' in line ? line.message : answers.get(line)
    const id = message === undefined ? undefined : ids.get(message)
    return id === undefined ? line : ({ ...line, id } as Line)
  })
}

function skip(lines: readonly Line[], count: number): Line[] {
  const seen = seenByOne(lines)
  const skipped = new Set<Line>(seen.slice(seen.length >> 1, (seen.length >> 1) + count))
  return lines.filter((line) => !skipped.has(line))
}

function warn(lines: readonly Line[]): Line[] {
  const line = middleSeen(lines)
  return replace(lines, new Map([[line, { ...line, lostBefore: 'gap' }]]))
}

function skipAndWarn(lines: readonly Line[]): Line[] {
  const seen = seenByOne(lines)
  const next = found(seen[(seen.length >> 1) + 10])
  return replace(skip(lines, 10), new Map([[next, { ...next, lostBefore: 'gap' }]]))
}

function seeSwapped(lines: readonly Line[]): Line[] {
  const seen = seenByOne(lines)
  const at = seen.length >> 1
  const [one, two] = [found(seen[at]), found(seen[at + 1])]
  const swapped: Line[] = [
    { ...two, at: two.at },
    { ...one, at: two.at },
  ]
  return lines.flatMap((line) => (line === one ? swapped : line === two ? [] : [line]))
}

/** Its append, so the times say, was over before anything else began. */
function breakRealTime(lines: readonly Line[]): Line[] {
  const { call, answer } = appendOf(lines, middleOf(lines).message)
  const start =
    Math.min(
      ...lines
        .filter(isKind('call'))
        .slice(0, 1000)
        .map(({ at }) => at),
    ) - HOUR_US
  return replace(
    lines,
    new Map<Line, Line>([
      [call, { ...call, at: start }],
      [answer, { ...answer, at: start + 1 }],
    ]),
  )
}
