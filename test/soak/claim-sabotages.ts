// Corrupts a good history in one way each, to see that the checker reports exactly that: claims.

import { type Asked, asked, claimedAgain, found, leftIn, replace } from './find-lines.ts'
import type { Line } from './history.ts'
import type { HistorySabotage } from './order-sabotages.ts'

export const claimSabotages: readonly HistorySabotage[] = [
  { what: 'work is neither done nor in the feed', found: 'lost', spoil: loseWork },
  { what: 'a claim holds a message that was not sent', found: 'invented', spoil: claimStranger },
  { what: 'two claims of a message overlap by a microsecond', found: 'overlap', spoil: overlap },
  { what: 'two claims have the same token', found: 'token', spoil: reuseToken },
  { what: 'a later claim has a smaller token', found: 'token', spoil: lowerToken },
  { what: 'an ack is accepted after the claim has ended', found: 'stale', spoil: acceptStaleAck },
  { what: 'a message is done twice', found: 'twice', spoil: doTwice },
  { what: 'a message is in the feed though it is done', found: 'undone', spoil: keepDone },
  { what: 'a message is claimed after it was done', found: 'undone', spoil: claimDone },
]

function loseWork(lines: readonly Line[]): Line[] {
  const line = found(leftIn(lines, 'worked')[0])
  return lines.filter((each) => each !== line)
}

function claimStranger(lines: readonly Line[]): Line[] {
  const { answer } = found(asked(lines, 'claim')[0])
  return replace(
    lines,
    new Map([[answer, { ...answer, messages: [...(answer.messages ?? []), 'unsent.1'] }]]),
  )
}

function overlap(lines: readonly Line[]): Line[] {
  const { first, second } = claimedAgain(lines)
  return replace(lines, new Map([[first.answer, { ...first.answer, until: second.answer.at + 1 }]]))
}

function reuseToken(lines: readonly Line[]): Line[] {
  const [first, second] = distantClaims(lines)
  return retoken(lines, second, found(first.answer.token))
}

function lowerToken(lines: readonly Line[]): Line[] {
  const [, second] = distantClaims(lines)
  return retoken(lines, second, 1)
}

/** Two claims of different holders, the second requested after the answer to the first. */
function distantClaims(lines: readonly Line[]): [Asked, Asked] {
  const claims = asked(lines, 'claim')
  const first = found(claims[0])
  const second = claims.find(({ call }) => call.by !== first.call.by && call.at > first.answer.at)
  return [first, found(second)]
}

/** Gives a claim and all uses of it another token. */
function retoken(lines: readonly Line[], { answer }: Asked, token: number): Line[] {
  return lines.map((line) => {
    const isIt =
      line === answer || (line.kind === 'call' && line.by === answer.by && line.token === answer.token)
    return isIt ? { ...line, token } : line
  })
}

function acceptStaleAck(lines: readonly Line[]): Line[] {
  const grants = new Map(
    asked(lines, 'claim').map((claim) => [`${claim.call.by} ${claim.answer.token}`, claim]),
  )
  const extended = new Set(asked(lines, 'extend').map(({ call }) => `${call.by} ${call.token}`))
  const late = found(
    asked(lines, 'ack', 'lost').find(({ call }) => {
      const key = `${call.by} ${call.token}`
      return !extended.has(key) && call.at > (grants.get(key)?.answer.endsBy ?? Infinity)
    }),
  )
  const refused = late.call.messages ?? []
  return replace(lines, new Map([[late.answer, { ...late.answer, outcome: 'ok', refused }]]))
}

function doTwice(lines: readonly Line[]): Line[] {
  const { call, answer } = ackOf(lines)
  const again = call.n + 1_000_000
  return [...lines, { ...call, n: again }, { ...answer, n: again }]
}

function keepDone(lines: readonly Line[]): Line[] {
  const message = found(ackOf(lines).call.messages?.[0])
  const id = found(asked(lines, 'append').find(({ call }) => call.messages?.includes(message))?.answer.id)
  const before = leftIn(lines, 'worked').findLast((line) => Number(line.id) < Number(id))
  const kept: Line = { kind: 'left', feed: 'worked', message, id }
  if (before === undefined) return [kept, ...lines]
  return lines.flatMap((line) => (line === before ? [line, kept] : [line]))
}

/** Another claim, later than all, has the message. */
function claimDone(lines: readonly Line[]): Line[] {
  const messages = [found(ackOf(lines).call.messages?.[0])]
  const last = found(asked(lines, 'claim').at(-1))
  const n = last.call.n + 1_000_000
  const at = last.answer.at + 60_000_000
  const token = found(last.answer.token) + 60_000_000
  return [
    ...lines,
    { ...last.call, n, at },
    { ...last.answer, n, at: at + 1, token, messages, until: at + 2, endsBy: at + 2 },
  ]
}

/** An ack that removed all it asked for. */
function ackOf(lines: readonly Line[]): Asked {
  return found(asked(lines, 'ack').find(({ answer }) => answer.refused?.length === 0))
}
