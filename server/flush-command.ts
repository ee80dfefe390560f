// `perilune-server flush`: a process that flushes counters to their databases and does nothing else.

import { parseArgs } from 'node:util'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { msOf } from './process/duration.ts'
import { type CountersEntry, readCountersEntries } from './counters/entry.ts'
import { flushForEver, flushOnce, type Watched } from './counters/flush-alone.ts'
import { type OpenCounters, openCounters, openTables } from './counters/open-counters.ts'
import { place } from './engine/connection.ts'
import { EngineError } from './engine/engine.ts'
import { openClient } from './engine/client.ts'
import { type Environment, StartError } from './process/environment.ts'
import { readSettings } from './settings.ts'

const HELP = `perilune-server flush [NAME ...] [--once] [--wait SPAN]

Flushes the counters of PERILUNE_COUNTERS, or those that are named, until it is stopped.

  --once       flushes the pending increments and exits: 0 if all are in the databases, else 1
  --wait SPAN  how long --once waits for databases that are away; default 1m
  --help       prints this text

REDIS_URL is the Redis of the counters, PERILUNE_NAMESPACE their namespace.`

interface Asked {
  readonly names: readonly string[]
  readonly help: boolean
  readonly once: boolean
  readonly waitMs: number
}

/** Resolves to the exit code. Rejects with StartError if it cannot begin. */
export async function flushCommand(
  args: readonly string[],
  environment: Environment,
  watched: Watched,
): Promise<number> {
  const asked = readArguments(args)
  if (asked.help) {
    watched.say(HELP)
    return 0
  }
  const isDone = await withCounters(environment, asked.names, watched, (all) => {
    const what = all.map(({ entry }) => entry.key).join(', ')
    if (asked.once) return flushOnce(all, asked.waitMs, watched)
    watched.say(`flushing ${what}`)
    return flushForEver(all, watched)
  })
  return isDone ? 0 : 1
}

function readArguments(args: readonly string[]): Asked {
  try {
    const flag = { type: 'boolean', default: false } as const
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { once: flag, help: flag, wait: { type: 'string', default: '1m' } },
    })
    const waitMs = msOf(values.wait)
    if (Number.isNaN(waitMs)) throw new Error(`--wait must be a duration such as 30s, not '${values.wait}'`)
    return { names: positionals, help: values.help, once: values.once, waitMs }
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

async function withCounters<Result>(
  environment: Environment,
  names: readonly string[],
  { say }: Watched,
  work: (all: readonly OpenCounters[]) => Promise<Result>,
): Promise<Result> {
  const entries = chosen(readCountersEntries(environment), names)
  const { namespace } = readSettings(environment)
  const url = redisOf(environment)
  const tables = await openTables(entries)
  const client = openClient(url, onChange(say))
  const redis = perilune(ioredis(client), { namespace })
  try {
    const onLoss = (key: string, { counters, why }: { counters: number | null; why: string }): void =>
      say(`${key}: increments of ${counters ?? 'an unknown number of'} counters were lost: ${why}`)
    return await work(openCounters(redis, tables, onLoss))
  } finally {
    await redis.close()
    client.disconnect()
    await tables.close()
  }
}

function chosen(entries: readonly CountersEntry[], names: readonly string[]): readonly CountersEntry[] {
  const keys = entries.map(({ key }) => key)
  if (keys.length === 0) throw new StartError('there is nothing to flush: set PERILUNE_COUNTERS')
  const unknown = names.find((name) => !keys.includes(name))
  if (unknown !== undefined) {
    throw new StartError(`PERILUNE_COUNTERS has no ${unknown}; it has ${keys.join(', ')}`)
  }
  return names.length === 0 ? entries : entries.filter(({ key }) => names.includes(key))
}

/** Other processes cannot find a private Redis: its service flushes by itself. */
function redisOf(environment: Environment): string {
  const url = environment['REDIS_URL']
  if (!url) throw new StartError('flush needs REDIS_URL: the Redis where the counters are')
  try {
    place(url)
    return url
  } catch (error) {
    throw error instanceof EngineError ? new StartError(error.message) : error
  }
}

/** Repeats of the same message are printed once. */
function onChange(say: (line: string) => void): (error: Error) => void {
  let last = ''
  return ({ message }) => {
    if (message !== last) say(`Redis: ${message}`)
    last = message
  }
}
