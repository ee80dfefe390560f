// One share of a soak: some producers, observers and consumers on one connection.

import { perilune } from 'perilune'
import { consume, observe, type Part, produce } from './actors.ts'
import { type ClientKind, connect, type Place } from './connect.ts'
import { type Line, Recorder, type Role } from './history.ts'
import { breakScripts, type ScriptSabotage } from './script-sabotages.ts'
import { guarded, type SoakedFeed } from './soaked-feed.ts'
import { unguarded } from './unguarded-feed.ts'

export interface Share {
  name: string
  place: Place
  client: ClientKind
  kind: 'perilune' | 'unguarded'
  /** Names of the two feeds. */
  feeds: Record<Role, string>
  seed: number
  producers: number
  observers: number
  consumers: number
  forMs: number
  sabotage: ScriptSabotage | null
}

export interface Signals {
  /** All shares begin together. */
  begin: Promise<unknown>
  /** Once every share has produced: observers come to their end, consumers stop. */
  finish: Promise<unknown>
  ready(): unknown
  produced(): unknown
}

export async function work(share: Share, write: (line: Line) => void, signals: Signals): Promise<void> {
  const recorder = new Recorder(write)
  const { feeds, close } = await open(share)
  const stop = new AbortController()
  const part = (by: string, salt: number): Part => ({ by, seed: share.seed + salt, recorder, feeds })
  const mind = (promise: Promise<void>): Promise<void> =>
    promise.catch((error: unknown) => recorder.broken(String(error)))
  signals.ready()
  await signals.begin

  const readers = times(share.observers, (at) =>
    observe(part(`${share.name}.o${at}`, 2000 + at), stop.signal),
  )
  const workers = times(share.consumers, (at) =>
    consume(part(`${share.name}.c${at}`, 4000 + at), stop.signal),
  )
  const busy = [...readers, ...workers].map(mind)
  await Promise.all(
    times(share.producers, (at) => mind(produce(part(`${share.name}.p${at}`, at), share.forMs))),
  )
  signals.produced()
  await signals.finish
  stop.abort()
  await Promise.all(busy)
  await close()
}

async function open(share: Share): Promise<{ feeds: Record<Role, SoakedFeed>; close(): Promise<void> }> {
  const connection = await connect(share.client, share.place)
  if (share.kind === 'unguarded')
    return { feeds: both(share, (name) => unguarded(connection, name)), close: connection.close }
  const driver = share.sabotage === null ? connection.driver : breakScripts(connection.driver, share.sabotage)
  const redis = perilune(driver, { deadline: '20s' })
  return {
    feeds: both(share, (name) => guarded(redis, name)),
    close: async () => {
      await redis.close()
      await connection.close()
    },
  }
}

function both({ feeds }: Share, make: (name: string) => SoakedFeed): Record<Role, SoakedFeed> {
  return { watched: make(feeds.watched), worked: make(feeds.worked) }
}

function times<Result>(count: number, make: (at: number) => Result): Result[] {
  return Array.from({ length: count }, (_, at) => make(at))
}
