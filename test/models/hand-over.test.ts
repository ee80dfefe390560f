// All that can happen between one holder and two waiters of a lock, up to a number of steps: in every order, with lost
// or late notifications, requests that arrive twice, connections that die, and passing time. PERILUNE_LONG=1 goes two
// steps further.
//
// In every reachable world:
//   - no process believes that it holds the lock while another one does;
//   - a process that believes to hold it is the holder in the stored state, with the same token and the requested
//     lease;
//   - each hand-off has a greater token than all before;
//   - no hand-off goes to a process whose connection is known to be dead, and a process that gave up or released holds
//     nothing;
//   - a live waiter that polls when it is notified or when its time to look has come gets the lock within a stated
//     time, even if the others stop.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { readContract } from '../conformance/files.ts'
import { LONG, tell, WIDE } from '../proof.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import {
  believers,
  change,
  holderOf,
  LEASE_MS,
  NAMES,
  type Name,
  Stage,
  type World,
} from './hand-over-world.ts'

// From a lock that is held, and from one that two wait for.
const STEPS = LONG ? [5, 6] : WIDE ? [3, 4] : [2, 3]
/**
 * Steps of time: within the moment in which a question is fresh, past it, past an offer, to just before the end of a
 * lease, past it.
 */
const SPANS_MS = [100, 400, 1000, LEASE_MS - 400, LEASE_MS]
/** The lease of one who has died, an offer to another that has, and twice the time after which a waiter looks again. */
const LONGEST_WAIT_MS = LEASE_MS + 1000 + 2 * 2000

let server: RedisServer
let stage: Stage

// A server of its own: other tests make the shared one lose its scripts.
beforeAll(async () => {
  server = await startRedis()
  stage = new Stage(server.port, readContract())
})

afterAll(async () => {
  stage.close()
  await server.stop()
})

/** The possible actions of one party, and events, in a world. */
type Event = readonly [what: string, happen: () => World | Promise<World>]

function eventsOf(world: World, name: Name): Event[] {
  const party = world.parties[name]
  const events: Event[] = []
  const add = (what: string, happen: Event[1]): void => void events.push([`${name} ${what}`, happen])
  const [letter] = party.letters
  if (letter !== undefined) {
    add('reads', () => read(world, name, letter))
    add('loses a letter', () => change(world, name, { letters: party.letters.slice(1) }))
  }
  if (party.waits || (party.asks === 0 && name !== 'holder')) add('asks', () => stage.ask(world, name))
  if (party.waits) add('gives up', () => stage.abandon(world, name))
  if (party.late && !party.waits) add('is late', () => stage.ask(world, name, true))
  if ((party.belief?.untilMs ?? 0) > world.nowMs) add('releases', () => stage.release(world, name))
  if (name === 'a' && party.asks > 0) {
    add(party.listens ? 'loses its line' : 'has its line back', () =>
      change(world, name, { listens: !party.listens, letters: [] }),
    )
  }
  return events
}

/**
 * A letter that grants the whole lease is believed, by one who waits; anything else only says that it is time to ask.
 */
function read(world: World, name: Name, letter: string): World | Promise<World> {
  const party = world.parties[name]
  const rest = change(world, name, { letters: party.letters.slice(1) })
  const [word, id, token = '', untilMs = '0', nowMs = '0'] = letter.split(' ')
  if (!party.waits || id !== party.id || word === 'first') return rest
  const leaseMs = Number(untilMs) - Number(nowMs)
  const isWhole = word === 'granted' && leaseMs >= LEASE_MS
  if (!isWhole || Number(untilMs) <= world.nowMs) return stage.ask(rest, name)
  return change(rest, name, { waits: false, belief: { token, untilMs: Number(untilMs), leaseMs } })
}

function allEvents(world: World): Event[] {
  const parties = NAMES.flatMap((name) => eventsOf(world, name))
  const time = SPANS_MS.map((ms): Event => [`${ms} ms`, () => ({ ...world, nowMs: world.nowMs + ms })])
  return [...parties, ...time]
}

function check(world: World, before: World): void {
  const [holder, last] = [holderOf(world), holderOf(before)]
  const holding = believers(world)
  expect(holding.length).toBeLessThanOrEqual(1)
  for (const name of holding) {
    const belief = world.parties[name].belief
    expect([holder.isHeld, holder.token]).toEqual([true, belief?.token])
    expect(holder.untilMs).toBeGreaterThanOrEqual(belief?.untilMs ?? 0)
    if (before.parties[name].belief === belief) continue
    expect(belief?.untilMs).toBeGreaterThan(world.nowMs)
    expect(belief?.leaseMs).toBeGreaterThanOrEqual(LEASE_MS)
  }
  const isNew = holder.isHeld && (holder.id !== last.id || !last.isHeld)
  const rise = Number(holder.token) - Number(last.token)
  expect(rise).toBeGreaterThanOrEqual(isNew ? 1 : 0)
  for (const name of NAMES) checkParty(world, before, name, isNew)
}

/** `isNew`: the event has granted the lock. */
function checkParty(world: World, before: World, name: Name, isNew: boolean): void {
  const [party, was] = [world.parties[name], before.parties[name]]
  const { isHeld, id, untilMs } = holderOf(world)
  const hasIt = isHeld && id === party.id && untilMs > world.nowMs
  const isTold = party.asks === was.asks && party.belief === was.belief && party.late === was.late
  if (isNew && hasIt && isTold) expect(was.listens).toBe(true)
  const gaveUp = was.waits && !party.waits && party.belief === was.belief
  const released = was.belief !== null && party.belief === null
  if (!gaveUp && !released) return
  expect(hasIt).toBe(false)
  expect(world.queue.filter((ticket) => ticket.startsWith(`${party.id} `))).toEqual([])
}

/** How long `b` waits when the others stop and it hears nothing: it only polls every two seconds. */
async function waitOfB(world: World): Promise<number> {
  const from = world.nowMs
  for (
    let now = world;
    now.nowMs - from <= LONGEST_WAIT_MS + 2000;
    now = { ...now, nowMs: now.nowMs + 2000 }
  ) {
    now = await stage.ask(now, 'b')
    if (now.parties.b.belief !== null) return now.nowMs - from
  }
  return Number.POSITIVE_INFINITY
}

test('whatever happens to a hand-over, there is one holder at most, and a live waiter gets the lock', {
  timeout: 3_600_000,
}, async () => {
  const held = await stage.begin()
  const awaited = await stage.ask(await stage.ask(held, 'a'), 'b')
  const explorer = new Explorer()
  await explorer.explore(held, 'held', STEPS[0] ?? 0)
  await explorer.explore(awaited, 'two wait', STEPS[1] ?? 0)
  const longestMs = await explorer.longestWaitOfB()
  const { steps, worlds } = explorer
  tell(
    `hand-over: ${steps} steps to ${worlds} worlds, one holder at most; b waits ${longestMs} ms at the longest`,
  )
})

class Explorer {
  /** Every world that was reached, and how. */
  readonly #reached = new Map<string, string>()
  steps = 0

  get worlds(): number {
    return this.#reached.size
  }

  async explore(begin: World, path: string, depth: number): Promise<void> {
    const seen = new Set<string>()
    let worlds: (readonly [World, string])[] = [[begin, path]]
    for (let at = 0; at < depth; at++) {
      const next: (readonly [World, string])[] = []
      for (const each of worlds) next.push(...(await this.#goOn(seen, ...each)))
      worlds = next
    }
  }

  /** The worlds that follow, and have not been seen. */
  async #goOn(seen: Set<string>, world: World, path: string): Promise<(readonly [World, string])[]> {
    const next: (readonly [World, string])[] = []
    for (const [what, happen] of allEvents(world)) {
      const after = await happen()
      const history = `${path}, then ${what}`
      this.steps += 1
      explaining(history, after, () => check(after, world))
      const key = JSON.stringify(after)
      if (seen.has(key)) continue
      seen.add(key)
      if (!this.#reached.has(key)) this.#reached.set(key, history)
      next.push([after, history])
    }
    return next
  }

  async longestWaitOfB(): Promise<number> {
    let longestMs = 0
    for (const [key, history] of this.#reached) {
      const world: World = JSON.parse(key)
      if (!world.parties.b.waits) continue
      const ms = await waitOfB(world)
      longestMs = Math.max(longestMs, ms)
      explaining(history, world, () => expect(ms).toBeLessThanOrEqual(LONGEST_WAIT_MS))
    }
    return longestMs
  }
}

function explaining(history: string, world: World, look: () => void): void {
  try {
    look()
  } catch (error) {
    throw new Error(`after: ${history}\n${JSON.stringify(world, null, 1)}`, { cause: error })
  }
}
