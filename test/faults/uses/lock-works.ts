import type { Lease, Lock } from 'perilune'
import { extend } from '../../../src/generated/lock.ts'
import { addLapsed, standInLine, type Waiters } from './line.ts'
import { errorOf, type Place, type Work } from './use.ts'

const LAST_TICKET_AT = 4
const MOST_STATES = 1000

const prefixOf = ({ namespace, name }: Place): string => `${namespace}:{lock:${name}}`

type Held = (lock: Lock, lease: Lease) => unknown

/** A lock that is held, alone or by a reader, with so many in line. */
function inFrontOf(
  what: string,
  [commands, elements]: [number, number],
  waiters: Partial<Waiters> & { shared?: boolean },
  call: Held,
): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const lock = place.redis.lock(place.name)
    const { shared = false, ...kind } = waiters
    const lease = await (shared ? lock.shared : lock).acquire()
    const prefix = prefixOf(place)
    await standInLine(place.client, { prefix, count: size, lastTicketAt: LAST_TICKET_AT, ...kind })
    return async () => call(lock, lease)
  }
  return { what, commands, elements, prepare }
}

/** A lock shared by so many whose leases have ended unnoticed. */
function behindLapsed(what: string, [commands, elements]: [number, number], call: Held): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const lock = place.redis.lock(place.name)
    const lease = await lock.shared.acquire()
    const prefix = prefixOf(place)
    await addLapsed(place.client, { leases: `${prefix}:readers`, ids: `${prefix}:reader-ids`, count: size })
    return async () => call(lock, lease)
  }
  return { what, commands, elements, prepare }
}

const ONE = [14, 60] as [number, number]
// Those who wait are of one process: a hundred are looked at for one of another.
const WATCHED = [16, 160] as [number, number]
// 500 tickets of the dead, and for each a look, a message and a removal.
const SKIPS = [1520, 9100] as [number, number]
// 1,000 leases of readers that have ended, and for each five commands.
const LAPSES = [5020, 23_000] as [number, number]

export const lockWorks: readonly Work[] = [
  inFrontOf('an attempt before a line', ONE, {}, (lock) => lock.tryAcquire()),
  inFrontOf('standing at the end of a line, and leaving it', ONE, {}, (lock) =>
    errorOf(lock.acquire({ wait: '50ms' })),
  ),
  inFrontOf('an extension before a line', ONE, {}, (_lock, lease) => lease.extend('1m')),
  inFrontOf('a release before a line', WATCHED, {}, (_lock, lease) => lease.release()),
  inFrontOf('a release before a line that barges', WATCHED, { kind: 'b' }, (_lock, lease) => lease.release()),
  inFrontOf('an inspection of a line', [8, 140], {}, (lock) => lock.inspect()),
  inFrontOf('clearing a line', [1010, 5100], { dead: true }, (lock) => lock.clear()),
  inFrontOf('a release before a line of the dead', SKIPS, { dead: true }, (_lock, lease) => lease.release()),
  inFrontOf("a reader's release before the dead", SKIPS, { dead: true, shared: true }, (_lock, lease) =>
    lease.release(),
  ),
  inFrontOf('a release before a line of readers', [1000, 5000], { kind: 's' }, (_lock, lease) =>
    lease.release(),
  ),
  behindLapsed('one more reader where others have lapsed', LAPSES, (lock) => lock.shared.tryAcquire()),
  behindLapsed('a release of a reader where others have lapsed', LAPSES, (_lock, lease) => lease.release()),
  behindLapsed('an inspection of lapsed readers', [8, 60], (lock) => lock.inspect()),
  { what: 'an extension of many locks in one call', commands: 2010, elements: 9000, prepare: manyLeases },
]

/** The work of the keeper for leases that share a slot. */
async function manyLeases(
  { redis, driver, namespace, name }: Place,
  size: number,
): Promise<() => Promise<unknown>> {
  const names = Array.from({ length: Math.min(size, MOST_STATES) }, (_, n) => `${name} ${n}`)
  const leases = await Promise.all(names.map((each) => redis.lock(each).acquire()))
  const keys = names.map((each) => `${namespace}:{lock:${each}}:state`)
  const args = leases.flatMap(({ token }) => [token, 60_000])
  return () => driver.run({ script: extend.script, keys, args, send: 'source' })
}
