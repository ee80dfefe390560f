// The holder of each message at each time, and what the holders could still do.

import { groupBy, type History, type Operation } from './arrange.ts'
import { doneBy } from './check-contents.ts'
import { type Fault, fault } from './fault.ts'
import { realTimeBreaches } from './real-time.ts'

export function checkClaims(history: History): Fault[] {
  const claims = history.operations.filter(({ op, outcome }) => op === 'claim' && outcome === 'ok')
  return [
    ...fault(
      'invented',
      claims.flatMap((claim) => strangers(claim, history)),
    ),
    ...fault('twice', claims.filter(({ answer }) => repeats(answer.messages)).map(tell)),
    ...fault('token', checkTokens(claims)),
    ...fault('overlap', findOverlaps(claims, history.operations)),
    ...fault('stale', findStale(claims, history.operations)),
    ...fault('undone', findUndone(claims, history)),
  ]
}

/** A time during which a holder believed that a message was its own. */
interface Hold {
  message: string
  claim: Operation
  from: number
  to: number
}

function checkTokens(claims: readonly Operation[]): string[] {
  const byToken = claims.toSorted((left, right) => tokenOf(left) - tokenOf(right))
  const again = byToken.filter((claim, at) => at > 0 && tokenOf(claim) === tokenOf(byToken[at - 1]))
  return [...again, ...realTimeBreaches(byToken)].map(tell)
}

function findOverlaps(claims: readonly Operation[], operations: readonly Operation[]): string[] {
  const own = groupBy(operations, holderOf)
  const holds = claims.flatMap((claim) => holdsOf(claim, own.get(holderOf(claim)) ?? []))
  return [...groupBy(holds, ({ message }) => message).values()].flatMap(overlapsIn)
}

function overlapsIn(holds: readonly Hold[]): string[] {
  const inTime = holds.toSorted((left, right) => left.from - right.from)
  return inTime.flatMap((hold, at) => {
    const before = inTime.slice(0, at).find(({ claim, to }) => claim !== hold.claim && to > hold.from)
    if (before === undefined) return []
    return [
      `${hold.message} for ${(before.to - hold.from).toFixed(0)} us: ${tell(before.claim)}, ${tell(hold.claim)}`,
    ]
  })
}

/**
 * From each answer that granted it until its lease was over or the holder began to give it up. A later answer
 * made no process believe anything.
 */
function holdsOf(claim: Operation, own: readonly Operation[]): Hold[] {
  const grants = [claim, ...own.filter(({ op, outcome }) => op === 'extend' && outcome === 'ok')]
  return (claim.answer.messages ?? []).flatMap((message) => {
    const endings = own.filter(({ op, messages }) => gaveUp(op) && messages.includes(message))
    const givenUpAt = Math.min(...endings.map(({ calledAt }) => calledAt))
    const holds = grants.map(({ answeredAt, answer }) => ({
      message,
      claim,
      from: answeredAt,
      to: Math.min(answer.until ?? 0, givenUpAt),
    }))
    return holds.filter(({ from, to }) => from < to)
  })
}

function gaveUp(op: Operation['op']): boolean {
  return op === 'ack' || op === 'release'
}

function findStale(claims: readonly Operation[], operations: readonly Operation[]): string[] {
  const own = groupBy(operations, holderOf)
  return claims.flatMap((claim) => {
    const uses = own.get(holderOf(claim)) ?? []
    return uses.filter((use) => use.outcome === 'ok' && hasEnded(claim, uses, use.calledAt)).map(tell)
  })
}

/** Whether a claim had certainly ended: so says the server's own lease, counted from the latest answer. */
function hasEnded(claim: Operation, uses: readonly Operation[], at: number): boolean {
  const extensions = uses.filter(({ op, calledAt }) => op === 'extend' && calledAt < at)
  const ends = [claim, ...extensions].map(({ outcome, answer }) => {
    if (outcome === 'unknown') return Infinity
    return outcome === 'ok' ? (answer.endsBy ?? 0) : 0
  })
  return at > Math.max(...ends)
}

function findUndone(claims: readonly Operation[], history: History): string[] {
  const done = doneBy(history)
  return claims.flatMap((claim) =>
    (claim.answer.messages ?? []).filter((message) =>
      done.get(message)?.some(({ answeredAt }) => answeredAt < claim.calledAt),
    ),
  )
}

function strangers(claim: Operation, { appends }: History): string[] {
  return (claim.answer.messages ?? []).filter((message) => {
    const append = appends.get(message)
    return append?.feed !== 'worked' || append.outcome === 'failed' || append.calledAt > claim.answeredAt
  })
}

function repeats(messages: readonly string[] = []): boolean {
  return new Set(messages).size !== messages.length
}

/** A token alone does not name a claim where tokens are used twice. */
function holderOf({ op, by, token, answer }: Operation): string {
  return `${by} ${op === 'claim' ? answer.token : token}`
}

function tokenOf(claim: Operation | undefined): number {
  return claim?.answer.token ?? 0
}

function tell({ op, by, token, answer }: Operation): string {
  return `${op} by ${by}, token ${token || answer.token}`
}
