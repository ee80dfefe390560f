// A process whose first calls meet a server that does not serve them: each public call is made on an instance and a
// client of its own. It reports how each call ended, every unhandled rejection, and that the process ended by itself.
//
//   node first-calls.mjs CLIENT PORT waiting|refused|stopped|stopping|closing

import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Duration, type Perilune, PeriluneError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { calls } from './public-calls/all.ts'
import type { PublicCall } from './public-calls/call.ts'

/**
 * `waiting`: until all is over; `refused`: as this, with time to be refused; else the signal of all calls has aborted
 * before, or it aborts, or all is closed meanwhile.
 */
export type Mode = 'waiting' | 'refused' | 'stopped' | 'stopping' | 'closing'

export interface Report {
  /** How each call ended: `gives`, or the code of its error. */
  readonly ends: Readonly<Record<string, string>>
  readonly unhandled: readonly string[]
  readonly warnings: readonly string[]
}

interface Opened {
  readonly redis: Perilune
  disconnect(): void
}

/** A call that was made. */
interface Made extends Opened {
  readonly call: PublicCall
  readonly ended: Promise<unknown>
  end: string | null
}

const MEANWHILE_MS = 200

const [client = '', port = '', mode = ''] = process.argv.slice(2)
/** Hundreds of calls begin at once. */
const DEADLINE_MS = mode === 'refused' ? 4000 : 300
/** A worker that is closed then has a deadline more, and a second. */
const NEVER_MS = 3 * DEADLINE_MS + 10_000
const isWaiting = mode === 'waiting' || mode === 'refused'
const report = { ends: {} as Record<string, string>, unhandled: [] as string[], warnings: [] as string[] }
process.on('unhandledRejection', (error) =>
  report.unhandled.push(error instanceof Error ? `${error.stack}` : String(error)),
)
process.on('warning', ({ name, message }) => report.warnings.push(`${name}: ${message}`))
process.on('exit', () => writeSync(1, JSON.stringify(report)))

const stop = new AbortController()
const stopped = new Error('stopped')
const ending = mode === 'stopped' || mode === 'stopping' ? { signal: stop.signal } : {}
const deadline: Duration = isWaiting ? `${DEADLINE_MS}ms` : '9m'
const meant = calls.filter(isMeant)

if (mode === 'stopped') stop.abort(stopped)
const made = meant.map(make)
if (!isWaiting) await sleep(MEANWHILE_MS)
if (mode === 'stopping') stop.abort(stopped)
if (mode !== 'closing') await over(made.filter(endsByItself))
const goingOn = mode === 'closing' ? [] : made.filter(({ end }) => end === null)
await closeAll()
await over(made)
for (const each of made) {
  report.ends[each.call.name] = `${goingOn.includes(each) ? 'goes on, ' : ''}${each.end ?? 'never'}`
  each.disconnect()
}

/** A call that has not ended by then never will. The process may end earlier, when it has nothing else to do. */
async function over(all: readonly Made[]): Promise<void> {
  const never = sleep(NEVER_MS, undefined, { ref: false })
  await Promise.race([Promise.all(all.map(({ ended }) => ended)), never])
}

/** A worker has an end of its own. */
function isMeant({ name, canBeEnded }: PublicCall): boolean {
  if (mode === 'stopped' || mode === 'stopping') return canBeEnded
  return mode !== 'closing' || !name.includes('Queue.work')
}

function endsByItself({ call }: Made): boolean {
  return !isWaiting || call.outcome !== 'goes on'
}

function make(call: PublicCall): Made {
  const opened = client === 'ioredis' ? openIoredis() : openNodeRedis()
  const ended = first(opened.redis, call).then(
    () => (one.end = 'gives'),
    (error: unknown) => (one.end = codeOf(error)),
  )
  const one: Made = { ...opened, call, ended, end: null }
  return one
}

/** The result of a call; of an iterator the first item; a closable result is closed again. */
async function first(redis: Perilune, call: PublicCall): Promise<void> {
  const given = call.run(redis, ending)
  if (given instanceof Promise) await given
  else if (isIterator(given)) await given.next()
  else if (isClosable(given) && given !== redis) {
    await sleep(DEADLINE_MS)
    if (isWaiting) await given.close()
  }
}

function isIterator(given: unknown): given is AsyncIterator<unknown> {
  return typeof given === 'object' && given !== null && 'next' in given
}

function isClosable(given: unknown): given is { close(): Promise<void> } {
  return typeof given === 'object' && given !== null && 'close' in given
}

function codeOf(error: unknown): string {
  if (error === stopped) return 'stopped'
  return error instanceof PeriluneError ? error.code : `no error of ours: ${String(error)}`
}

async function closeAll(): Promise<void> {
  await Promise.all(made.map(({ redis }) => redis.close()))
}

function openIoredis(): Opened {
  const own = new Redis(Number(port), { enableReadyCheck: false, retryStrategy: () => 50 })
  own.on('error', () => undefined)
  return { redis: perilune(ioredis(own), { deadline }), disconnect: () => own.disconnect() }
}

function openNodeRedis(): Opened {
  const own = createClient({ socket: { host: '127.0.0.1', port: Number(port), reconnectStrategy: 50 } })
  let hasSocket = false
  own.on('connect', () => (hasSocket = true))
  own.on('error', () => (hasSocket = false))
  own.connect().catch(() => undefined)
  // node-redis 6.3 leaves a socket open that is not connected yet when its client is destroyed, which keeps the process
  // alive.
  const disconnect = (): void => {
    if (hasSocket) return own.destroy()
    for (const event of ['connect', 'error']) own.once(event, () => own.isOpen && own.destroy())
  }
  return { redis: perilune(nodeRedis(own), { deadline }), disconnect }
}
