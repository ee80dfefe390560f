// The checker of the soak of the queue sees what it is there for: a good history, spoilt in one way each.

import type { Job, QueueInspection } from 'perilune'
import { expect, test } from 'vitest'
import { checkQueue } from '../soak/queue/check-queue.ts'
import type { End } from '../soak/queue/end.ts'
import type { QueueRule } from '../soak/queue/fault.ts'
import type { QueueHistory } from '../soak/queue/history.ts'
import type { Cancelled, Entry, Line, Outcome } from '../soak/queue/log.ts'
import type { Loss } from '../soak/queue/losses.ts'
import type { Plan } from '../soak/queue/plan.ts'

const main = { queue: 'main' } as const

interface Attempt {
  ref: string
  token: number
  attempt: number
  /** By the server's clock. */
  atMs: number
  by?: string
}

/** A log as it comes about: each line later than the one before. */
class Lines {
  readonly all: Line[] = []

  add(entry: Entry, by = 'p0', atMs = (this.all.at(-1)?.atMs ?? 0) + 10): this {
    this.all.push({ ...entry, by, n: this.all.length, atMs })
    return this
  }

  enqueue(ref: string): this {
    this.add({ ...main, kind: 'asked', ref, dependsOn: [], onDependencyFailure: '' })
    return this.add({ ...main, kind: 'enqueued', ref, id: `id of ${ref}` })
  }

  begin({ ref, token, attempt, atMs, by }: Attempt): this {
    const terms = { id: `id of ${ref}`, maxAttempts: 2, group: `of ${ref}`, endsAtMs: atMs + 100 }
    return this.add({ ...main, kind: 'began', ref, token, attempt, ...terms }, by, atMs)
  }

  end(ref: string, token: number, outcome: Outcome): this {
    this.add({ ...main, kind: 'ending', ref, token, throws: outcome !== 'acked' })
    return this.add({ ...main, kind: 'settled', ref, token, outcome })
  }
}

function job(ref: string, token: number, kind: string | null): Job {
  const failure = kind === null ? null : { atMs: 0, kind, message: '' }
  const payload: Plan = { ref, ms: 0, fails: kind === null ? 0 : 2, poison: false, ends: 'ack' }
  return { payload, token, failure, attempts: 2, maxAttempts: 2 } as Partial<Job> as Job
}

const COUNTS = { enqueued: 2, acked: 1, failed: 1, retried: 1, reclaimed: 1, cancelled: 0 }
const NOTHING = { ready: 0, scheduled: 0, blocked: 0, claimed: 0, outbox: 0 }

/** Two jobs: p1 was killed while it worked on the first; the second one failed twice. */
function goodHistory(): QueueHistory {
  const { all } = new Lines()
    .enqueue('a')
    .enqueue('b')
    .begin({ ref: 'a', token: 1, attempt: 1, atMs: 100, by: 'p1' })
    .begin({ ref: 'b', token: 2, attempt: 1, atMs: 110 })
    .end('b', 2, 'retried')
    .begin({ ref: 'a', token: 3, attempt: 2, atMs: 200 })
    .begin({ ref: 'b', token: 4, attempt: 2, atMs: 210 })
    .end('a', 3, 'acked')
    .end('b', 4, 'dead')
  const inspection = { ...COUNTS, ...NOTHING } as Partial<QueueInspection> as QueueInspection
  const end: End = { inspection, dead: [job('b', 4, 'PlannedError')], done: [job('a', 3, null)], left: [] }
  return { lines: all, killed: new Set(['p1']), ends: [end], limits: { queue: 2, group: 1 } }
}

const rulesBroken = (history: QueueHistory): QueueRule[] => checkQueue(history).faults.map(({ rule }) => rule)

type Change = (line: Line) => Partial<Extract<Line, { kind: 'began' }>> | null

/** Changes each line as it says; null: the line goes. */
function change(how: Change): QueueHistory {
  const history = goodHistory()
  const lines = history.lines.flatMap((line) => {
    const changed = how(line)
    return changed === null ? [] : [{ ...line, ...changed } as Line]
  })
  return { ...history, lines }
}

function changeEnd(how: (end: End) => Partial<End>): QueueHistory {
  const history = goodHistory()
  return { ...history, ends: history.ends.map((end) => ({ ...end, ...how(end) })) }
}

function withCounts(counts: Partial<QueueInspection>): QueueHistory {
  return changeEnd(({ inspection }) => ({ inspection: { ...inspection, ...counts } }))
}

const began = (line: Line, token: number): boolean => line.kind === 'began' && line.token === token

const spoilt: readonly [what: string, found: QueueRule, history: QueueHistory][] = [
  ['a job that is neither done nor dead', 'lost', changeEnd(() => ({ done: [] }))],
  [
    'a job without an enqueue',
    'invented',
    change((line) => (line.kind === 'asked' && line.ref === 'a' ? null : {})),
  ],
  ['two jobs for one enqueue', 'twice', change((line) => (began(line, 3) ? { id: 'another' } : {}))],
  ['an attempt that is counted twice', 'attempts', change((line) => (began(line, 3) ? { attempt: 1 } : {}))],
  ['an attempt too many', 'attempts', change((line) => (began(line, 3) ? { attempt: 3 } : {}))],
  [
    'a job that died before its last attempt',
    'attempts',
    changeEnd(({ dead }) => ({ dead: dead.map((each) => ({ ...each, attempts: 1 })) })),
  ],
  [
    'a token that was given twice',
    'token',
    change((line) => ('token' in line && line.token === 4 ? { token: 3 } : {})),
  ],
  ['tokens that fall', 'token', change((line) => ('token' in line && line.token === 3 ? { token: 0 } : {}))],
  ['a job that was begun again while it had its lease', 'overlap', change(leaseFor(150))],
  ['an attempt without an answer', 'untold', change((line) => (isSettled(line, 3) ? null : {}))],
  ['one job of a group too many', 'limit', change((line) => (line.kind === 'began' ? { group: 'g' } : {}))],
  ['counts that do not add up', 'counters', withCounts({ acked: 2 })],
  ['fewer attempts than jobs have', 'counters', withCounts({ reclaimed: 0 })],
  ['a job that no worker handles', 'counters', withCounts({ blocked: 1 })],
  ['what is left of a job', 'left', changeEnd(() => ({ left: ['jobs 5'] }))],
  [
    'a job that another process has done',
    'stale',
    changeEnd(({ done }) => ({ done: (done ?? []).map((each) => ({ ...each, token: 1 })) })),
  ],
]

function isSettled(line: Line, token: number): boolean {
  return line.kind === 'settled' && line.token === token
}

function leaseFor(ms: number): Change {
  return (line) => (line.kind === 'began' ? { endsAtMs: line.atMs + ms } : {})
}

test('the checker finds nothing in a good history', () => {
  expect(checkQueue(goodHistory()).faults).toEqual([])
})

test.each(spoilt)('the checker finds %s', (_, found, history) => {
  expect(rulesBroken(history)).toContain(found)
})

test('the checker does not count an attempt that began when its lease was over', () => {
  const late: Change = (line) =>
    line.kind === 'began' ? { group: 'g', ...(line.token === 4 ? { endsAtMs: line.atMs } : {}) } : {}
  const inTime: Change = (line) => (line.kind === 'began' ? { group: 'g' } : {})

  expect(rulesBroken(change(inTime))).toEqual(['limit'])
  const first = change((line) => (began(line, 1) ? null : late(line)))
  expect(rulesBroken(first)).not.toContain('limit')
})

test('the checker finds an accepted outcome though another attempt had begun', () => {
  const history = goodHistory()
  const settled = (outcome: Outcome): Line[] => new Lines().end('a', 1, outcome).all
  const late = (outcome: Outcome): QueueHistory => ({
    ...history,
    lines: [...history.lines, ...settled(outcome).map((line) => ({ ...line, by: 'p1', atMs: 300 }))],
  })

  expect(rulesBroken(late('lost'))).toEqual([])
  expect(rulesBroken(late('retried'))).toContain('stale')
  expect(rulesBroken(late('acked'))).toContain('stale')
})

test('the checker finds errors that a process should never have met', () => {
  const history = goodHistory()
  const lines = [...history.lines, ...new Lines().add({ kind: 'broken', what: 'unhandled' }).all]

  expect(rulesBroken({ ...history, lines })).toEqual(['broken'])
})

/** The server forgot everything about the first job after its enqueue, and the job is done again. */
function forgotten(windows: readonly Loss[], token = 5): QueueHistory {
  const history = goodHistory()
  const { all } = new Lines()
    .begin({ ref: 'a', token, attempt: 1, atMs: 1000 })
    .end('a', token, 'retried')
    .begin({ ref: 'a', token: 6, attempt: 2, atMs: 1100 })
    .end('a', 6, 'acked')
  const done = [job('a', 6, null)]
  const ends = changeEnd(({ inspection }) => ({
    done,
    inspection: { ...inspection, retried: 2, reclaimed: 0 },
  }))
  return {
    ...history,
    ends: ends.ends,
    lines: [...history.lines, ...all],
    losses: { windows, leaseMs: 100 },
  }
}

const EARLIER = { fromMs: 100, toMs: 109 }
const LATER = { fromMs: 200, toMs: 900 }

test('the checker forgives that a server loses the writes of a window, and nothing else', () => {
  expect(rulesBroken(forgotten([EARLIER, LATER]))).toEqual([])

  for (const windows of [[], [EARLIER], [LATER]]) {
    expect(rulesBroken(forgotten(windows)), JSON.stringify(windows)).not.toEqual([])
  }
})

test('the checker forgives the loss of a job that was enqueued in a window, and of no other', () => {
  const rulesOf = (atMs: number): QueueRule[] => {
    const { lines, ...history } = goodHistory()
    const { all } = new Lines()
      .add({ ...main, kind: 'asked', ref: 'c', dependsOn: [], onDependencyFailure: '' })
      .add({ ...main, kind: 'enqueued', ref: 'c', id: 'id of c' }, 'p0', atMs)
    const losses = { windows: [{ fromMs: 5000, toMs: 6000 }], leaseMs: 100 }
    return rulesBroken({ ...history, lines: [...lines, ...all], losses })
  }

  expect(rulesOf(5000)).toEqual([])
  expect(rulesOf(4999)).toEqual(['lost', 'counters'])
})

test('the checker forgives no token that is granted again, not even after a loss', () => {
  expect(rulesBroken(forgotten([EARLIER, LATER], 3))).toContain('token')
})

test('the checker forgives no id that is assigned again, not even after a loss', () => {
  const history = forgotten([EARLIER, LATER])
  const { all } = new Lines().enqueue('a')
  const again = all.map((line) => ({ ...line, ref: 'c', atMs: LATER.fromMs }))

  expect(rulesBroken({ ...history, lines: [...history.lines, ...again] })).toEqual(['twice'])
})

const FAMILY: readonly [
  what: string,
  atPlace: number,
  dependencyDies: boolean,
  onDependencyFailure: string,
  found: boolean,
][] = [
  ['a dependent that begins after its dependency was done', 1, false, 'fail', false],
  ['a dependent that begins before its dependency was done', 0, false, 'fail', true],
  ['a dependent that runs after its dependency has died, as it says', 1, true, 'run', false],
  ['a dependent that runs though its dependency has died', 1, true, 'fail', true],
]

test.each(FAMILY)('the checker judges %s', (_, place, dependencyDies, onDependencyFailure, found) => {
  const dependency = new Lines().enqueue('p').begin({ ref: 'p', token: 1, attempt: 2, atMs: 100 })
  const dependent = (lines: Lines): Lines =>
    lines.add({
      queue: 'after',
      kind: 'began',
      ref: 'c',
      token: 1,
      attempt: 2,
      id: 'c',
      maxAttempts: 2,
      group: '',
      endsAtMs: 900,
    })
  dependency.add({ queue: 'after', kind: 'asked', ref: 'c', dependsOn: ['p'], onDependencyFailure })
  dependency.add({ queue: 'after', kind: 'enqueued', ref: 'c', id: 'c' })
  if (place === 0) dependent(dependency)
  dependency.end('p', 1, dependencyDies ? 'dead' : 'acked')
  if (place === 1) dependent(dependency)
  dependency.add({ queue: 'after', kind: 'ending', ref: 'c', token: 1, throws: false })
  dependency.add({ queue: 'after', kind: 'settled', ref: 'c', token: 1, outcome: 'acked' })

  const [dead, alive] = [[job('p', 1, 'PlannedError')], [job('p', 1, null)]]
  const { inspection } = goodHistory().ends[0] as End
  const first: End = {
    inspection,
    left: [],
    dead: dependencyDies ? dead : [],
    done: dependencyDies ? [] : alive,
  }
  const ends = [first, { inspection, left: [], dead: [], done: [job('c', 1, null)] }]

  expect(
    rulesBroken({ lines: dependency.all, killed: new Set(), ends, limits: null }).includes('family'),
  ).toBe(found)
})

const STEPS: readonly [what: string, after: readonly string[], found: boolean, of?: QueueHistory][] = [
  ['what follows a job that is done', ['a>'], false],
  ['that what follows a job is not there', [], true],
  ['that something follows a job that is not done', ['a>', 'b>'], true],
  ['what follows a job that was cancelled once done', ['a>'], false, cancelling('cancelled', 'late', true)],
  ['what follows a job that was to stop', ['a>'], true, cancelling('stopping', 'late', true)],
]

test.each(STEPS)('the checker judges %s', (_, refs, found, history = goodHistory()) => {
  const [end] = history.ends as [End]
  const advanced = (end.done ?? []).map((each) => ({ ...each, payload: { ref: 'a', ends: 'advance' } }))
  const ends = [
    { ...end, done: advanced },
    { ...end, dead: [], done: refs.map((ref) => job(ref, 1, null)) },
  ]

  expect(rulesBroken({ ...history, ends }).includes('step')).toBe(found)
})

test('the checker finds a job that failed without a plan to fail', () => {
  const of = (kind: string): QueueHistory => changeEnd(() => ({ dead: [job('b', 4, kind)] }))

  expect(rulesBroken(of('PlannedError'))).toEqual([])
  expect(rulesBroken(of('planned'))).toEqual(['attempts'])
})

interface Waiting {
  ref: string
  priority?: number
  delayMs?: number
  group?: string
}

/** Two jobs; the second one is enqueued when the first one is there, and begins first. */
function overtaking(first: Waiting, second: Waiting): QueueHistory {
  const lines = new Lines()
  for (const { ref, priority = 0, delayMs = 0 } of [first, second]) {
    lines.add({ ...main, kind: 'asked', ref, dependsOn: [], onDependencyFailure: '', priority, delayMs })
    lines.add({ ...main, kind: 'enqueued', ref, id: `id of ${ref}` })
  }
  for (const [at, { ref, group = '' }] of [second, first].entries()) {
    const terms = { id: `id of ${ref}`, maxAttempts: 2, group, endsAtMs: 9000 }
    lines.add({ ...main, kind: 'began', ref, token: at + 1, attempt: 1, ...terms }, 'p0', 1000 + at)
    lines.end(ref, at + 1, 'acked')
  }
  const { limits: _, ...history } = goodHistory()
  return { ...history, lines: lines.all, limits: null, isOrdered: true }
}

const ORDERS: readonly [what: string, first: Waiting, second: Waiting, found: boolean][] = [
  ['that a job began before an older one', { ref: 'a' }, { ref: 'b' }, true],
  ['that a job began before a more urgent one', { ref: 'a', priority: 2 }, { ref: 'b', priority: 1 }, true],
  ['an urgent job that began before an older one', { ref: 'a' }, { ref: 'b', priority: 1 }, false],
  ['a job that began before an older one that was delayed', { ref: 'a', delayMs: 5 }, { ref: 'b' }, false],
  ['a job that began before an older one of a group', { ref: 'a', group: 'g' }, { ref: 'b' }, false],
]

test.each(ORDERS)('the checker judges %s', (_, first, second, found) => {
  expect(rulesBroken(overtaking(first, second)).includes('order')).toBe(found)
  expect(rulesBroken({ ...overtaking(first, second), isOrdered: false })).not.toContain('order')
})

test('the checker finds a delayed job that began before it was due', () => {
  const delayed = (delayMs: number): QueueRule[] => {
    const { lines, ...history } = goodHistory()
    const asked = lines.map((line) =>
      line.kind === 'asked' && line.ref === 'a' ? { ...line, delayMs } : line,
    )
    return rulesBroken({ ...history, lines: asked })
  }

  // Asked for at 10, begun at 100.
  expect(delayed(90)).toEqual([])
  expect(delayed(91)).toEqual(['early'])
})

// As an attempt does that has lost its job, and learns so when it advances it.
test('the checker takes a job as due since it was first requested', () => {
  const { lines, ...history } = goodHistory()
  const asked = lines.find(({ kind }) => kind === 'asked')
  const again = { ...(asked as Line), by: 'p9', n: 99, atMs: 10_000 }

  expect(rulesBroken({ ...history, lines: [...lines, again] })).toEqual([])
})

/** The first job, which is acked, is cancelled before or after its last attempt has ended. */
function cancelling(outcome: Cancelled, when: 'early' | 'late', isGone: boolean): QueueHistory {
  const history = changeEnd(({ inspection }) =>
    isGone ? { done: [], inspection: { ...inspection, cancelled: 1 } } : {},
  )
  const line: Line = { ...main, kind: 'cancelled', ref: 'a', outcome, by: 'p0', n: 99, atMs: 150 }
  const at = when === 'late' ? history.lines.length : history.lines.findIndex((each) => began(each, 3))
  return { ...history, lines: history.lines.toSpliced(at, 0, line) }
}

const CANCELLED: readonly [what: string, history: QueueHistory, rules: QueueRule[]][] = [
  ['nothing in a job that was cancelled once it was done', cancelling('cancelled', 'late', true), []],
  ['nothing in a job that was done before it could be cancelled', cancelling('absent', 'late', false), []],
  ['nothing in a job whose cancellation is in doubt', cancelling('unknown', 'early', true), []],
  [
    'a job that is still there though it was cancelled',
    cancelling('cancelled', 'late', false),
    ['cancelled', 'counters'],
  ],
  ['a job that began once it was cancelled', cancelling('cancelled', 'early', true), ['cancelled']],
  ['a job that was done though it was to stop', cancelling('stopping', 'late', true), ['cancelled']],
]

test.each(CANCELLED)('the checker finds %s', (_, history, rules) => {
  expect(rulesBroken(history)).toEqual(expect.arrayContaining(rules))
  expect(rulesBroken(history).length).toBe(rules.length)
})
